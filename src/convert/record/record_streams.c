/* SPDX-License-Identifier: BSD-3-Clause */
/* Each file is in order, so that the merge holds one record of each: the files are in a heap by the time of their next
   record. */
#include "convert/record/record_streams.h"

#include "core/heap.h"
#include "core/memory.h"
#include "core/numbers.h"

enum {
    WINDOWS_MEMORY = 64 << 20, /* bytes, of all files together */
    WINDOW_MIN = 4096
};

static bool stream_before(const void *context, const void *left_stream, const void *right_stream)
{
    const struct record_stream *left = left_stream, *right = right_stream;
    (void)context;
    if (left->time_ns != right->time_ns)
        return left->time_ns < right->time_ns;
    return left->file < right->file;
}

static const struct heap_order BY_TIME = {sizeof(struct record_stream), stream_before, NULL};

/* Time must not go back, even in a damaged file. */
void record_stream_set_time(struct record_state *state, struct record_stream *stream, int64_t ticks)
{
    int64_t here_ns = record_clock_ns(record_stream_clock(state, stream), &stream->knot, ticks);
    int64_t time_ns =
        here_ns + record_run_offset(&state->run, record_stream_process(state, stream), here_ns) - state->begin_ns;
    const struct record_kept_stream *kept = state->run.files[stream->file].kept;
    if (kept) /* time stands still where something is left out */
        time_ns -= kept->shift_ns;
    if (kept && kept->outside && stream->time_ns != INT64_MIN)
        return;
    if (time_ns > stream->time_ns)
        stream->time_ns = time_ns;
}

/* The stream's next record, or the mark of its end. False: there is no more. */
static bool stream_next(struct record_state *state, struct record_stream *stream)
{
    struct record_file *file = &state->run.files[stream->file];
    stream->record = record_file_next(file);
    if (stream->record) {
        record_stream_set_time(state, stream, stream->record->ticks);
        return true;
    }
    /* What a handler wrote when the process crashed, or exit: these come after all records of the file. */
    if (record_pending_ended(file) && file->header.died_ticks < RECORD_TIME_MAX &&
        file->header.died_ticks > -RECORD_TIME_MAX) {
        record_stream_set_time(state, stream, file->header.died_ticks);
        return true;
    }
    /* A recording that reached a limit has a mark at its end, since what follows looks like computing. */
    if (file->header.reason == RECORD_GOES_ON || file->header.reason >= RECORD_REASONS)
        return false;
    int64_t ended_ticks = file->header.ended_ticks;
    if (ended_ticks > RECORD_TIME_MAX || ended_ticks < -RECORD_TIME_MAX)
        return false;
    record_stream_set_time(state, stream, ended_ticks);
    return true;
}

/* From the first record of a stream to the last part of its file. */
static void stream_skip(struct record_state *state, struct record_stream *stream)
{
    struct record_file *file = &state->run.files[stream->file];
    int64_t began_ns = stream->time_ns;
    if (!state->late_bytes || !record_file_skip(file, state->late_bytes))
        return;
    /* The number of communicators and the like is in the definitions: nothing else of the first record is needed. */
    stream->knot = 0;
    if (stream_next(state, stream))
        state->from_ns = larger(state->from_ns, stream->time_ns);
    else
        stream->time_ns = began_ns;
}

/* All streams at their first record; the earliest one is the trace's time 0. */
void record_streams_start(struct record_state *state)
{
    size_t files = state->run.file_count;
    /* The files share a fixed memory: 10,000 processes must not take 10 GB. */
    size_t window = WINDOWS_MEMORY / files;
    if (window < WINDOW_MIN)
        window = WINDOW_MIN;
    if (window > RECORD_WINDOW_MAX)
        window = RECORD_WINDOW_MAX;
    struct record_stream *streams = state->heap = memory_new(files * sizeof *streams);
    size_t count = 0;
    int64_t begin_ns = INT64_MAX;
    for (size_t i = 0; i < files; i++) {
        streams[count] = (struct record_stream){.file = (uint32_t)i, .time_ns = INT64_MIN};
        record_file_start(&state->run.files[i], window);
        /* A host whose clock readings are all invalid cannot be placed in time: reported by note_clocks. */
        if (record_stream_clock(state, &streams[count])->knot_count == 0 || !stream_next(state, &streams[count]))
            continue;
        if (streams[count].time_ns < begin_ns)
            begin_ns = streams[count].time_ns;
        stream_skip(state, &streams[count]);
        count++;
    }
    state->from_ns = larger(time_since(begin_ns, state->from_ns), INT64_C(0));
    state->current = memory_new(files * sizeof *state->current);
    state->openmp = memory_new(files * sizeof *state->openmp);
    state->begin_ns = begin_ns;
    state->count = count;
    for (size_t i = 0; i < count; i++)
        streams[i].time_ns -= begin_ns;
    heap_make(streams, count, &BY_TIME, NULL);
}

void record_streams_choose(struct reader *reader, const unsigned char *chosen)
{
    struct record_state *state = reader->state;
    size_t count = 0;
    for (size_t i = 0; i < state->count; i++) {
        uint32_t file = state->heap[i].file;
        if (chosen[state->run.process_of[file]])
            state->heap[count++] = state->heap[i];
        else
            record_file_stop(&state->run.files[file]);
    }
    state->count = count;
    heap_make(state->heap, count, &BY_TIME, NULL);
}

void record_streams_select(struct reader *reader, size_t from, size_t to)
{
    struct record_state *state = reader->state;
    unsigned char *chosen = memory_new(state->run.process_count);
    for (size_t i = from; i < to && i < state->run.process_count; i++)
        chosen[i] = 1;
    record_streams_choose(reader, chosen);
    free(chosen);
}

void record_streams_advance(struct record_state *state)
{
    struct record_stream *first = &state->heap[0];
    if (!first->record || !stream_next(state, first))
        state->count = heap_drop(state->heap, state->count, &BY_TIME, NULL);
    else
        heap_down(state->heap, state->count, 0, &BY_TIME, NULL);
}
