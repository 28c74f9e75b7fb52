/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/clog2/mpe2_state.h"
#include "core/mpi_function.h"
#include "core/region_name.h"
#include "unit/tap.h"

#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static const char *name_of(const struct mpi_function *function)
{
    return function ? function->name : NULL;
}

static const char *state_name_of_event(int32_t event)
{
    const struct mpe2_state *state = mpe2_state_of_event(event);
    return state ? state->name : NULL;
}

static void test_table(void)
{
    size_t count = mpi_function_count();
    tap_ok(count >= 500, "%zu functions, at least 500", count);
    size_t unsorted = 0, lost = 0, foreign = 0;
    for (size_t i = 0; i < count; i++) {
        const struct mpi_function *function = mpi_function_at(i);
        unsorted += i > 0 && strcmp(mpi_function_at(i - 1)->name, function->name) >= 0;
        lost += mpi_function_find(function->name) != function;
        foreign += strncmp(function->name, "MPI_", 4) != 0 || !function_class_is_mpi(function->class);
    }
    tap_equal_int((long long)unsorted, 0, "sorted and unique");
    tap_equal_int((long long)lost, 0, "every function is found by its name");
    tap_equal_int((long long)foreign, 0, "every function is MPI by name and class");
}

/* Fields that follow from others: a wrong row is likely to break one of these rules. */
static void test_consistency(void)
{
    for (size_t i = 0; i < mpi_function_count(); i++) {
        const struct mpi_function *function = mpi_function_at(i);
        bool directed = function->class == CLASS_P2P || function->class == CLASS_WAIT;
        if (directed != (function->direction != DIRECTION_NONE))
            tap_ok(false, "%s: p2p and wait have a direction, others none", function->name);
        if (function->class == CLASS_WAIT && function->direction != DIRECTION_RECEIVE)
            tap_ok(false, "%s: a wait completes receives", function->name);
        if (function->rooted && function->class != CLASS_COLLECTIVE)
            tap_ok(false, "%s: only collectives are rooted", function->name);
    }
    tap_ok(true, "direction and root agree with the class in every row");
}

/* The large-count variant of a function is like the function. */
static void test_large_count(void)
{
    size_t variants = 0;
    for (size_t i = 0; i < mpi_function_count(); i++) {
        const struct mpi_function *large = mpi_function_at(i);
        char base[64];
        size_t length = strlen(large->name);
        if (length >= sizeof base || length < 6 || strcmp(large->name + length - 2, "_c") != 0)
            continue;
        memcpy(base, large->name, length - 2);
        base[length - 2] = '\0';
        const struct mpi_function *small = mpi_function_find(base);
        variants++;
        if (!small || small->class != large->class || small->direction != large->direction ||
            small->rooted != large->rooted)
            tap_ok(false, "%s is like %s", large->name, base);
    }
    tap_ok(variants > 130, "%zu large-count variants are like their functions", variants);
}

static void test_fields(void)
{
    static const struct mpi_function wanted[] = {
        {"MPI_Send", "SEND", CLASS_P2P, DIRECTION_SEND, false},
        {"MPI_Send_c", NULL, CLASS_P2P, DIRECTION_SEND, false},
        {"MPI_Recv", "RECV", CLASS_P2P, DIRECTION_RECEIVE, false},
        {"MPI_Issend", "ISSEND", CLASS_P2P, DIRECTION_SEND, false},
        {"MPI_Irecv", "IRECV", CLASS_P2P, DIRECTION_RECEIVE, false},
        {"MPI_Mrecv", NULL, CLASS_P2P, DIRECTION_RECEIVE, false},
        {"MPI_Imrecv", NULL, CLASS_P2P, DIRECTION_RECEIVE, false},
        {"MPI_Sendrecv_replace", "SENDRECV_REPLACE", CLASS_P2P, DIRECTION_SEND, false},
        {"MPI_Isendrecv", NULL, CLASS_P2P, DIRECTION_SEND, false},
        {"MPI_Bsend_init", "BSEND_INIT", CLASS_P2P, DIRECTION_SEND, false},
        {"MPI_Recv_init", "RECV_INIT", CLASS_P2P, DIRECTION_RECEIVE, false},
        {"MPI_Start", "START", CLASS_P2P, DIRECTION_SEND, false},
        {"MPI_Startall", "STARTALL", CLASS_P2P, DIRECTION_SEND, false},
        {"MPI_Psend_init", NULL, CLASS_P2P, DIRECTION_SEND, false},
        {"MPI_Precv_init", NULL, CLASS_P2P, DIRECTION_RECEIVE, false},
        {"MPI_Pready_range", NULL, CLASS_P2P, DIRECTION_SEND, false},
        {"MPI_Parrived", NULL, CLASS_WAIT, DIRECTION_RECEIVE, false},
        {"MPI_Waitall", "WAITALL", CLASS_WAIT, DIRECTION_RECEIVE, false},
        {"MPI_Testsome", "TESTSOME", CLASS_WAIT, DIRECTION_RECEIVE, false},
        {"MPI_Test_cancelled", "TEST_CANCELLED", CLASS_LOCAL, DIRECTION_NONE, false},
        {"MPI_Iprobe", "IPROBE", CLASS_PROBE, DIRECTION_NONE, false},
        {"MPI_Improbe", NULL, CLASS_PROBE, DIRECTION_NONE, false},
        {"MPI_Barrier", "BARRIER", CLASS_SYNC, DIRECTION_NONE, false},
        {"MPI_Ibarrier", NULL, CLASS_SYNC, DIRECTION_NONE, false},
        {"MPI_Bcast", "BCAST", CLASS_COLLECTIVE, DIRECTION_NONE, true},
        {"MPI_Igatherv_c", NULL, CLASS_COLLECTIVE, DIRECTION_NONE, true},
        {"MPI_Scatterv_init_c", NULL, CLASS_COLLECTIVE, DIRECTION_NONE, true},
        {"MPI_Reduce", "REDUCE", CLASS_COLLECTIVE, DIRECTION_NONE, true},
        {"MPI_Reduce_scatter", "REDUCE_SCATTER", CLASS_COLLECTIVE, DIRECTION_NONE, false},
        {"MPI_Reduce_local", NULL, CLASS_LOCAL, DIRECTION_NONE, false},
        {"MPI_Allreduce", "ALLREDUCE", CLASS_COLLECTIVE, DIRECTION_NONE, false},
        {"MPI_Ineighbor_alltoallw", NULL, CLASS_COLLECTIVE, DIRECTION_NONE, false},
        {"MPI_Exscan_init", NULL, CLASS_COLLECTIVE, DIRECTION_NONE, false},
        {"MPI_Put", NULL, CLASS_RMA, DIRECTION_NONE, false},
        {"MPI_Rget_accumulate", NULL, CLASS_RMA, DIRECTION_NONE, false},
        {"MPI_Win_flush_local_all", NULL, CLASS_RMA, DIRECTION_NONE, false},
        {"MPI_Win_post", NULL, CLASS_RMA, DIRECTION_NONE, false},
        {"MPI_Win_allocate_shared", NULL, CLASS_SETUP, DIRECTION_NONE, false},
        {"MPI_Win_free", NULL, CLASS_SETUP, DIRECTION_NONE, false},
        {"MPI_Win_get_attr", NULL, CLASS_LOCAL, DIRECTION_NONE, false},
        {"MPI_File_open", NULL, CLASS_IO, DIRECTION_NONE, false},
        {"MPI_File_iwrite_at_all_c", NULL, CLASS_IO, DIRECTION_NONE, false},
        {"MPI_File_c2f", NULL, CLASS_LOCAL, DIRECTION_NONE, false},
        {"MPI_Init_thread", NULL, CLASS_SETUP, DIRECTION_NONE, false},
        {"MPI_Initialized", "INITIALIZED", CLASS_LOCAL, DIRECTION_NONE, false},
        {"MPI_Abort", "ABORT", CLASS_SETUP, DIRECTION_NONE, false},
        {"MPI_Comm_split", "COMM_SPLIT", CLASS_SETUP, DIRECTION_NONE, false},
        {"MPI_Comm_create_keyval", NULL, CLASS_LOCAL, DIRECTION_NONE, false},
        {"MPI_Comm_spawn_multiple", NULL, CLASS_SETUP, DIRECTION_NONE, false},
        {"MPI_Intercomm_merge", "INTERCOMM_MERGE", CLASS_SETUP, DIRECTION_NONE, false},
        {"MPI_Dist_graph_create_adjacent", NULL, CLASS_SETUP, DIRECTION_NONE, false},
        {"MPI_Session_init", NULL, CLASS_SETUP, DIRECTION_NONE, false},
        {"MPI_Buffer_attach", "BUFFER_ATTACH", CLASS_LOCAL, DIRECTION_NONE, false},
        {"MPI_Request_free", "REQUEST_FREE", CLASS_LOCAL, DIRECTION_NONE, false},
        {"MPI_Cancel", "CANCEL", CLASS_LOCAL, DIRECTION_NONE, false},
        {"MPI_Cartdim_get", "CARTDIM_GET", CLASS_LOCAL, DIRECTION_NONE, false},
        {"MPI_Errhandler_set", "ERRHANDLER_SET", CLASS_LOCAL, DIRECTION_NONE, false},
        {"MPI_Type_struct", "TYPE_STRUCT", CLASS_LOCAL, DIRECTION_NONE, false},
        {"MPI_T_pvar_read", NULL, CLASS_LOCAL, DIRECTION_NONE, false},
        {"MPI_Pcontrol", NULL, CLASS_LOCAL, DIRECTION_NONE, false},
    };
    for (size_t i = 0; i < LENGTH(wanted); i++) {
        const struct mpi_function *want = &wanted[i], *got = mpi_function_find(want->name);
        if (!tap_ok(got != NULL, "%s is known", want->name))
            continue;
        tap_equal_string(function_class_name(got->class), function_class_name(want->class), "%s: class", want->name);
        tap_equal_int(got->direction, want->direction, "%s: direction", want->name);
        tap_equal_int(got->rooted, want->rooted, "%s: rooted", want->name);
        tap_equal_string(got->mpe1, want->mpe1, "%s: MPE-1's spelling", want->name);
    }
}

static void test_mpe1(void)
{
    long long spellings = 0;
    for (size_t i = 0; i < mpi_function_count(); i++) {
        const struct mpi_function *function = mpi_function_at(i);
        if (!function->mpe1)
            continue;
        spellings++;
        tap_equal_string(name_of(mpi_function_find_mpe1(function->mpe1)), function->name, "MPE-1's %s", function->mpe1);
    }
    tap_equal_int(spellings, 124,
                  "MPE-1 names: 126 functions but GATHERV, which it never names, and RECV_IDLE, no function");
}

static void test_mpe1_cut(void)
{
    static const char *const cuts[][2] = {
        {"SENDRECV_REPLAC", "MPI_Sendrecv_replace"},
        {"COMM_REMOTE_GRO", "MPI_Comm_remote_group"},
        {"COMM_REMOTE_SIZ", "MPI_Comm_remote_size"},
        {"GROUP_DIFFERENC", "MPI_Group_difference"},
        {"GROUP_INTERSECT", "MPI_Group_intersection"},
        {"GROUP_RANGE_EXC", "MPI_Group_range_excl"},
        {"GROUP_RANGE_INC", "MPI_Group_range_incl"},
        {"GROUP_TRANSLATE", "MPI_Group_translate_ranks"},
        {"GET_PROCESSOR_N", "MPI_Get_processor_name"},
        {"ERRHANDLER_CREA", "MPI_Errhandler_create"},
        {"INTERCOMM_CREAT", "MPI_Intercomm_create"},
        {"GRAPH_NEIGHBORS", "MPI_Graph_neighbors"},
        {"SENDRECV_REPLA", NULL},   /* 14: not how MPE-1 cuts */
        {"SENDRECV_REPLACX", NULL}, /* 16: not cut */
        {"SENDRECV_REPLAX", NULL},
        {"Send", NULL},
        {"send", NULL},
        {"MPI_Send", NULL},
        {"GATHERV", NULL},
        {"RECV_IDLE", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < LENGTH(cuts); i++)
        tap_equal_string(name_of(mpi_function_find_mpe1(cuts[i][0])), cuts[i][1], "MPE-1 name '%s'", cuts[i][0]);
}

static void test_other_names(void)
{
    static const char *const classes[][2] = {
        {"PMPI_Send", "p2p"},
        {"PMPI_Allreduce", "collective"},
        {"PMPI_Something", "user"},
        {"MPI_Something_new", "local"},
        {"MPI_", "local"},
        {"MPIX_Comm_shrink", "local"},
        {"MPI_Recv_idle", "local"},
        {"MPE_Isend_waited", "tool"},
        {"MPE_Log_sync", "tool"},
        {"CLOG_Buffer_write2disk", "tool"},
        {"CLOG_Buffer", "user"},
        {"CLOG_Buffer_write2disk2", "user"},
        {"Reduce", "user"},
        {"SEND", "user"},
        {"mpi_send", "user"},
        {"PPMPI_Send", "user"},
        {"MPI", "user"},
        {"MPIX", "user"},
        {"", "user"},
    };
    for (size_t i = 0; i < LENGTH(classes); i++)
        tap_equal_string(function_class_name(function_class_of(classes[i][0])), classes[i][1], "class of '%s'",
                         classes[i][0]);
    tap_ok(mpi_function_find("PMPI_Send") == NULL, "PMPI_Send is not in the table");
    tap_ok(mpi_function_find("") == NULL, "the empty name is not in the table");
    tap_ok(mpi_function_find("MPI_A") == NULL, "no function is before the first");
    tap_ok(mpi_function_find("MPI_Zzz") == NULL, "no function is after the last");
}

static void test_directions(void)
{
    static const struct {
        const char *name;
        enum message_direction direction;
    } wanted[] = {
        {"MPI_Isend", DIRECTION_SEND},
        {"PMPI_Recv", DIRECTION_RECEIVE},
        {"MPI_Wait", DIRECTION_RECEIVE},
        {"MPI_Sendrecv", DIRECTION_SEND},
        {"MPI_Probe", DIRECTION_NONE},
        {"MPI_Bcast", DIRECTION_NONE},
        {"MPE_Isend_waited", DIRECTION_SEND},
        {"MPE_Irecv_waited", DIRECTION_RECEIVE},
        {"MPE_Imrecv_waited", DIRECTION_RECEIVE},
        {"MPE_other", DIRECTION_NONE},
        {"MPI_Something_new", DIRECTION_NONE},
        {"Send", DIRECTION_NONE},
    };
    for (size_t i = 0; i < LENGTH(wanted); i++)
        tap_equal_int(message_direction_of(wanted[i].name), wanted[i].direction, "direction of '%s'", wanted[i].name);
}

static void test_class_words(void)
{
    static const char *const words[] = {"p2p", "probe", "wait",  "collective", "sync", "rma",
                                        "io",  "setup", "local", "user",       "tool"};
    for (size_t i = 0; i < LENGTH(words); i++)
        tap_equal_string(function_class_name((enum function_class)i), words[i], "word of class %zu", i);
    tap_ok(function_class_is_mpi(CLASS_P2P) && function_class_is_mpi(CLASS_LOCAL), "p2p and local are MPI");
    tap_ok(!function_class_is_mpi(CLASS_USER) && !function_class_is_mpi(CLASS_TOOL), "user and tool are not MPI");
}

static void test_mpe2_table(void)
{
    size_t count = mpe2_state_count(), unsorted = 0, lost = 0, unknown = 0;
    for (size_t i = 0; i < count; i++) {
        const struct mpe2_state *state = mpe2_state_at(i), *start = mpe2_state_of_event(2 * state->id);
        unsorted += i > 0 && mpe2_state_at(i - 1)->id > state->id;
        lost += !start || start->id != state->id || start != mpe2_state_of_event(2 * state->id + 1);
        bool pseudo = strcmp(state->name, "MPI_Recv_idle") == 0 || function_class_of(state->name) == CLASS_TOOL;
        unknown += !pseudo && !mpi_function_find(state->name);
    }
    tap_equal_int((long long)count, 229, "MPE-2 has 229 built-in states");
    tap_equal_int((long long)unsorted, 0, "MPE-2's states are sorted by id");
    tap_equal_int((long long)lost, 0, "every MPE-2 id is found by both its events");
    tap_equal_int((long long)unknown, 0, "every MPE-2 state of MPI is in the table of functions");
}

static void test_mpe2_events(void)
{
    static const struct {
        int32_t event;
        const char *name;
    } wanted[] = {
        {0, "MPI_Allgather"},
        {1, "MPI_Allgather"},
        {154, "MPI_Recv"},
        {155, "MPI_Recv"},
        {160, "MPI_Send"},
        {56, "MPI_Comm_split"}, /* shares its id with MPI_Comm_split_type */
        {252, NULL},
        {430, "MPI_Dist_graph_create_adjacent"},
        {500, "MPE_Isend_waited"},
        {503, "MPE_Irecv_waited"},
        {504, "MPE_Imrecv_waited"},
        {560, "CLOG_Buffer_write2disk"},
        {561, "CLOG_Buffer_write2disk"},
        {562, NULL},
        {599, NULL},
        {600, NULL},
        {INT32_MAX, NULL},
        {-1, NULL},
        {-10, NULL},
        {INT32_MIN, NULL},
    };
    for (size_t i = 0; i < LENGTH(wanted); i++)
        tap_equal_string(state_name_of_event(wanted[i].event), wanted[i].name, "state of event %d",
                         (int)wanted[i].event);
}

static void test_mpe2_rows(void)
{
    const struct mpe2_state *state = mpe2_state_find("MPI_Alltoall");
    if (tap_ok(state != NULL, "MPI_Alltoall is built in")) {
        tap_equal_int(state->id, 3, "MPI_Alltoall: id");
        tap_equal_string(state->colour, "DarkViolet", "MPI_Alltoall: colour");
        tap_equal_string(state->format, "send_msg_sz/p=%d, recv_msg_sz/p=%d.", "MPI_Alltoall: format");
    }
    state = mpe2_state_find("MPI_Send");
    tap_equal_string(state ? state->format : NULL, "", "MPI_Send: no format");
    state = mpe2_state_find("CLOG_Buffer_write2disk");
    tap_equal_int(state ? state->id : -1, 280, "CLOG_Buffer_write2disk: id");
    state = mpe2_state_find("MPI_Comm_dup_with_info");
    tap_equal_int(state ? state->id : -1, 225, "MPI_Comm_dup_with_info: the first of its two rows");
    tap_ok(mpe2_state_find("MPI_Exscan") == NULL, "MPI_Exscan is not built in");
}

static void test_mpe2_solos(void)
{
    const struct mpe2_solo *made = mpe2_solo_of_event(-10), *freed = mpe2_solo_of_event(-9);
    tap_equal_string(made ? made->name : NULL, "MPE_Comm_init", "single event -10");
    tap_equal_string(made ? made->colour : NULL, "red", "single event -10: colour");
    tap_equal_string(freed ? freed->name : NULL, "MPE_Comm_finalize", "single event -9");
    tap_equal_string(freed ? freed->colour : NULL, "orange", "single event -9: colour");
    tap_ok(!mpe2_solo_of_event(-8) && !mpe2_solo_of_event(0) && !mpe2_solo_of_event(-11), "no other single events");
}

/* The spellings of TAU and of Fortran's symbols. */
static void test_spelled(void)
{
    static const struct {
        const char *spelled, *name;
    } rows[] = {{"MPI_Send", "MPI_Send"},       {"MPI_Send()", "MPI_Send"},
                {"MPI_Send()  ", "MPI_Send"},   {"mpi_send_", "MPI_Send"},
                {"mpi_send__", "MPI_Send"},     {"MPI_SEND", "MPI_Send"},
                {"MPI_Init [x]", "MPI_Init"},   {"MPI_Sent()", NULL},
                {"send_mpi()", NULL},           {"MPI_", NULL},
                {"mpi_solver::run(int)", NULL}, {"", NULL}};
    for (size_t i = 0; i < LENGTH(rows); i++)
        tap_equal_string(name_of(mpi_function_find_spelled(rows[i].spelled)), rows[i].name, "spelled: %s",
                         rows[i].spelled);
}

/* Places that TAU writes into names. */
static void test_region_names(void)
{
    static const struct {
        const char *text, *name, *file;
        int line, end_line;
    } rows[] = {{"main [{wave.c} {160,0}] ", "main", "wave.c", 160, 0},
                {"int f(int *) C [{/a b/{c}.c} {7,1}-{19,2}]", "int f(int *) C", "/a b/{c}.c", 7, 19},
                {".TAU application ", ".TAU application", NULL, 0, 0},
                {"MPI_Send()  ", "MPI_Send()", NULL, 0, 0},
                {"f [{wave.c} {160,0}] => g", "f [{wave.c} {160,0}] => g", NULL, 0, 0},
                {"f [{wave.c} {x,0}]", "f [{wave.c} {x,0}]", NULL, 0, 0},
                {"f [{wave.c} {160,0}-{1", "f [{wave.c} {160,0}-{1", NULL, 0, 0},
                {"f [{} {160,0}]", "f [{} {160,0}]", NULL, 0, 0},
                {" [{wave.c} {1,0}]", " [{wave.c} {1,0}]", NULL, 0, 0},
                {"f [{wave.c} {99999999999,0}]", "f", "wave.c", 0, 0},
                {"f [{]", "f [{]", NULL, 0, 0},
                {"  ", "", NULL, 0, 0},
                {"", "", NULL, 0, 0}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct region_name name = region_name_of(rows[i].text);
        tap_equal_string(name.name, rows[i].name, "name of '%s'", rows[i].text);
        tap_equal_string(name.file, rows[i].file, "file of '%s'", rows[i].text);
        tap_equal_int(name.line, rows[i].line, "line of '%s'", rows[i].text);
        tap_equal_int(name.end_line, rows[i].end_line, "last line of '%s'", rows[i].text);
        region_name_clear(&name);
    }
}

int main(void)
{
    test_spelled();
    test_region_names();
    test_table();
    test_consistency();
    test_large_count();
    test_fields();
    test_mpe1();
    test_mpe1_cut();
    test_other_names();
    test_directions();
    test_class_words();
    test_mpe2_table();
    test_mpe2_events();
    test_mpe2_rows();
    test_mpe2_solos();
    return tap_done();
}
