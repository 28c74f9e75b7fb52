/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands before the records of a .prv, and the labels in .pcf and .row. */
#include "convert/paraver/paraver_names.h"
#include "convert/paraver/write_paraver.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Values of MPI's functions that Extrae does not number, and types of marks and counters, in ranges that it leaves
   free. */
enum { MPI_VALUE_FIRST = 10000, MARK_TYPE_FIRST = 9000000 };

/* MPI's types by class. */
enum { MPI_POINT, MPI_GROUP, MPI_OTHER, MPI_ONE_SIDED, MPI_FILES, MPI_TYPES };
static const char *const mpi_types[MPI_TYPES] = {"MPI Point-to-point", "MPI Collective Comm", "MPI Other",
                                                 "MPI One-sided", "MPI I/O"};

static unsigned mpi_type(enum function_class class)
{
    switch (class) {
    case CLASS_P2P:
    case CLASS_PROBE:
    case CLASS_WAIT:
        return MPI_POINT;
    case CLASS_COLLECTIVE:
    case CLASS_SYNC:
        return MPI_GROUP;
    case CLASS_RMA:
        return MPI_ONE_SIDED;
    case CLASS_IO:
        return MPI_FILES;
    default:
        return MPI_OTHER;
    }
}

uint64_t paraver_state_type(const struct paraver_writer *paraver, uint32_t state)
{
    int lane = by_location_lane(paraver->by, state);
    const struct state_def *def = &paraver->writer.defs->states[state];
    if (def->is_mpi)
        return PARAVER_MPI_FIRST + mpi_type(def->class);
    /* States that cross are on lanes, each of a type of its own: a leave names no function, it ends the innermost of
       its type. */
    if (lane > 0 && lane < PARAVER_LANES)
        return (uint64_t)PARAVER_LANE_FIRST + (uint64_t)lane;
    return PARAVER_USER_FUNCTION;
}

uint64_t paraver_state_value(const struct paraver_writer *paraver, uint32_t state)
{
    const struct state_def *def = &paraver->writer.defs->states[state];
    /* States of one name are one value. 0 is the end of a function: user functions count from 1. */
    if (!def->is_mpi)
        return def->first_of_name + UINT64_C(1);
    uint64_t known = paraver_mpi_value(def->name);
    if (known > 0)
        return known;
    return def->first_of_name + (uint64_t)MPI_VALUE_FIRST;
}

/* Counters that a Paraver trace had keep their number. */
uint64_t paraver_mark_type(const struct paraver_writer *paraver, uint32_t mark)
{
    const struct mark_def *def = &paraver->writer.defs->marks[mark];
    bool kept =
        def->counter.type != COUNTER_NONE && def->id >= PARAVER_KEPT_FIRST && !paraver_type_is_state((uint64_t)def->id);
    if (kept)
        return (uint64_t)def->id;
    return MARK_TYPE_FIRST + (uint64_t)mark;
}

/* How many members of a communicator are known. */
static uint32_t member_count(const struct paraver_writer *paraver, int32_t comm)
{
    uint32_t processes = by_location_processes(paraver->by), count = 0;
    while (count < processes) {
        int32_t rank = defs_world_rank(paraver->writer.defs, comm, (int32_t)count);
        if (rank < 0 || (uint32_t)rank >= processes)
            break;
        count++;
    }
    return count;
}

/* Number 1 is the world's. */
static void number_comms(struct paraver_writer *paraver)
{
    const struct defs *defs = paraver->writer.defs;
    bool world = false;
    paraver->comms = memory_new(defs->comm_count * sizeof *paraver->comms);
    paraver->comm_count = 1;
    for (size_t i = 0; i < defs->comm_count; i++) {
        const struct comm_def *comm = &defs->comms[i];
        if (comm->window || member_count(paraver, (int32_t)i) == 0)
            continue;
        bool first = comm->world && !world;
        paraver->comms[i] = first ? 1 : ++paraver->comm_count;
        world = world || first;
    }
}

static uint64_t host_number(struct paraver_writer *paraver, const char *host)
{
    for (size_t i = paraver->host_count; i > 0; i--)
        if (strcmp(paraver->hosts[i - 1], host) == 0)
            return i;
    ARRAY_PUSH(paraver->hosts, paraver->host_count, paraver->host_capacity, host);
    return paraver->host_count;
}

/* Only where the hosts of all processes are known. */
static void number_nodes(struct paraver_writer *paraver)
{
    uint32_t processes = by_location_processes(paraver->by);
    paraver->nodes = memory_new(processes * sizeof *paraver->nodes);
    for (uint32_t process = 0; process < processes; process++) {
        const struct location_def *location = defs_find_location(paraver->writer.defs, process, 0);
        /* Half of a placement would put the rest on a machine that it was not on. */
        if (!location || !location->host) {
            free(paraver->nodes);
            paraver->nodes = NULL;
            return;
        }
        paraver->nodes[process] = host_number(paraver, location->host);
    }
}

static int by_function(const void *left, const void *right)
{
    const struct site_def *a = *(const struct site_def *const *)left, *b = *(const struct site_def *const *)right;
    int order = strcmp(a->function ? a->function : "", b->function ? b->function : "");
    return order ? order : order_by(a, b);
}

/* Sites of one function share its value. */
static void number_functions(struct paraver_writer *paraver)
{
    const struct defs *defs = paraver->writer.defs;
    const struct site_def **sorted = memory_new(defs->site_count * sizeof *sorted), *first = NULL;
    for (size_t i = 0; i < defs->site_count; i++)
        sorted[i] = &defs->sites[i];
    if (defs->site_count > 0)
        qsort(sorted, defs->site_count, sizeof *sorted, by_function);
    for (size_t i = 0; i < defs->site_count; i++) {
        const char *function = sorted[i]->function;
        if (!function || !*function)
            continue;
        if (!first || strcmp(first->function, function) != 0)
            first = sorted[i];
        paraver->functions[sorted[i] - defs->sites] = 1 + (uint32_t)(first - defs->sites);
    }
    free(sorted);
}

void paraver_number_all(struct paraver_writer *paraver)
{
    const struct defs *defs = paraver->writer.defs;
    uint32_t processes = by_location_processes(paraver->by);
    paraver->threads = memory_new(processes * sizeof *paraver->threads);
    paraver->states_used = memory_new(defs->state_count * sizeof *paraver->states_used);
    paraver->marks_used = memory_new(defs->mark_count * sizeof *paraver->marks_used);
    paraver->sites_used = memory_new(defs->site_count * sizeof *paraver->sites_used);
    paraver->functions = memory_new(defs->site_count * sizeof *paraver->functions);
    number_comms(paraver);
    number_nodes(paraver);
    number_functions(paraver);
}

static void write_nodes(const struct paraver_writer *paraver, struct output *output)
{
    uint32_t processes = by_location_processes(paraver->by);
    uint32_t *tasks = memory_new(paraver->host_count * sizeof *tasks);
    for (uint32_t process = 0; process < processes; process++)
        tasks[paraver->nodes[process] - 1]++;
    output_print(output, "%zu(", paraver->host_count);
    for (size_t i = 0; i < paraver->host_count; i++)
        output_print(output, "%s%u", i ? "," : "", (unsigned)tasks[i]);
    output_text(output, ")");
    free(tasks);
}

static void write_comm(const struct paraver_writer *paraver, int32_t comm, uint32_t number)
{
    struct output *output = paraver->writer.output;
    uint32_t count = comm < 0 ? by_location_processes(paraver->by) : member_count(paraver, comm);
    output_print(output, "c:1:%u:%u", (unsigned)number, (unsigned)count);
    for (uint32_t rank = 0; rank < count; rank++) {
        int32_t member = comm < 0 ? (int32_t)rank : defs_world_rank(paraver->writer.defs, comm, (int32_t)rank);
        output_print(output, ":%u", (unsigned)member + 1);
    }
    output_text(output, "\n");
}

static void write_comms(const struct paraver_writer *paraver)
{
    const struct defs *defs = paraver->writer.defs;
    int32_t world = -1;
    for (size_t i = 0; i < defs->comm_count && world < 0; i++)
        if (paraver->comms[i] == 1)
            world = (int32_t)i;
    write_comm(paraver, world, 1);
    for (size_t i = 0; i < defs->comm_count; i++)
        if (paraver->comms[i] > 1)
            write_comm(paraver, (int32_t)i, paraver->comms[i]);
}

/* The header must have a date: that of 1970 says that it is not known. */
static void write_date(const struct paraver_writer *paraver, struct output *output)
{
    const char *date = property_find(&paraver->writer.defs->properties, PROPERTY_DATE);
    int year = 1970, month = 1, day = 1, hour = 0, minute = 0;
    if (!date || sscanf(date, "%4d-%2d-%2dT%2d:%2d", &year, &month, &day, &hour, &minute) != 5)
        year = 1970, month = day = 1, hour = minute = 0;
    output_print(output, "#Paraver (%02d/%02d/%04d at %02d:%02d)", day, month, year, hour, minute);
}

void paraver_write_head(struct paraver_writer *paraver)
{
    struct output *output = paraver->writer.output;
    uint32_t processes = by_location_processes(paraver->by);
    write_date(paraver, output);
    output_print(output, ":%lld_ns:", (long long)by_location_duration_ns(paraver->by));
    if (paraver->nodes)
        write_nodes(paraver, output);
    else
        output_text(output, "0");
    /* One application: several programs that met are its tasks. */
    output_print(output, ":1:%u(", (unsigned)processes);
    for (uint32_t process = 0; process < processes; process++) {
        /* A process without events still has its main thread: viewers want a line for every task. */
        unsigned threads = paraver->threads[process] ? paraver->threads[process] : 1;
        unsigned long long node = paraver->nodes ? paraver->nodes[process] : 0;
        output_print(output, "%s%u:%llu", process ? "," : "", threads, node);
    }
    output_print(output, "),%u\n", (unsigned)paraver->comm_count);
    write_comms(paraver);
}

/* A label is the rest of a line, in Latin-1. */
static void write_label(struct paraver_writer *paraver, struct output *output, const char *utf8)
{
    char *latin1 = writer_latin1(&paraver->writer, utf8);
    for (char *at = latin1; *at; at++)
        if (*at == '\n' || *at == '\r')
            *at = ' ';
    output_text(output, latin1);
    output_text(output, "\n");
    free(latin1);
}

/* A type and its values are a section of the .pcf; 0 is what ends a function. */
static void write_states_of(struct paraver_writer *paraver, struct output *output, uint64_t type, const char *label,
                            const char *end)
{
    const struct defs *defs = paraver->writer.defs;
    bool any = false;
    for (uint32_t i = 0; i < defs->state_count; i++) {
        /* Only what occurs: viewers show a legend of all that is labelled. */
        if (!paraver->states_used[i] || paraver_state_type(paraver, i) != type)
            continue;
        if (!any)
            output_print(output, "EVENT_TYPE\n9 %llu %s\nVALUES\n", (unsigned long long)type, label);
        any = true;
        output_print(output, "%llu ", (unsigned long long)paraver_state_value(paraver, i));
        write_label(paraver, output, defs->states[i].name);
    }
    if (any)
        output_print(output, "0 %s\n\n\n", end);
}

static void write_details(struct output *output)
{
    output_print(output,
                 "EVENT_TYPE\n0 %d Send Size in MPI Global OP\n0 %d Recv Size in MPI Global OP\n"
                 "0 %d Root in MPI Global OP\n0 %d Communicator in MPI Global OP\n\n\n",
                 PARAVER_BYTES_SENT, PARAVER_BYTES_RECEIVED, PARAVER_ROOT, PARAVER_COMM);
}

static void write_caller_functions(struct paraver_writer *paraver, struct output *output)
{
    const struct defs *defs = paraver->writer.defs;
    bool *done = memory_new(defs->site_count * sizeof *done);
    output_print(output, "EVENT_TYPE\n0 %d Caller at level 1\nVALUES\n0 End\n", PARAVER_CALLER + 1);
    for (size_t i = 0; i < defs->site_count; i++) {
        uint32_t value = paraver->functions[i];
        if (!paraver->sites_used[i] || value == 0 || done[value - 1])
            continue;
        done[value - 1] = true;
        output_print(output, "%u ", (unsigned)value);
        write_label(paraver, output, defs->sites[i].function);
    }
    output_text(output, "\n\n");
    free(done);
}

static void write_caller_lines(struct paraver_writer *paraver, struct output *output)
{
    const struct defs *defs = paraver->writer.defs;
    output_print(output, "EVENT_TYPE\n0 %d Caller line at level 1\nVALUES\n0 End\n", PARAVER_CALLER_LINE + 1);
    for (size_t i = 0; i < defs->site_count; i++) {
        const struct site_def *site = &defs->sites[i];
        char *label;
        if (!paraver->sites_used[i] || !*site->file)
            continue;
        if (asprintf(&label, "%zu %s:%d [%s:%d]", i + 1, text_file_name(site->file), (int)site->line, site->file,
                     (int)site->line) < 0)
            memory_failed();
        write_label(paraver, output, label);
        free(label);
    }
    output_text(output, "\n\n");
}

/* Where MPI was called from: the function is one value, the line another. */
static void write_callers(struct paraver_writer *paraver, struct output *output)
{
    bool any = false;
    for (size_t i = 0; i < paraver->writer.defs->site_count; i++)
        any |= paraver->sites_used[i];
    if (!any)
        return;
    write_caller_functions(paraver, output);
    write_caller_lines(paraver, output);
}

static void write_marks(struct paraver_writer *paraver, struct output *output)
{
    const struct defs *defs = paraver->writer.defs;
    for (uint32_t i = 0; i < defs->mark_count; i++) {
        if (!paraver->marks_used[i])
            continue;
        output_print(output, "EVENT_TYPE\n7 %llu ", (unsigned long long)paraver_mark_type(paraver, i));
        write_label(paraver, output, defs->marks[i].name);
        output_text(output, "\n\n");
    }
}

/* As Extrae's merger writes them, so that the viewer's own configurations fit. */
void paraver_write_labels(struct paraver_writer *paraver, struct output *output)
{
    static const struct {
        unsigned number;
        const char *label, *colour;
    } activities[] = {{0, "Idle", "117,195,255"},          {1, "Running", "0,0,255"},
                      {2, "Not created", "255,255,255"},   {3, "Waiting a message", "255,0,0"},
                      {4, "Blocking Send", "255,0,174"},   {5, "Synchronization", "179,0,0"},
                      {6, "Test/Probe", "0,255,0"},        {8, "Wait/WaitAll", "235,0,0"},
                      {10, "Immediate Send", "255,0,255"}, {11, "Immediate Receive", "100,100,177"},
                      {12, "I/O", "172,174,41"},           {13, "Group Communication", "255,144,26"},
                      {15, "Others", "192,224,0"},         {16, "Send Receive", "66,66,66"},
                      {25, "One-sided op", "116,116,116"}};
    enum { ACTIVITIES = sizeof activities / sizeof *activities };
    output_text(output, "DEFAULT_OPTIONS\n\nLEVEL THREAD\nUNITS NANOSEC\nLOOK_BACK 100\nSPEED 1\n"
                        "FLAG_ICONS ENABLED\nNUM_OF_STATE_COLORS 1000\nYMAX_SCALE 37\n\n\n"
                        "DEFAULT_SEMANTIC\n\nTHREAD_FUNC State As Is\n\n\nSTATES\n");
    for (size_t i = 0; i < ACTIVITIES; i++)
        output_print(output, "%u %s\n", activities[i].number, activities[i].label);
    output_text(output, "\n\nSTATES_COLOR\n");
    for (size_t i = 0; i < ACTIVITIES; i++)
        output_print(output, "%u {%s}\n", activities[i].number, activities[i].colour);
    output_text(output, "\n\n");
    for (unsigned i = 0; i < MPI_TYPES; i++)
        write_states_of(paraver, output, PARAVER_MPI_FIRST + i, mpi_types[i], "Outside MPI");
    write_details(output);
    write_callers(paraver, output);
    write_states_of(paraver, output, PARAVER_USER_FUNCTION, "User function", "End");
    for (int lane = 1; lane < by_location_lanes(paraver->by) && lane < PARAVER_LANES; lane++)
        write_states_of(paraver, output, (uint64_t)PARAVER_LANE_FIRST + (uint64_t)lane,
                        "User function that crosses others", "End");
    write_marks(paraver, output);
}

static void write_thread_names(struct paraver_writer *paraver, struct output *output)
{
    uint64_t count = 0;
    uint32_t processes = by_location_processes(paraver->by);
    for (uint32_t process = 0; process < processes; process++)
        count += paraver->threads[process] ? paraver->threads[process] : 1;
    output_print(output, "LEVEL THREAD SIZE %llu\n", (unsigned long long)count);
    for (uint32_t process = 0; process < processes; process++)
        for (uint32_t thread = 0; thread == 0 || thread < paraver->threads[process]; thread++)
            output_print(output, "THREAD 1.%u.%u\n", (unsigned)process + 1, (unsigned)thread + 1);
}

void paraver_write_rows(struct paraver_writer *paraver, struct output *output)
{
    if (paraver->nodes) {
        output_print(output, "LEVEL NODE SIZE %zu\n", paraver->host_count);
        for (size_t i = 0; i < paraver->host_count; i++)
            write_label(paraver, output, paraver->hosts[i]);
        output_text(output, "\n");
    }
    write_thread_names(paraver, output);
}
