/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/record/record_endings.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/payload.h"

#include <string.h>

#define SEEN_NS INT64_C(500000000)

/* The number of a thread of the file's process. Of several with the same name the others have ended; -1: none. */
static int32_t thread_named(const struct record_state *state, const struct record_file *file, uint64_t self)
{
    int32_t found = -1;
    for (size_t i = 0; i < state->run.file_count; i++) {
        const struct record_file *other = &state->run.files[i];
        if (other->process == file->process && other->header.self == self && self != 0)
            found = larger(found, (int32_t)other->header.thread);
    }
    return found;
}

static void pending_event(struct record_state *state, const struct record_stream *stream, const struct defs *defs,
                          const struct record_pending_item *item, struct batch *batch)
{
    unsigned char payload[PENDING_MARK_SIZE];
    const struct record_file *file = &state->run.files[stream->file];
    const struct record_comm_place *place = record_stream_comm(state, stream, item->comm);
    struct pending pending = item->pending;
    if (pending.partner >= 0)
        pending.partner = place && !place->foreign ? record_partner(defs, place, pending.partner) : EVENT_UNKNOWN;
    if (pending.what == PENDING_THREAD)
        pending.tag = thread_named(state, file, item->self);
    struct event event = EVENT_NOTHING;
    event.time_ns = stream->time_ns;
    event.process = file->process;
    event.thread = file->header.thread;
    event.comm = place ? place->comm : 0;
    event.state = state->run.pending_mark - 1;
    payload_put_pending(payload, &pending);
    batch_set_payload(batch, record_add_event(batch, &event, EVENT_MARK), payload, sizeof payload);
}

void record_died_events(struct record_state *state, const struct record_stream *stream, const struct defs *defs,
                        struct batch *batch)
{
    struct record_current *current = &state->current[stream->file];
    const struct record_file *file = &state->run.files[stream->file];
    if (!state->run.pending_mark || !record_pending_ended(file))
        return;
    struct record_pending_items items = record_pending_of(file, &current->last);
    for (size_t i = 0; i < items.count && i < EVENTS_PER_RECORD - 1; i++)
        pending_event(state, stream, defs, &items.items[i], batch);
    free(items.items);
    current->reported = true;
}

/* On the trace's clock: a time of the process's host, which is that of its end. */
static int64_t end_time(struct record_state *state, const struct record_stream *stream, int64_t here_ns)
{
    const struct record_file *file = &state->run.files[stream->file];
    int64_t time_ns =
        here_ns + record_run_offset(&state->run, record_stream_process(state, stream), here_ns) - state->begin_ns;
    return file->kept ? time_ns - file->kept->shift_ns : time_ns;
}

/* When the process of a file was alive for all that is known, on the trace's clock. */
static int64_t alive_at(struct record_state *state, const struct record_stream *stream)
{
    return end_time(state, stream, state->run.recordings->alive_ns);
}

/* `alive` was read on the clock of the machine that merges: of processes elsewhere nothing is known after their last
   record. Where they were only seen, that says something if it was well after the last record of all. */
static bool alive_is_known(struct record_state *state, const struct record_stream *stream)
{
    const struct recordings *recordings = state->run.recordings;
    const struct record_file *file = &state->run.files[stream->file];
    if (!recordings->alive_ns || strcmp(file->header.host_name, state->host) != 0)
        return false;
    return !recordings->alive_least || time_since(state->last_ns, alive_at(state, stream)) >= SEEN_NS;
}

/* Until when the process of a file is known to have lived; never before what any recorded. */
static int64_t alive_until(struct record_state *state, const struct record_stream *stream)
{
    return alive_is_known(state, stream) ? larger(alive_at(state, stream), state->last_ns) : state->last_ns;
}

/* The others may have gone on: their marks, and so this one, are later than its end. */
static void date_death(struct record_state *state, struct record_stream *stream, int64_t last_ns,
                       struct pending *pending)
{
    int64_t died_ns = end_time(state, stream, state->run.files[stream->file].died_ns);
    died_ns = larger(died_ns, last_ns);
    stream->time_ns = larger(stream->time_ns, died_ns);
    int64_t since_ns = stream->time_ns - died_ns;
    pending->partitions = (int32_t)smaller(since_ns / 1000000000, INT64_C(0x7fffffff));
    pending->ready = (int32_t)(since_ns % 1000000000);
}

bool record_endings_report(struct record_state *state, const struct defs *defs, struct batch *batch)
{
    if (!state->run.pending_mark)
        return false;
    for (; state->ending_file < state->run.file_count; state->ending_file++) {
        struct record_ending *ending = &state->ending;
        struct record_stream stream = {.file = state->ending_file,
                                       .time_ns = state->current[state->ending_file].last_ns};
        const struct record_file *file = &state->run.files[stream.file];
        if (state->current[stream.file].reported || file->header.end == RECORD_FINALIZED ||
            record_stream_clock(state, &stream)->knot_count == 0)
            continue;
        if (!ending->items.items) {
            ending->items = record_pending_of(file, &state->current[stream.file].last);
            if (ending->items.items->pending.what == PENDING_ALIVE)
                ending->items.items->pending.tag = !alive_is_known(state, &stream);
        }
        stream.time_ns = alive_until(state, &stream);
        if (ending->items.items->pending.what == PENDING_DIED)
            date_death(state, &stream, state->current[stream.file].last_ns, &ending->items.items->pending);
        for (; ending->reported < ending->items.count; ending->reported++) {
            if (batch->count == BATCH_EVENTS)
                return true;
            pending_event(state, &stream, defs, &ending->items.items[ending->reported], batch);
        }
        free(ending->items.items);
        *ending = (struct record_ending){0};
    }
    return batch->count > 0;
}
