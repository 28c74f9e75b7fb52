/* SPDX-License-Identifier: BSD-3-Clause */
/* Of a reader that was opened late: what was left out, handed to a sink. */
#include "convert/record/read_record.h"

#include "convert/record/record_past.h"
#include "convert/record/record_streams.h"
#include "convert/record/record_translate.h"
#include "core/memory.h"
#include "core/numbers.h"

#include <string.h>

enum { BUSY_MAX = 1 << 24, PAUSE_BYTES = 64 << 20 /* of all files together */ };

/* The past of one file on its way to a sink. */
struct passing {
    struct reader *reader;
    const struct past_sink *sink;
    struct record_past *past;
    struct record_stream stream;
    struct batch *batch;
    uint8_t *busy; /* by PROGRESS_NS of the run's time: somebody made progress then */
    size_t busy_count;
};

static void pass_batch(struct passing *passing)
{
    if (passing->batch->count > 0)
        passing->sink->events(passing->sink->context, passing->batch);
    batch_clear(passing->batch);
}

/* The communicator of what the file counted; false: it is not known. */
static bool pass_on(const struct passing *passing, uint32_t comm, struct event *event)
{
    struct record_state *state = passing->reader->state;
    const struct record_file *file = &state->run.files[passing->stream.file];
    const struct record_comm_place *place = record_stream_comm(state, &passing->stream, comm);
    *event = EVENT_NOTHING;
    event->time_ns = passing->stream.time_ns;
    event->process = file->process;
    event->thread = file->header.thread;
    event->comm = place ? place->comm : 0;
    return place && !place->foreign;
}

static void pass_collectives(struct passing *passing)
{
    const struct record_state *state = passing->reader->state;
    struct record_past *past = passing->past;
    for (size_t i = 0; i < past->collective_count; i++) {
        const struct record_past_collectives *collectives = &past->collectives[i];
        uint32_t states[RECORD_PAST_LAST];
        size_t last = (size_t)smaller(collectives->known, (uint64_t)RECORD_PAST_LAST);
        struct event event;
        for (size_t k = 0; k < last; k++)
            states[k] = state->run.states[collectives->last[(collectives->count - last + 1 + k) % RECORD_PAST_LAST]];
        (void)pass_on(passing, collectives->comm, &event);
        passing->sink->collectives(passing->sink->context, &event, collectives->count, states, last);
    }
    past->collective_count = 0;
}

/* What was counted before it goes first: the order of collectives matters. */
static void pass_event(void *context, const struct record_base *record)
{
    struct passing *passing = context;
    if (passing->past->collective_count > 0 || passing->batch->count + EVENTS_PER_RECORD > BATCH_EVENTS) {
        pass_batch(passing);
        pass_collectives(passing);
    }
    passing->stream.record = record;
    record_stream_set_time(passing->reader->state, &passing->stream, record->ticks);
    record_translate(passing->reader, &passing->stream, passing->batch);
}

static void pass_last(struct passing *passing)
{
    struct record_state *state = passing->reader->state;
    const struct record_past *past = passing->past;
    const struct record_file *file = &state->run.files[passing->stream.file];
    struct event event;
    if (!past->last_ticks)
        return;
    passing->stream.time_ns = INT64_MIN;
    passing->stream.knot = 0;
    record_stream_set_time(state, &passing->stream, past->last_ticks);
    (void)pass_on(passing, RECORD_WORLD, &event);
    event.state = state->run.states[past->function];
    uint32_t place = past->site < file->site_count ? file->sites[past->site].place : 0;
    event.site = place ? state->run.places[place - 1].site : 0;
    passing->sink->progress(passing->sink->context, &event, past->failed);
}

static void pass_messages(struct passing *passing)
{
    struct record_state *state = passing->reader->state;
    const struct record_file *file = &state->run.files[passing->stream.file];
    for (size_t i = 0; i < passing->past->channel_count; i++) {
        const struct record_past_channel *channel = &passing->past->channels[i];
        struct event event;
        if (!pass_on(passing, channel->comm, &event))
            continue;
        const struct record_comm_place *place = record_stream_comm(state, &passing->stream, channel->comm);
        uint32_t site = channel->site < file->site_count ? file->sites[channel->site].place : 0;
        event.kind = channel->kind == RECORD_SEND ? EVENT_SEND : EVENT_RECEIVE;
        event.partner = record_partner(passing->reader->defs, place, channel->partner);
        event.partner_comm = place->partner;
        event.tag = channel->tag;
        event.state = state->run.states[channel->function];
        event.site = site ? state->run.places[site - 1].site : 0;
        passing->sink->messages(passing->sink->context, &event, channel->count);
    }
}

/* From one time to another. */
static void pass_progress(void *context, int64_t from_ticks, int64_t to_ticks)
{
    struct passing *passing = context;
    struct record_state *state = passing->reader->state;
    int64_t at[2], ticks[] = {from_ticks, to_ticks}, bin_ns = passing->sink->least_pause_ns / 2;
    for (size_t i = 0; i < 2; i++) {
        struct record_stream stream = {
            .file = passing->stream.file, .time_ns = INT64_MIN, .knot = passing->stream.knot};
        record_stream_set_time(state, &stream, ticks[i]);
        at[i] = larger(stream.time_ns, INT64_C(0)) / bin_ns;
    }
    /* In a damaged recording the first may be after the second. */
    if (at[1] >= BUSY_MAX || at[0] > at[1])
        return;
    if ((size_t)at[1] >= passing->busy_count) {
        size_t count = 2 * ((size_t)at[1] + 1);
        passing->busy = memory_resize(passing->busy, count);
        memset(passing->busy + passing->busy_count, 0, count - passing->busy_count);
        passing->busy_count = count;
    }
    memset(passing->busy + at[0], 1, (size_t)(at[1] - at[0]) + 1);
}

static int64_t longest_pause(const struct passing *passing)
{
    size_t longest = 0, idle = 0;
    bool begun = false;
    for (size_t i = 0; i < passing->busy_count; i++) {
        if (passing->busy[i] && begun)
            longest = larger(longest, idle);
        begun |= passing->busy[i];
        idle = passing->busy[i] ? 0 : idle + 1;
    }
    return longest > 0 ? (int64_t)(longest + 1) * (passing->sink->least_pause_ns / 2) : 0;
}

static bool pass_file(struct passing *passing)
{
    struct record_state *state = passing->reader->state;
    const struct record_file *file = &state->run.files[passing->stream.file];
    const struct record_clock_map *map = record_stream_clock(state, &passing->stream);
    if (!file->skipped_to || map->knot_count == 0)
        return true;
    struct record_past past = {.event = pass_event,
                               .progress = pass_progress,
                               .context = passing,
                               .pause_bytes = PAUSE_BYTES / state->run.file_count,
                               .progress_ticks =
                                   (int64_t)((double)passing->sink->least_pause_ns / 2 / map->knots[0].rate)};
    for (size_t f = 0; f < RECORD_FUNCTIONS_MAX; f++)
        if (state->run.states[f] != UINT32_MAX)
            past.needs[f] = (uint8_t)passing->sink->need(passing->sink->context, state->run.states[f]);
    passing->past = &past;
    bool whole = record_past_read(&past, file);
    pass_batch(passing);
    pass_collectives(passing);
    pass_messages(passing);
    pass_last(passing);
    record_past_clear(&past);
    state->current[passing->stream.file] = (struct record_current){0};
    return whole;
}

bool record_reader_past(struct reader *reader, const struct past_sink *sink)
{
    struct record_state *state = reader->state;
    struct passing passing = {.reader = reader, .sink = sink, .batch = memory_new(sizeof *passing.batch)};
    uint64_t events = state->foreign;
    bool whole = true;
    for (uint32_t i = 0; i < state->run.file_count && whole; i++) {
        passing.stream = (struct record_stream){.file = i, .time_ns = INT64_MIN};
        whole = pass_file(&passing);
    }
    state->foreign = events;
    sink->pause(sink->context, longest_pause(&passing));
    batch_free(passing.batch);
    free(passing.batch);
    free(passing.busy);
    return whole;
}
