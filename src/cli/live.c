/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/live.h"

#include "cli/about_process.h"
#include "cli/live_iterations.h"
#include "convert/record/read_record.h"
#include "convert/stream.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "metrics/accumulator.h"
#include "record/clock.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LAST_SECONDS_NS INT64_C(5000000000) /* that efficiencies are of */
enum {
    LATE_BYTES = 8 << 20, /* of all files together */
    LATE_LEAST = 64 << 10 /* of a file: some 4,000 calls */
};

struct live_state {
    struct recordings recordings;
    struct reader *reader, *judged; /* of the last part; of all, if that was read besides */
    struct accumulator *accumulator;
};

static uint64_t late_bytes(const struct live_state *state)
{
    return larger((uint64_t)LATE_BYTES / state->recordings.file_count, (uint64_t)LATE_LEAST);
}

/* One pass for everything: the files grow, and two passes would see different runs. */
static enum status read_late(struct live *live, bool with_iterations, struct error *err)
{
    struct live_state *state = live->state;
    state->reader = record_reader_open_late(&state->recordings, 0, late_bytes(state), err);
    if (!state->reader)
        return STATUS_FAILED;
    live->whole = record_reader_from_ns(state->reader) == 0; /* of a small recording the last part is all */
    live->now_ns = record_reader_now_ns(state->reader);
    live->from_ns = larger(record_reader_from_ns(state->reader), live->now_ns - LAST_SECONDS_NS);
    struct stuck_builder *stuck = stuck_builder_new();
    struct live_iterations *iterations = NULL;
    state->accumulator =
        accumulator_new((struct accumulator_options){.have_from = live->from_ns > 0, .from_ns = live->from_ns});
    struct sink *sinks[3] = {stuck_builder_sink(stuck), accumulator_sink(state->accumulator)};
    size_t count = 2;
    if (with_iterations) {
        iterations = live_iterations_new(live->whole);
        sinks[count++] = live_iterations_sink(iterations);
    }
    enum status status = stream_run(state->reader, sinks, count, NULL, NULL, err);
    /* Also after a fault: it must be freed. */
    live->stuck = stuck_builder_end(stuck);
    live->stuck->begin_ns = 0; /* the trace's time counts from its begin, also where that was not read */
    if (iterations)
        live->iterations = live_iterations_end(iterations, state->reader);
    if (record_reader_summary(state->reader).left_out > 0)
        live->iterations = 0; /* those of a sample say nothing */
    return status;
}

/* A sink that hands on what a stuck builder needs: the past in short, then the events of the last part. */
struct whole_sink {
    struct sink sink;
    struct stuck_builder *stuck;
    struct reader *reader;
    bool damaged; /* the past is not known */
};

static enum status whole_begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    struct whole_sink *whole = (struct whole_sink *)sink;
    struct sink *stuck = stuck_builder_sink(whole->stuck);
    if (stuck->begin(stuck, defs, err) != STATUS_OK)
        return STATUS_FAILED;
    whole->damaged = !record_reader_past(whole->reader, stuck_builder_past(whole->stuck));
    return STATUS_OK;
}

static enum status whole_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    struct sink *stuck = stuck_builder_sink(((struct whole_sink *)sink)->stuck);
    return stuck->events(stuck, batch, err);
}

static enum status judge(struct live *live, uint64_t bytes, bool *damaged, struct error *err)
{
    struct live_state *state = live->state;
    reader_close(state->judged);
    state->judged = record_reader_open_late(&state->recordings, 0, bytes, err);
    if (!state->judged)
        return STATUS_FAILED;
    struct whole_sink whole = {
        .sink = {.begin = whole_begin, .events = whole_events}, .stuck = stuck_builder_new(), .reader = state->judged};
    struct sink *sink = &whole.sink;
    enum status status = stream_run(state->judged, &sink, 1, NULL, NULL, err);
    stuck_free(live->stuck);
    live->stuck = stuck_builder_end(whole.stuck);
    live->stuck->begin_ns = 0;
    live->whole = true;
    *damaged = whole.damaged;
    return status;
}

/* Which message or collective is missing shows only in what all processes did from the begin on. */
static enum status judge_whole(struct live *live, struct error *err)
{
    bool damaged;
    enum status status = judge(live, late_bytes(live->state), &damaged, err);
    /* Up to the damage, event by event. */
    if (status == STATUS_OK && damaged)
        status = judge(live, 0, &damaged, err);
    return status;
}

/* A crash shows at the end; a process that was killed may have hung before. */
static bool is_judged(const struct live *live)
{
    bool crashed = live->stuck->kind == STUCK_ENDED && !live->stuck->died;
    return live->whole || crashed || live->stuck->waited_ns < STUCK_QUIET_NS;
}

enum status live_check_whole(const struct recordings *recordings, const char *directory, struct error *err)
{
    for (size_t i = 0; i < recordings->file_count; i++)
        if (access(recordings->files[i].path, F_OK) != 0)
            return error_set(err, ERROR_INPUT, "%s: the program has ended, and its recording is being merged",
                             directory);
    return STATUS_OK;
}

enum status live_open(struct live *live, const char *directory, int64_t alive_ns, bool with_iterations,
                      const struct live *before, struct error *err)
{
    *live = (struct live){.state = memory_new(sizeof *live->state)};
    struct live_state *state = live->state;
    char *path = (char *)(uintptr_t)directory; /* only read */
    enum status status = recordings_open(&state->recordings, &path, 1, err);
    if (status == STATUS_OK) {
        /* files grow while they are read: all are read as far as they are now, so that their ends fit together */
        recordings_freeze(&state->recordings);
        state->recordings.alive_ns = alive_ns ? alive_ns : clock_ns();
        for (size_t i = 0; i < state->recordings.file_count; i++)
            live->bytes += state->recordings.files[i].size;
        status = read_late(live, with_iterations, err);
    }
    if (status == STATUS_OK && !is_judged(live)) {
        if (before && before->whole && stuck_still(live->stuck, before->stuck))
            live->whole = true;
        else
            status = judge_whole(live, err);
    }
    if (status == STATUS_OK)
        status = live_check_whole(&state->recordings, directory, err);
    if (status == STATUS_OK)
        live->metrics = accumulator_metrics(state->accumulator, err);
    if (!live->metrics) {
        live_close(live);
        return STATUS_FAILED;
    }
    struct record_summary summary = record_reader_summary(state->reader);
    live->processes = summary.processes;
    live->declared = summary.declared;
    live->unfinished = summary.unfinished;
    return STATUS_OK;
}

void live_close(struct live *live)
{
    stuck_free(live->stuck);
    metrics_free(live->metrics);
    if (live->state) {
        accumulator_free(live->state->accumulator);
        reader_close(live->state->judged);
        reader_close(live->state->reader);
        recordings_close(&live->state->recordings);
    }
    free(live->state);
    *live = (struct live){0};
}

/* The value of a variable in the environment of a process; NULL if it is not set. */
static char *environment_of(const char *pid, const char *name)
{
    enum { ENVIRONMENT_MAX = 1 << 20 };
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s/environ", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return NULL;
    char *text = memory_new(ENVIRONMENT_MAX), *value = NULL;
    size_t length = 0, name_length = strlen(name);
    /* Files of /proc have no size: they are read until they end. */
    for (ssize_t got;
         length + 1 < ENVIRONMENT_MAX && (got = read(file, text + length, ENVIRONMENT_MAX - 1 - length)) > 0;)
        length += (size_t)got;
    close(file);
    for (char *at = text; at < text + length && !value; at += strlen(at) + 1)
        if (strncmp(at, name, name_length) == 0 && at[name_length] == '=')
            value = memory_copy_string(at + name_length + 1);
    free(text);
    return value;
}

/* True if one is the other, or an ancestor of it: Open MPI's and MPICH's launchers put processes of their own between
 * themselves and the program's. */
static bool descends(long pid, long ancestor)
{
    enum { GENERATIONS = 32 }; /* processes come and go meanwhile: the walk must end whatever it meets */
    for (int i = 0; i < GENERATIONS && pid > 1; i++, pid = about_process_parent((pid_t)pid))
        if (pid == ancestor)
            return true;
    return false;
}

/* Root can read the environment of every process, and still asks for its own program. */
static bool is_own(const struct dirent *entry, DIR *processes)
{
    struct stat about;
    return fstatat(dirfd(processes), entry->d_name, &about, 0) == 0 && about.st_uid == geteuid();
}

char *live_find(long pid)
{
    DIR *processes = opendir("/proc");
    struct dirent *entry;
    char *found = NULL;
    long latest = 0;
    while (processes && (entry = readdir(processes))) {
        long here = strtol(entry->d_name, NULL, 10);
        /* numbers grow with time, but for when they begin anew: the largest is most likely the latest */
        if (here <= latest || (pid && !descends(here, pid) && !descends(pid, here)))
            continue;
        if (!pid && !is_own(entry, processes))
            continue;
        char *directory = environment_of(entry->d_name, "SIGHT_RECORD_DIR");
        if (directory && access(directory, R_OK) == 0) {
            free(found);
            found = directory;
            latest = here;
        } else {
            free(directory);
        }
    }
    if (processes)
        closedir(processes);
    return found;
}
