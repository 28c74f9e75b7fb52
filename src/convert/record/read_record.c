/* SPDX-License-Identifier: BSD-3-Clause */
/* The buffer files of a recording, merged by time. */
#include "convert/record/read_record.h"

#include "convert/record/read_record_summary.h"
#include "convert/record/record_endings.h"
#include "convert/record/record_streams.h"
#include "convert/record/record_totals.h"
#include "convert/record/record_translate.h"
#include "core/directory.h"
#include "core/memory.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* One record at a time from the file whose next one is earliest: the heap's first. */
static enum status record_next(struct reader *reader, struct batch *batch, struct error *err)
{
    (void)err;
    struct record_state *state = reader->state;
    /* Room for all events of any record, so that none has to be continued in the next batch. */
    while (batch->count + EVENTS_PER_RECORD <= BATCH_EVENTS) {
        if (state->openmp_end.active) {
            size_t already = batch->count;
            record_openmp_end_next(&state->run, state->openmp, &state->openmp_end, batch);
            state->events += batch->count - already;
            continue;
        }
        if (state->count == 0) {
            size_t already = batch->count;
            bool more = record_endings_report(state, reader->defs, batch);
            state->events += batch->count - already;
            if (more)
                return STATUS_OK;
            record_note_missing(reader);
            return STATUS_END;
        }
        struct record_stream *first = &state->heap[0];
        size_t before = batch->count;
        record_translate(reader, first, batch);
        state->current[first->file].last_ns = first->time_ns;
        if (first->time_ns > state->last_ns)
            state->last_ns = first->time_ns;
        for (size_t i = before; i < batch->count; i++)
            state->events += event_counts(&batch->events[i]);
        record_streams_advance(state);
    }
    return STATUS_OK;
}

static void record_close(struct reader *reader)
{
    struct record_state *state = reader->state;
    record_run_close(&state->run);
    free(state->ending.items.items);
    free(state->heap);
    free(state->current);
    free(state->openmp);
    if (state->own)
        recordings_close(state->own);
    free(state->own);
}

/* The trace of the recordings, which must stay. */
static enum status record_begin(struct reader *reader, const struct recordings *recordings, size_t trace,
                                struct error *err)
{
    struct record_state *state = reader->state;
    state->from_ns = INT64_MIN;
    if (record_run_open(&state->run, recordings, trace, reader->defs, err) != STATUS_OK)
        return STATUS_FAILED;
    record_plan_make(&state->run, reader->defs, &state->plan);
    gethostname(state->host, sizeof state->host - 1);
    record_streams_start(state);
    record_totals_define(&state->run, &state->plan, state->begin_ns, reader->defs);
    return STATUS_OK;
}

/* The first of the directory's buffer files. Which one does not matter: all are read. */
static char *record_find_in(const char *directory)
{
    char *found = NULL;
    size_t count = 0;
    char **names = directory_names(directory, &count);
    for (size_t i = 0; names && i < count && !found; i++) {
        size_t length = strlen(names[i]), suffix = strlen(RECORD_SUFFIX);
        if (length > suffix && strcmp(names[i] + length - suffix, RECORD_SUFFIX) == 0 &&
            asprintf(&found, "%s/%s", directory, names[i]) < 0)
            found = NULL;
    }
    if (names)
        directory_names_free(names, count);
    return found;
}

static enum status record_open(struct reader *reader, struct error *err)
{
    struct record_state *state = reader->state;
    const char *path = reader->input->path, *slash = strrchr(path, '/');
    char *directory = memory_copy_string(path);
    directory[slash - path] = '\0';
    state->own = memory_new(sizeof *state->own);
    enum status status = recordings_open(state->own, &directory, 1, err);
    if (status == STATUS_OK && state->own->trace_count > 1)
        status = error_set(err, ERROR_INPUT,
                           "%s: has the recordings of %zu MPI programs: sight merge writes a trace of each", directory,
                           state->own->trace_count);
    free(directory);
    if (status != STATUS_OK)
        return STATUS_FAILED;
    recordings_freeze(state->own); /* the program may still run */
    recordings_note_alive(state->own);
    return record_begin(reader, state->own, 0, err);
}

/* Until when a process is known to have lived depends on the last event of all. Files with a sample were read as a
   whole already. */
static uint64_t *record_process_bytes(const struct reader *reader, size_t *count)
{
    const struct record_run *run = &((const struct record_state *)reader->state)->run;
    for (size_t i = 0; i < run->file_count; i++)
        if (run->files[i].header.end != RECORD_FINALIZED || run->files[i].kept)
            return NULL;
    uint64_t *bytes = memory_new(run->process_count * sizeof *bytes);
    *count = run->process_count;
    for (size_t i = 0; i < run->file_count; i++)
        bytes[run->process_of[i]] += run->files[i].size;
    return bytes;
}

static const char **record_process_paths(const struct reader *reader, size_t *count)
{
    const struct record_run *run = &((const struct record_state *)reader->state)->run;
    const char **paths = memory_new(run->process_count * sizeof *paths);
    *count = run->process_count;
    for (size_t i = 0; i < run->file_count; i++)
        paths[run->process_of[i]] = run->files[i].path;
    return paths;
}

static const struct format_processes processes = {.bytes = record_process_bytes,
                                                  .select = record_streams_select,
                                                  .paths = record_process_paths,
                                                  .choose = record_streams_choose};

const struct format format_record = {.name = "record",
                                     .title = "recording",
                                     .suffix = RECORD_SUFFIX,
                                     .state_size = sizeof(struct record_state),
                                     .open = record_open,
                                     .next = record_next,
                                     .close = record_close,
                                     .processes = &processes,
                                     .find_in = record_find_in};

struct reader *record_reader_open(const struct recordings *recordings, size_t trace, struct error *err)
{
    return record_reader_open_late(recordings, trace, 0, err);
}

struct reader *record_reader_open_late(const struct recordings *recordings, size_t trace, uint64_t bytes,
                                       struct error *err)
{
    struct reader *reader = memory_new(sizeof *reader);
    reader->defs = defs_new();
    reader->format = &format_record;
    struct record_state *state = reader->state = memory_new(sizeof *state);
    state->late_bytes = bytes;
    if (record_begin(reader, recordings, trace, err) == STATUS_OK)
        return reader;
    reader_close(reader);
    return NULL;
}

int64_t record_reader_from_ns(const struct reader *reader)
{
    return ((const struct record_state *)reader->state)->from_ns;
}

int64_t record_reader_now_ns(const struct reader *reader)
{
    const struct record_state *state = reader->state;
    int64_t now_ns = state->run.recordings->alive_ns;
    return now_ns + record_run_offset(&state->run, &state->run.processes[0], now_ns) - state->begin_ns -
           state->plan.gap_ns;
}
