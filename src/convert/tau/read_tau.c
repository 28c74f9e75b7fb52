/* SPDX-License-Identifier: BSD-3-Clause */
/* TAU's own traces: a file of records for each thread and one of definitions for each node, or both merged
   (tau_merge). Facts: tau(5). */
#include "convert/tau/tau_defs.h"
#include "convert/tau/tau_file.h"

#include "convert/reader.h"
#include "core/directory.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NODES = 1 << 16 };

/* The file of a thread. */
struct tau_thread {
    char *path;
    uint32_t node, thread;
};

/* A file that is being read; of a merged trace the reader's input. */
struct tau_stream {
    struct input *input;
    struct tau_layout layout;
    struct tau_record record;      /* the next one */
    uint64_t byte;                 /* where it is */
    const struct tau_thread *from; /* NULL: of a merged trace */
};

struct tau_state {
    struct tau_defs defs;
    struct tau_thread *thread; /* by node, then thread; none: a merged trace */
    size_t thread_count, thread_capacity;
    size_t begun, end;         /* threads whose node's turn has come, and where those that are wanted end */
    struct tau_stream *stream; /* of the node at hand */
    size_t stream_count, stream_capacity;
    struct map triggers;  /* (node, thread) -> what is half written */
    bool *named, *closed; /* by node: it has a thread; its first thread's trace came to its end */
};

static int tau_probe(const unsigned char *data, size_t size)
{
    struct tau_layout layout;
    return tau_layout_of(data, size, &layout);
}

/* "tautrace.NODE.CONTEXT.THREAD.trc" */
static bool parse_name(const char *name, uint32_t *node, uint32_t *thread)
{
    unsigned context;
    int end = 0;
    return sscanf(name, "tautrace.%" SCNu32 ".%u.%" SCNu32 ".trc%n", node, &context, thread, &end) == 3 && end > 0 &&
           name[end] == '\0' && *node < NODES && *thread < NODES;
}

/* NAME.edf for NAME.trc (also packed), else tau.edf beside it, as tau_merge names it. free() it. */
static char *merged_edf(const char *path)
{
    static const char *const suffixes[] = {".gz", ".zst", ".trc"};
    size_t length = strlen(path), name = length - strlen(text_file_name(path));
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t suffix = strlen(suffixes[i]);
        if (length > suffix && memcmp(path + length - suffix, suffixes[i], suffix) == 0)
            length -= suffix;
    }
    char *edf;
    if (asprintf(&edf, "%.*s.edf", (int)length, path) < 0)
        memory_failed();
    if (access(edf, F_OK) == 0)
        return edf;
    free(edf);
    if (asprintf(&edf, "%.*stau.edf", (int)name, path) < 0)
        memory_failed();
    return edf;
}

/* A merged trace with its definitions: its path, to be freed; else NULL. */
static char *merged_in(const char *directory, const char *name)
{
    if (!text_ends_with(name, strlen(name), ".trc"))
        return NULL;
    char *path = directory_join(directory, name), *edf = merged_edf(path);
    if (access(edf, F_OK) != 0) {
        free(path);
        path = NULL;
    }
    free(edf);
    return path;
}

/* The trace in a directory: files of threads, or the only merged one. */
static char *tau_find_in(const char *directory)
{
    size_t count = 0, merged = 0;
    char **names = directory_names(directory, &count), *found = NULL;
    uint32_t node, thread;
    for (size_t i = 0; i < count && !found; i++)
        if (parse_name(names[i], &node, &thread))
            found = directory_join(directory, names[i]);
    bool threads = found;
    for (size_t i = 0; i < count && !threads; i++) {
        char *path = merged_in(directory, names[i]);
        merged += path != NULL;
        if (found)
            free(path);
        else
            found = path;
    }
    if (names)
        directory_names_free(names, count);
    if (merged <= 1)
        return found;
    free(found); /* two runs: which one is meant must be said */
    return NULL;
}

static int by_place(const void *left, const void *right)
{
    const struct tau_thread *a = left, *b = right;
    return a->node != b->node ? order_by(a->node, b->node) : order_by(a->thread, b->thread);
}

static enum status find_threads(struct tau_state *state, const char *directory, struct error *err)
{
    size_t count;
    char **names = directory_names(directory, &count);
    if (!names)
        return error_set_errno(err, ERROR_INPUT, "%s: cannot be listed", directory);
    for (size_t i = 0; i < count; i++) {
        struct tau_thread thread = {0};
        if (!parse_name(names[i], &thread.node, &thread.thread))
            continue;
        thread.path = directory_join(directory, names[i]);
        ARRAY_PUSH(state->thread, state->thread_count, state->thread_capacity, thread);
    }
    directory_names_free(names, count);
    qsort(state->thread, state->thread_count, sizeof *state->thread, by_place);
    return STATUS_OK;
}

static void define_thread(struct reader *reader, uint32_t node, uint32_t thread, char *host)
{
    struct tau_state *state = reader->state;
    struct location_def location = {.process = node, .thread = thread, .kind = LOCATION_THREAD, .host = host};
    state->named[node] = true;
    reader->defs->processes = larger(reader->defs->processes, node + 1);
    reader->defs->threads = larger(reader->defs->threads, thread + 1);
    if (host || thread > 0)
        defs_add_location(reader->defs, &location);
}

/* Definitions of all nodes, each in a file of its own. */
static enum status define_nodes(struct reader *reader, const char *directory, struct error *err)
{
    struct tau_state *state = reader->state;
    enum status status = STATUS_OK;
    char *host = NULL;
    for (size_t i = 0; i < state->thread_count && status == STATUS_OK; i++) {
        const struct tau_thread *thread = &state->thread[i];
        if (i == 0 || thread->node != state->thread[i - 1].node) {
            char name[32];
            snprintf(name, sizeof name, "events.%u.edf", (unsigned)thread->node);
            char *path = directory_join(directory, name);
            free(host);
            host = NULL;
            status = tau_defs_read(&state->defs, reader->defs, path, thread->node, false, &host, err);
            free(path);
        }
        define_thread(reader, thread->node, thread->thread, host);
    }
    free(host);
    return status;
}

/* STATUS_END: there is no whole record left. */
static enum status take_record(struct tau_stream *stream, struct error *err)
{
    size_t size = tau_record_size(&stream->layout);
    enum status status = input_need(stream->input, size, err);
    if (status != STATUS_OK)
        return status;
    stream->byte = stream->input->offset;
    stream->record = tau_record_at(stream->input->at, &stream->layout);
    input_consume(stream->input, size);
    if (stream->from) {
        /* Records from before the node was known have another one. */
        stream->record.node = stream->from->node;
        stream->record.thread = stream->from->thread;
    }
    return STATUS_OK;
}

/* The layout of an input that is at its first byte. STATUS_END: it has no record. */
static enum status begin_stream(struct tau_stream *stream, struct error *err)
{
    if (input_need(stream->input, PROBE_SIZE, err) == STATUS_FAILED)
        return STATUS_FAILED;
    size_t size = smaller(input_available(stream->input), (size_t)PROBE_SIZE);
    return tau_layout_of(stream->input->at, size, &stream->layout) > 0 ? STATUS_OK : STATUS_END;
}

/* The first pass over a merged trace: which threads there are. */
static enum status define_merged(struct reader *reader, struct error *err)
{
    struct tau_state *state = reader->state;
    struct tau_stream stream = {.input = reader->input};
    char *host = NULL, *edf = merged_edf(reader->input->path);
    enum status status = begin_stream(&stream, err);
    if (status == STATUS_OK)
        status = tau_defs_read(&state->defs, reader->defs, edf, 0, true, &host, err);
    free(edf);
    bool dated = false;
    struct map seen = {0};
    while (status == STATUS_OK && (status = take_record(&stream, err)) == STATUS_OK) {
        const struct tau_record *record = &stream.record;
        const struct tau_event *event = tau_defs_find(&state->defs, 0, record->event);
        uint64_t place = map_pair(record->node, record->thread);
        if (event && event->kind == TAU_CLOCK && !dated) {
            property_add_date(&reader->defs->properties, record->parameter);
            dated = true;
        }
        if (event && !map_find(&seen, place)) {
            map_put(&seen, place, 1);
            define_thread(reader, record->node, record->thread, NULL);
        }
    }
    map_clear(&seen);
    if (status == STATUS_FAILED)
        return status;
    return input_rewind(reader->input, err);
}

/* The time of day stands in the second record of each thread. */
static enum status find_date(struct reader *reader, struct error *err)
{
    struct tau_state *state = reader->state;
    struct tau_stream stream = {.input = input_open_found(state->thread[0].path, err), .from = &state->thread[0]};
    if (!stream.input)
        return STATUS_FAILED;
    enum status status = begin_stream(&stream, err);
    for (unsigned i = 0; i < 2 && status == STATUS_OK; i++) {
        status = take_record(&stream, err);
        const struct tau_event *event =
            status == STATUS_OK ? tau_defs_find(&state->defs, stream.from->node, stream.record.event) : NULL;
        if (event && event->kind == TAU_CLOCK)
            property_add_date(&reader->defs->properties, stream.record.parameter);
    }
    input_close(stream.input);
    return status == STATUS_FAILED ? status : STATUS_OK;
}

/* Nodes are read one after the other. */

static size_t node_end(const struct tau_state *state, size_t at)
{
    size_t end = at;
    while (end < state->thread_count && state->thread[end].node == state->thread[at].node)
        end++;
    return end;
}

static uint64_t *tau_process_bytes(const struct reader *reader, size_t *count)
{
    const struct tau_state *state = reader->state;
    if (state->thread_count == 0)
        return NULL;
    uint64_t *bytes = memory_new(state->thread_count * sizeof *bytes);
    *count = 0;
    for (size_t at = 0; at < state->thread_count; ++*count)
        for (size_t end = node_end(state, at); at < end; at++) {
            struct stat about;
            if (stat(state->thread[at].path, &about) == 0)
                bytes[*count] += (uint64_t)about.st_size;
        }
    return bytes;
}

static enum status tau_open(struct reader *reader, struct error *err)
{
    struct tau_state *state = reader->state;
    const char *path = reader->input->path;
    uint32_t node, thread;
    if (!path)
        return error_set(err, ERROR_INPUT, "%s: a trace of TAU needs the files beside it: give its path",
                         reader->input->name);
    state->named = memory_new(NODES * sizeof *state->named);
    state->closed = memory_new(NODES * sizeof *state->closed);
    const char *name = text_file_name(path);
    if (!parse_name(name, &node, &thread))
        return define_merged(reader, err);
    char *directory = name > path ? strndup(path, (size_t)(name - path - 1)) : memory_copy_string(".");
    const char *listed = *directory ? directory : "/";
    enum status status = find_threads(state, listed, err);
    if (status == STATUS_OK)
        status = define_nodes(reader, listed, err);
    if (status == STATUS_OK)
        status = find_date(reader, err);
    size_t nodes = 0;
    uint64_t *bytes = tau_process_bytes(reader, &nodes);
    for (size_t i = 0; i < nodes; i++)
        reader->total += bytes[i];
    free(bytes);
    reader->used = reader->total;
    state->end = state->thread_count;
    free(directory);
    return status;
}

/* Events */

/* TAU writes a value between two zeros, for viewers: it stands for itself. False: nothing to emit yet. */
static bool take_trigger(struct tau_state *state, const struct tau_record *record)
{
    enum { OPEN = 0, VALUE = 1 };
    uint64_t *half = map_put(&state->triggers, map_pair(record->node, record->thread), UINT64_MAX);
    uint64_t open = record->event << 1 | OPEN, value = record->event << 1 | VALUE;
    bool closes = *half == value && record->parameter == 0, given = *half == open;
    if (closes)
        *half = UINT64_MAX;
    else if (given)
        *half = value;
    else if (record->parameter == 0)
        *half = open;
    return given || (!closes && record->parameter != 0);
}

/* Tag, partner and bytes share the parameter (TauTraceMsg in src/Profile/Tracer.cpp): 16, 16 and 26 bits. */
static void set_message(struct event *event, const struct tau_record *record, bool sends)
{
    uint64_t bits = (uint64_t)record->parameter;
    int64_t bytes = (int64_t)((bits & 0xFFFF) | (bits << 22 >> 54 << 16));
    event->kind = sends ? EVENT_SEND : EVENT_RECEIVE;
    event->partner = (int32_t)((bits >> 24 & 0xFF) | (bits >> 56 & 0xFF) << 8);
    event->tag = (int32_t)((bits >> 16 & 0xFF) | (bits >> 48 & 0xFF) << 8);
    if (sends)
        event->bytes_sent = bytes;
    else
        event->bytes_received = bytes;
}

/* False: the record is no event of the program. */
static bool event_of(struct reader *reader, const struct tau_stream *stream, struct event *event)
{
    struct tau_state *state = reader->state;
    const struct tau_record *record = &stream->record;
    const struct tau_event *known = tau_defs_find(&state->defs, stream->from ? record->node : 0, record->event);
    *event = EVENT_NOTHING;
    event->process = record->node;
    event->thread = record->thread;
    event->time_ns = (int64_t)(record->time_us * 1000);
    if (record->time_us > INT64_MAX / 1000) {
        damage_note(&reader->damage, stream->input->name, stream->byte, "a time that cannot be");
        return false;
    }
    switch (known ? known->kind : TAU_NOTHING) {
    case TAU_STATE:
        event->kind = record->parameter == 1 ? EVENT_ENTER : EVENT_LEAVE;
        event->state = known->index;
        if (record->parameter == 1 || record->parameter == -1)
            return true;
        damage_note(&reader->damage, stream->input->name, stream->byte, "neither an entry nor an exit");
        return false;
    case TAU_COUNTER:
        event->kind = EVENT_COUNTER;
        event->state = known->index;
        event->value = record->parameter;
        return take_trigger(state, record);
    case TAU_SEND:
    case TAU_RECEIVE:
        set_message(event, record, known->kind == TAU_SEND);
        return true;
    case TAU_CLOSE:
        state->closed[record->node] |= record->thread == 0;
        return false;
    case TAU_CLOCK:
    case TAU_NOTHING:
        if (!known)
            reader_count(reader, "record of an event without a definition", 1);
        return false;
    }
    return false;
}

/* A file that ends. */
static void end_stream(struct reader *reader, size_t index)
{
    struct tau_state *state = reader->state;
    struct tau_stream *stream = &state->stream[index];
    uint64_t byte = stream->input->offset;
    if (byte == 0)
        damage_note(&reader->damage, stream->input->name, 0, "the file does not begin as a trace of TAU");
    else if (input_available(stream->input) > 0)
        damage_note(&reader->damage, stream->input->name, byte, "the file ends inside a record");
    else if (stream->from && stream->from->thread == 0 && !state->closed[stream->from->node])
        damage_note(&reader->damage, stream->input->name, byte, "the file ends without its end mark");
    if (stream->from && stream->input->fault)
        damage_note(&reader->damage, stream->input->name, stream->input->offset, "%s", stream->input->fault);
    if (stream->from)
        input_close(stream->input);
    state->stream[index] = state->stream[--state->stream_count];
}

static enum status add_stream(struct reader *reader, struct tau_stream stream, struct error *err)
{
    struct tau_state *state = reader->state;
    enum status status = begin_stream(&stream, err);
    if (status == STATUS_OK)
        status = take_record(&stream, err);
    ARRAY_PUSH(state->stream, state->stream_count, state->stream_capacity, stream);
    if (status == STATUS_END)
        end_stream(reader, state->stream_count - 1);
    return status == STATUS_FAILED ? status : STATUS_OK;
}

/* The files of the next node, or the merged one. STATUS_END: there is none. */
static enum status begin_node(struct reader *reader, struct error *err)
{
    struct tau_state *state = reader->state;
    if (state->thread_count == 0 && state->begun++ == 0)
        return add_stream(reader, (struct tau_stream){.input = reader->input}, err);
    if (state->begun >= state->end)
        return STATUS_END;
    uint32_t node = state->thread[state->begun].node;
    for (; state->begun < state->end && state->thread[state->begun].node == node; state->begun++) {
        const struct tau_thread *thread = &state->thread[state->begun];
        struct input *input = input_open_found(thread->path, err);
        if (!input || add_stream(reader, (struct tau_stream){.input = input, .from = thread}, err) != STATUS_OK)
            return STATUS_FAILED;
    }
    return STATUS_OK;
}

/* Threads of a node in order of time. */
static size_t earliest(const struct tau_state *state)
{
    size_t found = 0;
    for (size_t i = 1; i < state->stream_count; i++) {
        const struct tau_stream *one = &state->stream[i], *best = &state->stream[found];
        if (one->record.time_us < best->record.time_us ||
            (one->record.time_us == best->record.time_us && one->record.thread < best->record.thread))
            found = i;
    }
    return found;
}

static enum status tau_end(struct reader *reader)
{
    struct tau_state *state = reader->state;
    for (uint32_t node = 0; node < reader->defs->processes && state->thread_count == 0; node++)
        if (state->named[node] && !state->closed[node])
            reader_damage(reader, reader->input->offset, "process %u has no end mark", (unsigned)node);
    reader->complete = reader->damage.count == 0;
    if (state->defs.damaged > 0)
        reader_count(reader, "definition that cannot be read", state->defs.damaged);
    if (state->thread_count == 0)
        reader->used = reader->total = reader->input->offset;
    return STATUS_END;
}

static enum status tau_next(struct reader *reader, struct batch *batch, struct error *err)
{
    struct tau_state *state = reader->state;
    while (batch->count < BATCH_EVENTS) {
        enum status status = state->stream_count > 0 ? STATUS_OK : begin_node(reader, err);
        if (status == STATUS_END)
            return tau_end(reader);
        if (status != STATUS_OK)
            return status;
        if (state->stream_count == 0)
            continue;
        size_t index = earliest(state);
        struct tau_stream *stream = &state->stream[index];
        batch->count += event_of(reader, stream, &batch->events[batch->count]);
        status = take_record(stream, err);
        if (status == STATUS_FAILED)
            return status;
        if (status == STATUS_END)
            end_stream(reader, index);
    }
    return STATUS_OK;
}

static void tau_close(struct reader *reader)
{
    struct tau_state *state = reader->state;
    for (size_t i = 0; i < state->stream_count; i++)
        if (state->stream[i].from)
            input_close(state->stream[i].input);
    free(state->stream);
    for (size_t i = 0; i < state->thread_count; i++)
        free(state->thread[i].path);
    free(state->thread);
    free(state->named);
    free(state->closed);
    map_clear(&state->triggers);
    tau_defs_clear(&state->defs);
}

static void tau_select(struct reader *reader, size_t from, size_t to)
{
    struct tau_state *state = reader->state;
    size_t node = 0, at = 0;
    for (; node < from && at < state->thread_count; node++)
        at = node_end(state, at);
    state->begun = at;
    for (; node < to && at < state->thread_count; node++)
        at = node_end(state, at);
    state->end = at;
}

static const struct format_processes processes = {.bytes = tau_process_bytes, .select = tau_select};

const struct format format_tau = {.name = "tau",
                                  .title = "TAU",
                                  .suffix = ".trc",
                                  .probe = tau_probe,
                                  .two_passes = true,
                                  .state_size = sizeof(struct tau_state),
                                  .open = tau_open,
                                  .next = tau_next,
                                  .close = tau_close,
                                  .processes = &processes,
                                  .find_in = tau_find_in};
