/* SPDX-License-Identifier: BSD-3-Clause */
/* An OTF2 archive: events by location and time, then definitions. It appears whole or not at all. */
#include "convert/otf2/write_otf2.h"

#include "convert/otf2/otf2_properties.h"

#include "core/event_pack.h"
#include "core/memory.h"
#include "core/unfinished.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct otf2_writer *otf2_of(struct sink *sink)
{
    return (struct otf2_writer *)(void *)sink;
}

static enum status otf2_begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    (void)err;
    otf2_of(sink)->defs = otf2_of(sink)->writer.defs = defs;
    return STATUS_OK;
}

/* Two groups belong together if their records are adjacent. */
static void note_sides(struct otf2_writer *otf2, const struct event *event)
{
    uint64_t key = map_pair(event->process, event->thread);
    if (event->partner_comm < 0)
        return;
    if (event->value == COMM_STEP_LOCAL)
        *map_put(&otf2->local_side, key, 0) = (uint64_t)event->partner_comm;
    const uint64_t *local = map_find(&otf2->local_side, key);
    if (event->value != COMM_STEP_REMOTE || !local || *local == (uint64_t)event->partner_comm)
        return;
    uint64_t side = *local;
    *map_put(&otf2->other_side, side, 0) = (uint64_t)event->partner_comm;
    *map_put(&otf2->other_side, (uint64_t)event->partner_comm, 0) = side;
}

/* The library writes a location as a whole, in order of time; the sorter keeps ties in the order they came in. */
static enum status sort_event(struct otf2_writer *otf2, const struct event *event, const unsigned char *arena,
                              unsigned char *packed, struct error *err)
{
    struct sort_key key = {map_pair(event->process, event->thread), sort_key_signed(event->time_ns)};
    return sorter_add(otf2->sorter, key, packed, event_pack(packed, event, arena), err);
}

static enum status sort_own(struct otf2_writer *otf2, const struct event *event, struct error *err)
{
    unsigned char packed[EVENT_PACK_MAX];
    return sort_event(otf2, event, NULL, packed, err);
}

static enum status otf2_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    struct otf2_writer *otf2 = otf2_of(sink);
    /* Room for the largest of the batch: payloads have no fixed limit. */
    size_t room = 0;
    for (size_t i = 0; i < batch->count; i++)
        if (batch->events[i].payload_length > room)
            room = batch->events[i].payload_length;
    unsigned char *packed = memory_resize(NULL, room + EVENT_PACK_MAX);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < batch->count && status == STATUS_OK; i++) {
        struct event event = batch->events[i];
        if (event.kind == EVENT_COMM_MADE)
            note_sides(otf2, &event);
        writer_lose(&otf2->writer, "clock shifts", event.kind == EVENT_SHIFT);
        if (!event_counts(&event))
            continue;
        if (!otf2->any || event.time_ns < otf2->least_ns)
            otf2->least_ns = event.time_ns;
        if (!otf2->any || event.time_ns > otf2->largest_ns)
            otf2->largest_ns = event.time_ns;
        otf2->any = true;
        status = otf2_follow_requests(otf2, &event, sort_own, err);
        if (status == STATUS_OK)
            status = sort_event(otf2, &event, batch->arena, packed, err);
    }
    free(packed);
    return status;
}

/* Without this callback the library does not write chunks, and then nothing. It must not write a record of its own for
   the flush either: hence no post_flush. */
static OTF2_FlushType flush_before(void *context, OTF2_FileType type, OTF2_LocationRef location, void *caller,
                                   bool final)
{
    (void)context;
    (void)type;
    (void)location;
    (void)caller;
    (void) final;
    return OTF2_FLUSH;
}

static bool begin_location(struct otf2_writer *otf2, uint32_t process, uint32_t thread)
{
    ARRAY_PUSH(otf2->locations, otf2->location_count, otf2->location_capacity,
               (struct otf2_written){process, thread, 0});
    /* Only for as long as no other location is added. */
    otf2->location = &otf2->locations[otf2->location_count - 1];
    otf2->events = OTF2_Archive_GetEvtWriter(otf2->archive, otf2_location_id(process, thread));
    return otf2->events != NULL;
}

/* Each is closed before the next is opened: a writer holds a chunk of 1 MB. */
static bool end_location(struct otf2_writer *otf2)
{
    if (!otf2->events)
        return true;
    otf2_write_end(otf2);
    bool fine = OTF2_Archive_CloseEvtWriter(otf2->archive, otf2->events) == OTF2_SUCCESS;
    otf2->events = NULL;
    return fine;
}

/* Ranks without events are locations, too: communicators name them. */
static bool skip_to(struct otf2_writer *otf2, uint32_t *next, uint32_t process)
{
    bool fine = true;
    for (; *next < process && *next < otf2->defs->processes && fine; ++*next)
        fine = begin_location(otf2, *next, 0) && end_location(otf2);
    return fine;
}

static enum status cannot(struct otf2_writer *otf2, struct error *err)
{
    if (otf2->fault.kind != ERROR_NONE)
        *err = otf2->fault;
    else
        error_set(err, ERROR_OUTPUT, "%s: libotf2 cannot write this archive", otf2->path);
    return STATUS_FAILED;
}

static enum status write_all_events(struct otf2_writer *otf2, struct error *err)
{
    struct sort_key key, last = {UINT64_MAX, 0};
    const void *packed;
    size_t length;
    uint32_t next = 0;
    enum status status = sorter_rewind(otf2->sorter, err);
    while (status == STATUS_OK && (status = sorter_next(otf2->sorter, &key, &packed, &length, err)) == STATUS_OK) {
        uint32_t process = (uint32_t)(key.major >> 32), thread = (uint32_t)key.major;
        if (key.major != last.major) {
            if (!end_location(otf2) || !skip_to(otf2, &next, process))
                return cannot(otf2, err);
            /* The main thread, too, as it is what COMM_LOCATIONS names. */
            if (thread > 0 && next == process && !(begin_location(otf2, process, 0) && end_location(otf2)))
                return cannot(otf2, err);
            next = process + 1;
            if (!begin_location(otf2, process, thread))
                return cannot(otf2, err);
        }
        last = key;
        struct event event;
        event_unpack(&event, packed);
        /* Time and process are not packed: they are the key (sort_key_signed turned the time's sign bit). */
        event.time_ns = (int64_t)(key.minor ^ UINT64_C(1) << 63);
        event.process = process;
        otf2_write_event(otf2, &event, packed);
    }
    if (status != STATUS_END)
        return status;
    if (!end_location(otf2) || !skip_to(otf2, &next, otf2->defs->processes) || otf2->fault.kind != ERROR_NONE)
        return cannot(otf2, err);
    return STATUS_OK;
}

/* Empty, but without them readers warn that there are none. */
static bool write_local_defs(struct otf2_writer *otf2)
{
    bool fine = OTF2_Archive_OpenDefFiles(otf2->archive) == OTF2_SUCCESS;
    for (size_t i = 0; i < otf2->location_count && fine; i++) {
        OTF2_DefWriter *local = OTF2_Archive_GetDefWriter(
            otf2->archive, otf2_location_id(otf2->locations[i].process, otf2->locations[i].thread));
        fine = local && OTF2_Archive_CloseDefWriter(otf2->archive, local) == OTF2_SUCCESS;
    }
    return fine && OTF2_Archive_CloseDefFiles(otf2->archive) == OTF2_SUCCESS;
}

static enum status write_archive(struct otf2_writer *otf2, struct error *err)
{
    static const OTF2_FlushCallbacks flushing = {.otf2_pre_flush = flush_before};
    otf2->archive = OTF2_Archive_Open(otf2->temporary, "traces", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_EVENTS_DEFAULT,
                                      OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (!otf2->archive || OTF2_Archive_SetFlushCallbacks(otf2->archive, &flushing, NULL) != OTF2_SUCCESS ||
        OTF2_Archive_SetSerialCollectiveCallbacks(otf2->archive) != OTF2_SUCCESS ||
        OTF2_Archive_SetCreator(otf2->archive, OTF2_CREATOR) != OTF2_SUCCESS || !otf2_write_properties(otf2) ||
        OTF2_Archive_OpenEvtFiles(otf2->archive) != OTF2_SUCCESS)
        return cannot(otf2, err);
    otf2->attributes = OTF2_AttributeList_New();
    /* Time stamps are unsigned. */
    otf2->shift_ns = otf2->any && otf2->least_ns < 0 ? -otf2->least_ns : 0;
    writer_lose(&otf2->writer, "times before 0: all are shifted", otf2->shift_ns > 0);
    /* String 0 is the empty one, as Vampir expects. Texts of marks are numbered while events are written, before the
       definitions that hold them. */
    otf2_text_number(otf2, "");
    otf2_number_comms(otf2);
    enum status status = write_all_events(otf2, err);
    if (status != STATUS_OK)
        return status;
    if (OTF2_Archive_CloseEvtFiles(otf2->archive) != OTF2_SUCCESS || !write_local_defs(otf2) || !otf2_write_defs(otf2))
        return cannot(otf2, err);
    OTF2_ErrorCode code = OTF2_Archive_Close(otf2->archive);
    otf2->archive = NULL;
    if (code != OTF2_SUCCESS)
        return cannot(otf2, err);
    otf2_write_id(otf2->temporary);
    return STATUS_OK;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    (void)kind;
    (void)place;
    return remove(path);
}

static void remove_directory(const char *path)
{
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Puts the archive in its place; only an archive is replaced. */
static enum status put_in_place(struct otf2_writer *otf2, struct error *err)
{
    char *anchor;
    if (asprintf(&anchor, "%s/traces.otf2", otf2->path) < 0)
        return error_set(err, ERROR_OUTPUT, "no memory");
    /* Any directory may be named by mistake: one without our anchor file must be empty to be replaced. */
    bool there = access(otf2->path, F_OK) == 0, archive = access(anchor, F_OK) == 0;
    free(anchor);
    if (there && !otf2->writer.replace)
        return error_set(err, ERROR_OUTPUT, "%s: exists (-f replaces it)", otf2->path);
    if (there && !archive && rmdir(otf2->path) != 0)
        return error_set(err, ERROR_OUTPUT, "%s: exists, and is no archive of ours: remove it first", otf2->path);
    if (there && archive)
        remove_directory(otf2->path);
    if (rename(otf2->temporary, otf2->path) != 0)
        return error_set_errno(err, ERROR_OUTPUT, "%s: cannot write", otf2->path);
    unfinished_drop(otf2->unfinished);
    free(otf2->temporary);
    otf2->temporary = NULL;
    return STATUS_OK;
}

static enum status otf2_end(struct sink *sink, const struct trace_end *end, struct error *err)
{
    struct otf2_writer *otf2 = otf2_of(sink);
    (void)end;
    otf2->path = memory_copy_string(otf2->writer.path);
    /* Asked here and in put_in_place: before the work, and again since others may have written meanwhile. */
    if (access(otf2->path, F_OK) == 0 && !otf2->writer.replace)
        return error_set(err, ERROR_OUTPUT, "%s: exists (-f replaces it)", otf2->path);
    if (asprintf(&otf2->temporary, "%s.XXXXXX", otf2->path) < 0 ||
        !unfinished_make_directory(otf2->temporary, &otf2->unfinished))
        return error_set_errno(err, ERROR_OUTPUT, "%s: cannot write", otf2->path);
    /* mkdtemp makes directories that only their owner can read. */
    (void)chmod(otf2->temporary, 0755);
    /* The library allocates 1 MB for the events of each location, and 4 MB for its definitions. */
    memory_keep_freed(true);
    enum status status = write_archive(otf2, err);
    memory_keep_freed(false);
    return status == STATUS_OK ? put_in_place(otf2, err) : status;
}

static struct writer *otf2_create(void)
{
    struct otf2_writer *otf2 = memory_new(sizeof *otf2);
    otf2->writer.sink = (struct sink){.begin = otf2_begin, .events = otf2_events, .end = otf2_end};
    otf2->sorter = sorter_new(WRITER_SORT_MEMORY);
    return &otf2->writer;
}

static void otf2_free(struct writer *writer)
{
    struct otf2_writer *otf2 = (struct otf2_writer *)(void *)writer;
    if (otf2->archive)
        OTF2_Archive_Close(otf2->archive);
    if (otf2->temporary) {
        remove_directory(otf2->temporary);
        unfinished_drop(otf2->unfinished);
    }
    if (otf2->attributes)
        OTF2_AttributeList_Delete(otf2->attributes);
    sorter_free(otf2->sorter);
    for (size_t i = 0; i < otf2->string_count; i++)
        free(otf2->strings[i]);
    free(otf2->strings);
    map_clear(&otf2->string_ids);
    map_clear(&otf2->other_side);
    map_clear(&otf2->local_side);
    map_clear(&otf2->inters);
    map_clear(&otf2->requests);
    otf2_followed_clear(&otf2->incoming);
    map_clear(&otf2->metric_numbers);
    map_clear(&otf2->nodes);
    free(otf2->metrics);
    free(otf2->comms);
    free(otf2->windows);
    free(otf2->locations);
    free(otf2->stack);
    free(otf2->call);
    free(otf2->pending);
    free(otf2->temporary);
    free(otf2->path);
    free(otf2);
}

const struct writer_format writer_format_otf2 = {
    .name = "otf2", .title = "OTF2", .suffix = ".otf2", .directory = true, .create = otf2_create, .dispose = otf2_free};
