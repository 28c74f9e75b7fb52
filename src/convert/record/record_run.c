/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/record/record_run.h"

#include "convert/clog2/mpe2_state.h"
#include "convert/record/record_openmp.h"
#include "convert/record/record_samples.h"
#include "convert/record/record_sites.h"
#include "core/event.h"
#include "core/memory.h"
#include "core/payload.h"
#include "core/record_digest.h"
#include "core/text.h"

#include <stdio.h>
#include <string.h>

union definition {
    struct record_comm comm;
    struct record_clock clock;
    struct record_calibration calibration;
    struct record_definition text;
    struct record_site site;
    struct record_outer outer;
    struct record_path path;
    struct record_module module;
    struct record_python python;
    struct record_property property;
    struct record_counter_name counter;
};

static void group_processes(struct record_run *run)
{
    run->processes = memory_new(run->file_count * sizeof *run->processes);
    run->process_of = memory_new(run->file_count * sizeof *run->process_of);
    for (size_t i = 0; i < run->file_count; i++) {
        const struct record_header *header = &run->files[i].header;
        /* Files are in order of processes, the main thread's first (sort_by_trace). */
        if (i == 0 || run->files[i].process != run->files[i - 1].process)
            run->processes[run->process_count++] =
                (struct record_process){.rank = run->files[i].process,
                                        .program = run->files[i].program,
                                        .clock_map = record_clocks_index(&run->clocks, header->host, header->clock)};
        run->process_of[i] = (uint32_t)run->process_count - 1;
        if (header->thread == 0)
            run->processes[run->process_count - 1].finalized = header->end == RECORD_FINALIZED;
    }
}

/* Colours: MPE's own for its states, by class for others. */
static const char *state_colour(const char *name)
{
    static const char *const by_class[] = {
        [CLASS_P2P] = "blue",        [CLASS_PROBE] = "ForestGreen", [CLASS_WAIT] = "brown",
        [CLASS_COLLECTIVE] = "cyan", [CLASS_SYNC] = "yellow",       [CLASS_RMA] = "orange",
        [CLASS_IO] = "RosyBrown",    [CLASS_SETUP] = "white",       [CLASS_LOCAL] = "LightGray",
        [CLASS_USER] = "magenta",    [CLASS_TOOL] = "gray"};
    const struct mpe2_state *known = mpe2_state_find(name);
    if (known)
        return known->colour;
    return by_class[function_class_of(name)];
}

/* A mark that the program did not define, where it is needed: *mark is 1 + its index then. */
static void define_own_mark(struct defs *defs, uint32_t *mark, const char *name, const char *format)
{
    struct mark_def own = {.name = (char *)name,
                           .colour = (char *)"gray",
                           .format = (char *)format,
                           .id = EVENT_UNKNOWN,
                           .defined = true,
                           .made_up = true};
    /* Only marks that the run needs are defined: others would be names without events. */
    if (*mark)
        *mark = defs_add_mark(defs, &own) + 1;
}

/* True for functions that post or prepare a request that is tracked. */
static bool makes_requests(const struct mpi_function *function)
{
    bool followed =
        function->class == CLASS_P2P || function->class == CLASS_COLLECTIVE || function->class == CLASS_SYNC;
    /* These have requests, but are of the classes of I/O and of communicators. */
    if (strncmp(function->name, "MPI_File_i", 10) == 0 && strstr(function->name, "_all"))
        return true;
    if (strncmp(function->name, "MPI_Comm_idup", 13) == 0)
        return true;
    return followed && (strncmp(function->name, "MPI_I", 5) == 0 || strstr(function->name, "_init"));
}

static bool synchronises_window(const struct mpi_function *function)
{
    return function->class == CLASS_RMA && strncmp(function->name, "MPI_Win_", 8) == 0;
}

/* Its members are in the same mark. */
static bool makes_comm_of_group(const char *name)
{
    return strcmp(name, "MPI_Comm_create_group") == 0 || strcmp(name, "MPI_Comm_create_from_group") == 0;
}

/* The format of the payload of a function's leave; NULL: none. */
static const char *leave_format(const struct mpi_function *function)
{
    if (function->class == CLASS_COLLECTIVE)
        return PAYLOAD_MOVED_FORMAT;
    /* Synchronisations of a window have no target: their ranks are in a mark of their own. */
    if (function->class == CLASS_RMA)
        return synchronises_window(function) ? NULL : PAYLOAD_TARGET_FORMAT;
    bool starts = strncmp(function->name, "MPI_Start", 9) == 0;
    if (function->class == CLASS_WAIT || starts || makes_requests(function))
        return PAYLOAD_REQUESTS_FORMAT;
    return NULL;
}

static void define_functions(struct record_run *run, struct defs *defs)
{
    for (size_t f = 0; f < mpi_function_count() && f < RECORD_FUNCTIONS_MAX; f++) {
        bool used = false;
        for (size_t i = 0; i < run->file_count && !used; i++)
            /* Of 400 functions a program calls 20: only these become states. */
            used = run->files[i].header.used[f] != 0;
        run->states[f] = UINT32_MAX;
        if (!used)
            continue;
        const char *name = mpi_function_at(f)->name;
        struct state_def state = {.name = (char *)name,
                                  .colour = (char *)state_colour(name),
                                  .format = (char *)(uintptr_t)leave_format(mpi_function_at(f)),
                                  .id = EVENT_UNKNOWN,
                                  .start = EVENT_UNKNOWN,
                                  .end = EVENT_UNKNOWN};
        run->states[f] = defs_add_state(defs, &state);
        run->request_mark |= makes_requests(mpi_function_at(f));
        /* CLOG-2 has no place for what a recording can know: a constant says that bytes of I/O are there. */
        if (mpi_function_at(f)->class == CLASS_IO && !defs->gives_files)
            defs_add_constant(defs, FILES_CONSTANT, 1);
        run->neighbours_mark |= strstr(name, "MPI_Cart_") || strstr(name, "graph_") || strstr(name, "eighbor_");
        run->ranks_mark |= synchronises_window(mpi_function_at(f)) || makes_comm_of_group(name);
    }
    /* They are defined when their places are known. */
    run->states[RECORD_OPENMP_REGION] = run->states[RECORD_OPENMP_WORK] = UINT32_MAX;
    define_own_mark(defs, &run->request_mark, REQUEST_MARK_NAME, PAYLOAD_REQUESTS_FORMAT);
    define_own_mark(defs, &run->neighbours_mark, NEIGHBOURS_MARK_NAME, NEIGHBOURS_MARK_FORMAT);
    for (size_t i = 0; i < run->file_count; i++)
        run->pending_mark |= run->files[i].header.end != RECORD_FINALIZED;
    define_own_mark(defs, &run->pending_mark, PENDING_MARK_NAME, PENDING_MARK_FORMAT);
    define_own_mark(defs, &run->ranks_mark, RANKS_MARK_NAME, RANKS_MARK_FORMAT);
    /* The mark says that samples were taken, even if none came. */
    uint32_t samples_mark = 0;
    for (size_t i = 0; i < run->file_count; i++)
        samples_mark |= run->files[i].header.sample_ns != 0;
    define_own_mark(defs, &samples_mark, SAMPLES_MARK_NAME, SAMPLES_MARK_FORMAT);
    for (size_t i = 0; i < run->file_count; i++)
        run->gap_mark |= run->files[i].kept != NULL;
    define_own_mark(defs, &run->gap_mark, GAP_MARK_NAME, GAP_MARK_FORMAT);
}

static int32_t new_comm(struct defs *defs)
{
    return defs_comm(defs, (int32_t)defs->comm_count);
}

static void add_row(struct defs *defs, int32_t comm, uint64_t key, int32_t kind, bool window)
{
    struct comm_row row = {.id = defs->comms[comm].id, .kind = kind};
    comm_sign_uuid(row.uuid, key, comm, window);
    comm_set_uuid(&defs->comms[comm], row.uuid);
    ARRAY_PUSH(defs->comm_rows, defs->comm_row_count, defs->comm_row_capacity, row);
}

/* The same number in all members and different from that of any other communicator of the trace; 0: not known, since it
   leads to a program that is not in the trace. */
static uint64_t key_of(const struct record_run *run, const struct record_process *process,
                       const struct record_comm *record)
{
    switch (record->kin) {
    case RECORD_OWN:
        return map_hash(record->key ^ (uint64_t)process->program << 32) | 1;
    case RECORD_OF_PARENT: {
        uint64_t parent = record->parent < process->comm_count ? process->comms[record->parent].shared_key : 0;
        if (parent)
            return map_hash(parent ^ map_hash(record->key)) | 1;
        return 0;
    }
    default:
        return recordings_shared_key(run->recordings, process->program, record->key);
    }
}

/* Index of the first definition of the communicator: an inter-communicator has three, itself and its two sides. What
   damaged files say to be both is two. Keys are computed alike by all members, so that the same one means the same
   communicator in all files. */
static int32_t comm_of_key(struct record_run *run, struct defs *defs, uint64_t key, bool inter, bool window)
{
    uint64_t *index = map_put(&run->comm_of_key, key >> 2 << 1 | inter, UINT64_MAX);
    if (*index != UINT64_MAX)
        return (int32_t)*index;
    /* Numbered as they are met: recorders have numbers of their own in each process. */
    int32_t comm = new_comm(defs);
    *index = (uint64_t)comm;
    add_row(defs, comm, key, inter ? COMM_KIND_INTER : COMM_KIND_INTRA, window);
    if (inter) {
        add_row(defs, new_comm(defs), key, COMM_KIND_LOCAL, false);
        add_row(defs, new_comm(defs), key, COMM_KIND_REMOTE, false);
    }
    return comm;
}

static void define_comm(struct record_run *run, struct record_process *process, struct defs *defs,
                        const struct record_comm *record)
{
    uint32_t number = record->base.comm;
    while (process->comm_count <= number)
        ARRAY_PUSH(process->comms, process->comm_count, process->comm_capacity,
                   (struct record_comm_place){.comm = 0, .partner = 0, .inter = EVENT_UNKNOWN});
    struct record_comm_place *place = &process->comms[number];
    bool world = number == RECORD_WORLD && run->program_count == 1, inter = !world && record->remote_size > 0;
    uint64_t key = key_of(run, process, record);
    place->foreign = key == 0;
    place->defined = true;
    /* What is made of this communicator leads to other programs only if this one does. */
    place->shared_key = record->kin == RECORD_OWN ? 0 : key;
    if (!key)
        key = map_hash(record->key ^ (uint64_t)(process->program + 1) << 32) | 1;
    int32_t comm = world ? 0 : comm_of_key(run, defs, key, inter, record->window != 0);
    if (number == RECORD_SELF)
        defs->comms[comm].self = true;
    place->inter = inter ? comm : EVENT_UNKNOWN;
    /* The three are consecutive: itself, the side 0, the side 1. Each process is on one side and talks to the
       other. */
    place->comm = inter ? comm + 1 + (int32_t)(record->side & 1) : comm;
    place->partner = inter ? comm + 2 - (int32_t)(record->side & 1) : comm;
    defs_set_member(defs, place->comm, record->rank, process->rank);
}

static void define_calibration(struct record_run *run, const struct record_process *process,
                               const struct record_calibration *record)
{
    record_clock_add(&run->clocks.maps[process->clock_map],
                     &(struct record_reading){.ticks = record->ticks, .ns = record->ns, .width = record->width});
}

/* One more than the kind: 0 would be a free place of the map. */
static uint64_t role_value(enum event_kind kind, uint32_t index)
{
    return (uint64_t)index << 8 | ((uint64_t)kind + 1);
}

/* Several processes describe the same state: the first description is kept. */
static void define_text(struct record_run *run, struct defs *defs, struct record_definition *record)
{
    /* A damaged file need not have ended its texts. */
    record->name[sizeof record->name - 1] = '\0';
    record->colour[sizeof record->colour - 1] = '\0';
    record->format[sizeof record->format - 1] = '\0';
    /* Checked by the first event number, which MPE gives to one description only. */
    if (map_find(&run->roles, (uint32_t)record->start))
        return;
    if (record->base.kind == RECORD_DEFINE_STATE) {
        struct state_def state = {.name = record->name,
                                  .colour = record->colour,
                                  .format = record->format,
                                  .id = EVENT_UNKNOWN,
                                  .start = EVENT_UNKNOWN,
                                  .end = EVENT_UNKNOWN};
        uint32_t index = defs_add_state(defs, &state);
        map_put(&run->roles, (uint32_t)record->start, role_value(EVENT_ENTER, index));
        map_put(&run->roles, (uint32_t)record->end, role_value(EVENT_LEAVE, index));
    } else {
        struct mark_def mark = {.name = record->name,
                                .colour = record->colour,
                                .format = record->format,
                                .id = EVENT_UNKNOWN,
                                .defined = true};
        map_put(&run->roles, (uint32_t)record->start, role_value(EVENT_MARK, defs_add_mark(defs, &mark)));
    }
}

/* Where there are such events at all: whether each was described is not known before all are read. */
static void define_unnamed(struct record_run *run, struct defs *defs)
{
    /* The mark is defined only for runs with events of the program. */
    bool any = false;
    for (size_t i = 0; i < run->file_count; i++)
        any |= run->files[i].header.user_events != 0;
    struct mark_def mark = {
        .name = (char *)"event without description", .id = EVENT_UNKNOWN, .defined = true, .made_up = true};
    if (any)
        run->unnamed_mark = defs_add_mark(defs, &mark);
}

struct record_role record_run_role(const struct record_run *run, uint32_t id)
{
    const uint64_t *known = map_find(&run->roles, id);
    uint64_t value = known ? *known : role_value(EVENT_MARK, run->unnamed_mark);
    return (struct record_role){.kind = (uint8_t)value, .index = (uint32_t)(value >> 8)};
}

static void define_date(const struct record_run *run, const char *ms, struct defs *defs)
{
    char date[64];
    int64_t since_ms;
    if (text_parse_i64(ms, 0, INT64_MAX, &since_ms) &&
        launch_note_date(&run->recordings->note, since_ms, date, sizeof date))
        property_add(&defs->properties, PROPERTY_DATE, date);
}

/* Facts about the run are those of its first process. */
static void define_property(const struct record_run *run, const struct record_process *process,
                            struct record_property *record, struct defs *defs)
{
    record->text[sizeof record->text - 1] = '\0';
    char *value = strchr(record->text, '=');
    /* A damaged fact without a value is left out. */
    if (!value)
        return;
    *value++ = '\0';
    char *text = text_from_bytes(value, strlen(value));
    if (strcmp(record->text, PROPERTY_PROGRAM) == 0 || strcmp(record->text, PROPERTY_WILDCARDS) == 0)
        property_add_of(&defs->properties, record->text, text, process->rank, process->rank);
    else if (process->rank == 0 && strcmp(record->text, PROPERTY_DATE) == 0)
        define_date(run, text, defs);
    else if (process->rank == 0)
        property_add(&defs->properties, record->text, text);
    free(text);
}

/* Threads count the same, each under numbers of its own. */
static void define_counter(struct record_file *file, struct record_counter_name *record, struct defs *defs)
{
    uint32_t number = record->base.comm;
    record->name[sizeof record->name - 1] = '\0';
    if (number >= RECORD_COUNTERS_MOST || !*record->name)
        return;
    char *name = text_from_bytes(record->name, strlen(record->name));
    for (uint32_t i = 0; i < defs->mark_count && !file->counters[number]; i++)
        if (defs->marks[i].counter.type == COUNTER_INT64 && strcmp(defs->marks[i].name, name) == 0)
            file->counters[number] = i + 1;
    if (!file->counters[number]) {
        struct mark_def mark = {
            .name = name,
            .colour = (char *)"gray",
            .id = EVENT_UNKNOWN,
            .defined = true,
            .counter = {.type = COUNTER_INT64, .mode = COUNTER_MODE_ACCUMULATED, .scope = COUNTER_OF_THREAD}};
        file->counters[number] = defs_add_mark(defs, &mark) + 1;
    }
    free(name);
}

/* Hosts are known by the files, but belong to the facts that --no-metadata leaves out. */
static void define_hosts(const struct record_run *run, struct defs *defs)
{
    /* With --no-metadata the recorder leaves out the program, and the hosts go with it. */
    if (!property_find(&defs->properties, PROPERTY_PROGRAM))
        return;
    property_add(&defs->properties, PROPERTY_COMMAND, run->recordings->note.command);
    for (size_t i = 0; i < run->file_count; i++)
        defs_add_location(defs, &(struct location_def){.process = run->files[i].process,
                                                       .thread = run->files[i].header.thread,
                                                       .host = run->files[i].header.host_name});
}

const struct record_comm_place *record_run_comm(const struct record_process *process, uint32_t number)
{
    if (number < process->comm_count && process->comms[number].defined)
        return &process->comms[number];
    return NULL;
}

/* A definition takes room in the file: a number beyond that is damage, and would be memory. A file that keeps a sample
   does not grow with the numbers. */
static uint64_t comms_max(const struct record_file *file)
{
    return file->kept ? RECORD_DIGEST_COMMS : file->size / sizeof(struct record_comm);
}

/* Lists in the files, of all processes: before the first event, as the rest of the program expects. */
static void read_definitions(struct record_run *run, size_t index, struct defs *defs)
{
    struct record_file *file = &run->files[index];
    struct record_process *process = &run->processes[run->process_of[index]];
    union definition definition;
    uint64_t offset = 0;
    while (record_file_definition(file, &offset, &definition, sizeof definition)) {
        switch (definition.comm.base.kind) {
        case RECORD_COMM:
            if (definition.comm.base.comm < comms_max(file))
                define_comm(run, process, defs, &definition.comm);
            else
                file->lost_comms++;
            break;
        case RECORD_CLOCK:
            record_offset_add(&process->clock, &definition.clock);
            break;
        case RECORD_CALIBRATION:
            define_calibration(run, process, &definition.calibration);
            break;
        case RECORD_DEFINE_STATE:
        case RECORD_DEFINE_MARK:
            define_text(run, defs, &definition.text);
            break;
        case RECORD_DEFINE_SITE:
            record_sites_define(run, file, &definition.site);
            break;
        case RECORD_DEFINE_OUTER:
            record_sites_outer(run, file, &definition.outer);
            break;
        case RECORD_DEFINE_PYTHON:
            record_sites_python(run, file, &definition.python);
            break;
        case RECORD_DEFINE_PATH:
            record_samples_path(file, &definition.path);
            break;
        case RECORD_DEFINE_MODULE:
            record_samples_module(process, &definition.module);
            break;
        case RECORD_DEFINE_COUNTER:
            define_counter(file, &definition.counter, defs);
            break;
        case RECORD_DEFINE_PROPERTY:
            define_property(run, process, &definition.property, defs);
            break;
        default:
            break;
        }
    }
}

/* The mark in the trace that says why recording ended. */
static void define_ends(struct record_run *run, struct defs *defs)
{
    static const char *const names[] = {[RECORD_DISK_FULL] = "recording ended: disk full",
                                        [RECORD_LIMIT] = "recording ended: limit",
                                        [RECORD_FILE_LOST] = "recording ended: file closed",
                                        [RECORD_FILE_LIMIT] = "recording ended: file limit"};
    for (size_t i = 0; i < run->file_count; i++) {
        uint32_t reason = run->files[i].header.reason;
        if (reason >= sizeof names / sizeof *names || !names[reason] || run->ended_marks[reason])
            continue;
        struct mark_def mark = {
            .name = (char *)names[reason], .colour = (char *)"red", .id = EVENT_UNKNOWN, .defined = true};
        run->ended_marks[reason] = defs_add_mark(defs, &mark) + 1;
    }
}

/* Definitions of all files of one program, before any record: threads, functions, communicators, clocks, places. */
enum status record_run_open(struct record_run *run, const struct recordings *recordings, size_t trace,
                            struct defs *defs, struct error *err)
{
    size_t first = recordings->traces[trace].first_file;
    run->recordings = recordings;
    run->program_count = recordings->traces[trace].program_count;
    run->files = recordings->files + first;
    run->file_count = recordings->traces[trace + 1].first_file - first;
    if (run->files[0].header.function_count != mpi_function_count())
        return error_set(err, ERROR_INPUT, "%s: recorded by a different version of sight", run->files[0].path);
    group_processes(run);
    define_functions(run, defs);
    int32_t all = new_comm(defs);
    defs->comms[all].world = true;
    add_row(defs, all, 0, COMM_KIND_INTRA, false);
    defs->processes = recordings->traces[trace].processes;
    defs->threads = 1;
    for (size_t i = 0; i < run->file_count; i++) {
        read_definitions(run, i, defs);
        if (run->files[i].header.thread >= defs->threads)
            defs->threads = run->files[i].header.thread + 1;
    }
    define_hosts(run, defs);
    record_clocks_finish(&run->clocks);
    record_samples_place(run);
    record_sites_resolve(run, defs);
    record_openmp_define(run, defs);
    record_samples_resolve(run, defs);
    define_ends(run, defs);
    define_unnamed(run, defs);
    for (enum resource_counter counter = 0; counter < RESOURCE_RECORDED; counter++)
        run->resource_marks[counter] = resource_counter_define(defs, counter);
    defs_add_constant(defs, "MPI_PROC_NULL", -1);
    defs_add_constant(defs, "MPI_ANY_SOURCE", -2);
    defs_add_constant(defs, "MPI_ANY_TAG", -1);
    return STATUS_OK;
}

void record_run_close(struct record_run *run)
{
    for (size_t i = 0; i < run->file_count; i++)
        record_file_stop(&run->files[i]);
    for (size_t i = 0; i < run->process_count; i++) {
        free(run->processes[i].comms);
        record_samples_clear(&run->processes[i]);
    }
    free(run->processes);
    free(run->process_of);
    record_clocks_clear(&run->clocks);
    map_clear(&run->roles);
    map_clear(&run->comm_of_key);
    record_sites_clear(run);
}

int64_t record_run_offset(const struct record_run *run, const struct record_process *process, int64_t time_ns)
{
    int64_t offset_ns = record_clock_offset(&process->clock, time_ns);
    return offset_ns + recordings_offset(run->recordings, process->program, time_ns + offset_ns);
}
