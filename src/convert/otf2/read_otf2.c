/* SPDX-License-Identifier: BSD-3-Clause */
/* OTF2 through its library: definitions first, then the locations of one process after another, their events merged by
   time. A location that is cut or missing is reported; the others are read. Facts: otf2(5). */
#include "convert/otf2/otf2_chunks.h"
#include "convert/otf2/otf2_location.h"
#include "convert/otf2/otf2_properties.h"
#include "core/directory.h"
#include "core/numbers.h"

#include <stdio.h>
#include <string.h>

extern const struct format format_otf2;

/* Records that are asked of the library at once. The library stops after so many records, which bounds how much is
   translated ahead of what can be given. */
enum { AT_ONCE = 1024 };

/* The library keeps a chunk of memory for each location that it has open (1 MB, if the writer chose nothing else), and
   a process may have thousands. Those that do not fit are parked: opened again for each of their turns. As that takes
   up to 0.5 ms, they are read further ahead, if they are not too many. */
enum { CHUNKS_BYTES = 32 << 20, OPEN_LEAST = 16, AHEAD_BYTES = 32 << 20, AHEAD_LEAST = 256, AHEAD_MOST = 8192 };

struct otf2_state {
    struct otf2_archive archive;
    struct otf2_defs otf2;
    uint32_t *order; /* locations by process, then thread */
    size_t next;     /* of them: the first of the next process */
    size_t end;      /* of them: where reading ends */
    char **paths;    /* by number of the process, of its first location; NULL: nobody has asked */
    size_t path_count;
    const unsigned char *chosen; /* by number of the process: which ones are read; NULL: all up to `end` */
    size_t number;               /* of the next process */
    struct otf2_location *open;
    size_t open_count;
    uint64_t chunk;             /* bytes */
    size_t open_most;           /* of them that the library has open */
    uint64_t parked_at_once;    /* records of the others */
    struct otf2_offer *waiting; /* a heap: those that have events, by the time of the first */
    size_t waiting_count;
    struct otf2_requests requests;
    uint32_t process;
    bool gave_comms; /* of the current process */
    size_t comm;     /* next to be given */
    uint64_t records, undefined;
};

/* A tar file may be anything: any other format that recognises its first bytes is surer. */
static int otf2_probe(const unsigned char *data, size_t size)
{
    if (otf2_is_anchor(data, size))
        return 100;
    if (otf2_is_packed(data, size))
        return 50;
    return 0;
}

static const struct otf2_defs *sorted_by; /* qsort has no context */

static int by_process(const void *a, const void *b)
{
    const struct otf2_location_def *left = &sorted_by->location[*(const uint32_t *)a];
    const struct otf2_location_def *right = &sorted_by->location[*(const uint32_t *)b];
    if (left->process != right->process)
        return left->process < right->process ? -1 : 1;
    return (left->thread > right->thread) - (left->thread < right->thread);
}

static void sort_locations(struct otf2_state *state)
{
    size_t count = state->otf2.location_count;
    state->order = memory_new((count + 1) * sizeof *state->order);
    for (uint32_t i = 0; i < count; i++)
        state->order[i] = i;
    sorted_by = &state->otf2;
    qsort(state->order, count, sizeof *state->order, by_process);
}

static void note_version(struct reader *reader, OTF2_Reader *library)
{
    uint8_t major = 0, minor = 0, fix = 0;
    char version[40], *creator = NULL;
    if (OTF2_Reader_GetVersion(library, &major, &minor, &fix) == OTF2_SUCCESS) {
        snprintf(version, sizeof version, "OTF2 %u.%u.%u", major, minor, fix);
        reader->defs->version = memory_copy_string(version);
    }
    if (OTF2_Reader_GetCreator(library, &creator) == OTF2_SUCCESS)
        reader->defs->creator = creator;
    otf2_read_properties(reader->defs, library);
}

/* What the library has not found for want of a link is no damage. */
static enum status unless_unlinked(const struct otf2_state *state, enum status status, struct error *err)
{
    if (state->archive.links.fault.kind == ERROR_NONE)
        return status;
    *err = state->archive.links.fault;
    return STATUS_FAILED;
}

static enum status otf2_open(struct reader *reader, struct error *err)
{
    struct otf2_state *state = reader->state;
    if (otf2_files_open(&state->archive, reader->input, err) != STATUS_OK)
        return STATUS_FAILED;
    if (state->archive.unpack_cut)
        reader_damage(reader, reader->input->offset, "the packed archive is cut or damaged");
    otf2_guard(&state->archive);
    note_version(reader, state->archive.library);
    otf2_guard_file(OTF2_UNDEFINED_LOCATION, "def");
    enum status status = otf2_defs_read(&state->otf2, &state->archive, reader, err);
    if (status == STATUS_OK) {
        /* All are selected before the files are opened, as the library demands; only those of one process are read at a
           time, so that neither open files nor chunks (1 MB and more each) grow with the number of locations. */
        for (size_t i = 0; i < state->otf2.location_count; i++)
            OTF2_Reader_SelectLocation(state->archive.library, state->otf2.location[i].id);
        OTF2_Reader_OpenDefFiles(state->archive.library);
        OTF2_Reader_OpenEvtFiles(state->archive.library);
        sort_locations(state);
        state->end = state->otf2.location_count;
    }
    otf2_complaint(NULL);
    otf2_guard(NULL);
    return unless_unlinked(state, status, err);
}

/* Reports missing or damaged events of a location. */
static void location_fault(struct otf2_location *location, const char *what)
{
    const struct otf2_state *state = location->reader->state;
    const struct otf2_location_def *def = &location->otf2->location[location->def];
    const char *why = otf2_complaint(&state->archive);
    reader_damage(location->reader, 0, "location %llu (process %u, thread %u): %s%s%s", (unsigned long long)def->id,
                  def->process, def->thread, what, *why ? ": " : "", why);
}

/* The bytes of a location's file; UINT64_MAX: there is none. The library would wait for a pipe's writer. */
static uint64_t file_size(const struct otf2_state *state, uint64_t id, const char *suffix)
{
    char *path = otf2_file_path(&state->archive, id, suffix);
    uint64_t size;
    bool there = directory_size(path, &size);
    free(path);
    return there ? size : UINT64_MAX;
}

/* Whether the library finds each record of the location's file again. */
static bool is_numbered(const struct otf2_state *state, struct otf2_location *location, uint64_t id)
{
    char *path = otf2_file_path(&state->archive, id, "evt");
    bool numbered = otf2_chunks_are_numbered(directory_place(path), state->chunk, &location->last);
    free(path);
    return numbered;
}

/* Tables that map the location's own ids to global ones, and its clock offsets: the library applies both to the events,
   but only if these definitions were read first. A file of 20 bytes has the header of a chunk and its end, and no
   definition: opening it would take longer than reading thousands of events. */
static enum status read_definitions(struct otf2_state *state, struct otf2_location *location, uint64_t id,
                                    struct error *err)
{
    enum { NO_DEFINITION = 20 };
    OTF2_Reader *library = state->archive.library;
    uint64_t size = file_size(state, id, "def"), count = 0;
    if (size == UINT64_MAX || size == NO_DEFINITION)
        return STATUS_OK;
    enum status brought = otf2_file_bring(&state->archive, id, "def", err);
    if (brought != STATUS_OK)
        return brought;
    otf2_guard_file(id, "def");
    otf2_file_show(&state->archive, id, "def");
    OTF2_DefReader *local = OTF2_Reader_GetDefReader(library, id);
    otf2_file_hide(&state->archive);
    if (local) {
        if (OTF2_Reader_ReadAllLocalDefinitions(library, local, &count) != OTF2_SUCCESS)
            location_fault(location, "its definitions are damaged");
        OTF2_Reader_CloseDefReader(library, local);
    }
    otf2_complaint(NULL); /* many archives have no local definitions */
    return STATUS_OK;
}

/* STATUS_FAILED: there is no room for files of other hosts. */
static enum status location_open(struct otf2_state *state, struct reader *reader, struct otf2_location *location,
                                 uint32_t def, struct error *err)
{
    const struct otf2_location_def *about = &state->otf2.location[def];
    *location = (struct otf2_location){
        .otf2 = &state->otf2, .reader = reader, .requests = &state->requests, .def = def, .last_comm = OTF2_NONE};
    /* Beyond this, ns do not fit: times count from the trace's begin. */
    bool far = state->otf2.offset / state->otf2.resolution > UINT64_C(9000000000);
    otf2_clock_begin(&location->clock, state->otf2.resolution, far ? state->otf2.offset : 0);
    enum status brought = otf2_file_bring(&state->archive, about->id, "evt", err);
    if (brought == STATUS_FAILED)
        return STATUS_FAILED;
    /* Asking the library for a file that is missing costs an error message of its own, and a location without events
       need not have one. */
    if (brought == STATUS_END || file_size(state, about->id, "evt") == UINT64_MAX) {
        if (about->events > 0)
            location_fault(location, "its file is missing");
        return STATUS_OK;
    }
    if (read_definitions(state, location, about->id, err) == STATUS_FAILED)
        return STATUS_FAILED;
    location->more = true;
    /* It is counted already. */
    location->parked = state->open_count > state->open_most && is_numbered(state, location, about->id);
    return STATUS_OK;
}

static void library_close(struct otf2_state *state, struct otf2_location *location)
{
    otf2_guard_file(state->otf2.location[location->def].id, "evt");
    OTF2_Reader_CloseEvtReader(state->archive.library, location->library);
    location->library = NULL;
}

/* Opens the location where it was left; STATUS_END: there are no more records. */
static enum status library_open(struct otf2_state *state, struct otf2_location *location)
{
    OTF2_Reader *library = state->archive.library;
    uint64_t id = state->otf2.location[location->def].id;
    otf2_file_show(&state->archive, id, "evt");
    location->library = OTF2_Reader_GetEvtReader(library, id);
    otf2_file_hide(&state->archive);
    if (!location->library)
        return STATUS_FAILED;
    OTF2_EvtReaderCallbacks *callbacks = otf2_location_callbacks();
    OTF2_Reader_RegisterEvtCallbacks(library, location->library, callbacks, location);
    OTF2_EvtReaderCallbacks_Delete(callbacks);
    if (location->read == 0)
        return STATUS_OK;
    /* It counts from 1, and has no position after the last record. */
    OTF2_ErrorCode code = OTF2_EvtReader_Seek(location->library, location->read + 1);
    if (code == OTF2_ERROR_INVALID_ARGUMENT && location->read == location->last) {
        otf2_complaint(NULL);
        return STATUS_END;
    }
    return code == OTF2_SUCCESS ? STATUS_OK : STATUS_FAILED;
}

static void location_end(struct otf2_state *state, struct otf2_location *location)
{
    if (location->library)
        library_close(state, location);
    location->more = false;
    otf2_end_requests(location);
}

static void location_finish(struct otf2_state *state, struct otf2_location *location)
{
    location_end(state, location);
    /* More than declared is no damage: EZTrace declares 2 for every location. */
    if (location->read < state->otf2.location[location->def].events)
        location_fault(location, "has fewer events than its definition says");
}

/* Has some records of the location translated. */
static void read_records(struct otf2_state *state, struct otf2_location *location)
{
    uint64_t got = 0, wanted = location->parked ? state->parked_at_once : AT_ONCE;
    OTF2_ErrorCode code = OTF2_Reader_ReadLocalEvents(state->archive.library, location->library, wanted, &got);
    /* The callbacks have delivered what came before the damage, and `got` is 0 then: it must not be taken for the
       count. */
    if (code != OTF2_SUCCESS && code != OTF2_ERROR_INTERRUPTED_BY_CALLBACK) {
        location_end(state, location);
        location_fault(location, "its events are cut or damaged");
        return;
    }
    location->read += got;
    if (got < wanted)
        location_finish(state, location);
}

/* What has been given makes room. */
static void drop_given(struct otf2_location *location)
{
    size_t left = location->count - location->head;
    if (left > 0)
        memmove(location->events, location->events + location->head, left * sizeof *location->events);
    location->first += location->head;
    location->head = 0;
    location->count = left;
    otf2_drop_steps(location, left == 0);
    /* Payloads are offsets into the arena: it can be emptied only when no event that waits has one. */
    if (left == 0)
        location->arena_length = 0;
}

/* Translates more events until some are ready, or there are no more. */
static void location_fill(struct otf2_state *state, struct otf2_location *location)
{
    otf2_guard_file(state->otf2.location[location->def].id, "evt");
    while (location->more && otf2_location_ready(location) == location->head) {
        drop_given(location);
        enum status status = location->library ? STATUS_OK : library_open(state, location);
        if (status == STATUS_OK) {
            read_records(state, location);
        } else if (status == STATUS_END) {
            location_finish(state, location);
        } else {
            location_end(state, location);
            location_fault(location, "its events cannot be read");
        }
    }
    if (location->parked && location->library)
        library_close(state, location);
}

static void process_close(struct otf2_state *state)
{
    for (size_t i = 0; i < state->open_count; i++) {
        struct otf2_location *location = &state->open[i];
        if (location->library)
            library_close(state, location);
        state->records += location->records;
        state->undefined += location->undefined;
        otf2_location_clear(location);
    }
    free(state->open);
    free(state->waiting);
    state->open = NULL;
    state->waiting = NULL;
    state->open_count = state->waiting_count = 0;
    otf2_requests_clear(&state->requests);
}

/* The locations of a process that the library may have open, and how much of the others is read at once. */
static void share_memory(struct otf2_state *state, size_t locations)
{
    uint64_t of_definitions, ahead = AHEAD_BYTES / sizeof(struct event) / locations;
    if (OTF2_Reader_GetChunkSize(state->archive.library, &state->chunk, &of_definitions) != OTF2_SUCCESS ||
        state->chunk == 0)
        state->chunk = OTF2_CHUNK_SIZE_EVENTS_DEFAULT;
    state->open_most = larger(CHUNKS_BYTES / state->chunk, (uint64_t)OPEN_LEAST);
    state->parked_at_once = smaller(larger(ahead, (uint64_t)AHEAD_LEAST), (uint64_t)AHEAD_MOST);
}

/* Where the locations of the process end whose first is at `at`. */
static size_t process_end(const struct otf2_state *state, size_t at)
{
    const struct otf2_location_def *location = state->otf2.location;
    uint32_t process = location[state->order[at]].process;
    while (at < state->otf2.location_count && location[state->order[at]].process == process)
        at++;
    return at;
}

/* Goes on to the next process that is read. */
static void skip_others(struct otf2_state *state)
{
    for (; state->chosen && state->next < state->end && !state->chosen[state->number]; state->number++)
        state->next = process_end(state, state->next);
}

/* Opens the locations of the next process. */
static enum status process_open(struct otf2_state *state, struct reader *reader, struct error *err)
{
    const struct otf2_defs *otf2 = &state->otf2;
    state->process = otf2->location[state->order[state->next]].process;
    size_t end = process_end(state, state->next);
    state->open = memory_new((end - state->next) * sizeof *state->open);
    state->waiting = memory_new((end - state->next) * sizeof *state->waiting);
    share_memory(state, end - state->next);
    state->requests.shared = end - state->next > 1;
    for (; state->next < end; state->next++) {
        struct otf2_location *location = &state->open[state->open_count++];
        if (location_open(state, reader, location, state->order[state->next], err) != STATUS_OK)
            return STATUS_FAILED;
        location_fill(state, location);
        if (location->count > 0)
            state->waiting[state->waiting_count++] = (struct otf2_offer){location->events[0].time_ns, location};
    }
    heap_make(state->waiting, state->waiting_count, &otf2_by_time, NULL);
    state->gave_comms = false;
    state->comm = 0;
    state->number++;
    return STATUS_OK;
}

/* The time up to which the first of the heap is alone. */
static int64_t alone_until(const struct otf2_state *state)
{
    int64_t until_ns = INT64_MAX;
    for (size_t i = 1; i < state->waiting_count && i <= 2; i++)
        until_ns = smaller(until_ns, state->waiting[i].time_ns);
    return until_ns;
}

/* The first of the heap has given events: it goes to the place of its next one. */
static void wait_again(struct otf2_state *state)
{
    const struct otf2_location *location = state->waiting[0].location;
    if (location->head < location->count) {
        state->waiting[0].time_ns = location->events[location->head].time_ns;
        heap_down(state->waiting, state->waiting_count, 0, &otf2_by_time, NULL);
    } else {
        state->waiting_count = heap_drop(state->waiting, state->waiting_count, &otf2_by_time, NULL);
    }
}

static void take(struct otf2_state *state, struct otf2_location *location, int64_t until_ns, struct batch *batch)
{
    size_t ready = otf2_location_ready(location);
    bool any = false;
    /* Up to the first time at which a location may have more than has been read. */
    otf2_resolve_requests(&state->requests, smaller(until_ns, location->events[ready - 1].time_ns));
    while (batch->count < BATCH_EVENTS && location->head < ready) {
        const struct event *event = &location->events[location->head];
        /* At least one event is taken, so that a location whose time goes back does not stop the merge. */
        if (any && event->time_ns > until_ns)
            return;
        struct event *to = &batch->events[batch->count++];
        *to = *event;
        if (event->payload_length)
            batch_set_payload(batch, to, location->arena + event->payload, event->payload_length);
        if (event->flags & OTF2_STEP)
            otf2_name_request(location, batch);
        location->head++;
        any = true;
    }
}

static void finish(struct otf2_state *state, struct reader *reader)
{
    /* An archive has no mark at its end: it is complete if every location has what was declared, else there was
       damage. */
    reader->complete = true;
    reader_count(reader, "event", state->records);
    reader_count(reader, "definition of a region", state->otf2.region_count);
    reader_count(reader, "definition of a location", state->otf2.location_count);
    if (state->otf2.repeated)
        reader_count(reader, "repeated definition", state->otf2.repeated);
    if (state->undefined)
        reader_damage(reader, 0, "%llu events name what no definition explains", (unsigned long long)state->undefined);
    /* The reader may be asked for more after the end. */
    state->undefined = 0;
}

static void fill_batch(struct otf2_state *state, struct batch *batch)
{
    while (batch->count < BATCH_EVENTS && state->waiting_count > 0) {
        struct otf2_location *location = state->waiting[0].location;
        /* With the time of the process's first event, which is known only now. */
        if (!state->gave_comms) {
            state->gave_comms = otf2_give_comms(&state->otf2, state->process, &state->comm, batch,
                                                location->events[location->head].time_ns);
            continue;
        }
        take(state, location, alone_until(state), batch);
        if (otf2_location_ready(location) == location->head)
            location_fill(state, location);
        wait_again(state);
    }
}

/* The library is called only in here, in otf2_open and in otf2_close: outside, a crash is ours and must look like one.
 */
static enum status otf2_next(struct reader *reader, struct batch *batch, struct error *err)
{
    struct otf2_state *state = reader->state;
    enum status status = STATUS_OK;
    otf2_guard(&state->archive);
    while (batch->count == 0 && status == STATUS_OK) {
        fill_batch(state, batch);
        if (batch->count > 0)
            break;
        process_close(state);
        skip_others(state);
        if (state->next == state->end) {
            finish(state, reader);
            status = STATUS_END;
            break;
        }
        status = process_open(state, reader, err);
    }
    otf2_guard(NULL);
    return unless_unlinked(state, status, err);
}

static void otf2_close(struct reader *reader)
{
    struct otf2_state *state = reader->state;
    if (state->archive.library)
        otf2_guard(&state->archive);
    process_close(state);
    for (size_t i = 0; i < state->path_count; i++)
        free(state->paths[i]);
    free(state->paths);
    free(state->order);
    otf2_defs_clear(&state->otf2);
    otf2_files_close(&state->archive);
}

/* A packed archive would have to be unpacked by each reader. */
static uint64_t *otf2_process_bytes(const struct reader *reader, size_t *count)
{
    const struct otf2_state *state = reader->state;
    if (state->archive.directory)
        return NULL;
    uint64_t *bytes = memory_new((state->otf2.location_count + 1) * sizeof *bytes);
    *count = 0;
    for (size_t at = 0; at < state->otf2.location_count; ++*count)
        for (size_t end = process_end(state, at); at < end; at++) {
            uint64_t size = file_size(state, state->otf2.location[state->order[at]].id, "evt");
            if (size != UINT64_MAX)
                bytes[*count] += size;
        }
    return bytes;
}

static void otf2_select(struct reader *reader, size_t from, size_t to)
{
    struct otf2_state *state = reader->state;
    size_t process = 0, at = 0;
    for (; process < from && at < state->otf2.location_count; process++)
        at = process_end(state, at);
    state->next = at;
    for (; process < to && at < state->otf2.location_count; process++)
        at = process_end(state, at);
    state->end = at;
}

static const char **otf2_process_paths(const struct reader *reader, size_t *count)
{
    struct otf2_state *state = reader->state;
    if (!state->paths) {
        state->paths = memory_new((state->otf2.location_count + 1) * sizeof *state->paths);
        for (size_t at = 0; at < state->otf2.location_count; at = process_end(state, at))
            state->paths[state->path_count++] =
                otf2_file_path(&state->archive, state->otf2.location[state->order[at]].id, "evt");
    }
    const char **paths = memory_new((state->path_count + 1) * sizeof *paths);
    *count = state->path_count;
    for (size_t i = 0; i < state->path_count; i++)
        paths[i] = state->paths[i];
    return paths;
}

static void otf2_choose(struct reader *reader, const unsigned char *chosen)
{
    ((struct otf2_state *)reader->state)->chosen = chosen;
}

static const struct format_processes processes = {
    .bytes = otf2_process_bytes, .select = otf2_select, .paths = otf2_process_paths, .choose = otf2_choose};

const struct format format_otf2 = {.name = "otf2",
                                   .title = "OTF2",
                                   .suffix = ".otf2",
                                   .probe = otf2_probe,
                                   .two_passes = true,
                                   .state_size = sizeof(struct otf2_state),
                                   .open = otf2_open,
                                   .next = otf2_next,
                                   .close = otf2_close,
                                   .processes = &processes,
                                   .find_in = otf2_find_anchor,
                                   .scatters = true};
