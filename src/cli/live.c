/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/live.h"

#include "convert/record/read_record.h"
#include "convert/stream.h"
#include "core/memory.h"
#include "metrics/accumulator.h"
#include "phases/phase_numbers.h"
#include "record/clock.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct live_state {
    struct recordings recordings;
    struct reader *reader;
    struct accumulator *accumulator;
};

static void count_iterations(struct live *live, struct graph_builder *graphs, struct user_spans_builder *spans)
{
    struct graph *graph = graph_builder_end(graphs);
    struct user_spans *user = user_spans_builder_end(spans);
    struct phase_metrics *phases = NULL;
    live->iterations = 0;
    if (!graph->too_large)
        phases = phase_metrics_with(graph, user);
    if (phases && phases->iterations.loop != PHASE_NONE)
        live->iterations = phases->iterations.count;
    phase_metrics_free(phases);
    user_spans_free(user);
    graph_free(graph);
}

static enum status read_all(struct live *live, bool with_iterations, struct error *err)
{
    struct live_state *state = live->state;
    struct stuck_builder *stuck = stuck_builder_new();
    struct graph_builder *graphs = NULL;
    struct user_spans_builder *spans = NULL;
    state->accumulator = accumulator_new((struct accumulator_options){0});
    /* One pass for everything: the files grow, and two passes would see different runs. */
    struct sink *sinks[4] = {stuck_builder_sink(stuck), accumulator_sink(state->accumulator)};
    size_t count = 2;
    if (with_iterations) {
        graphs = graph_builder_new();
        spans = user_spans_builder_new();
        sinks[count++] = graph_builder_sink(graphs);
        sinks[count++] = user_spans_builder_sink(spans);
    }
    enum status status = stream_run(state->reader, sinks, count, NULL, NULL, err);
    live->stuck = stuck_builder_end(stuck);
    if (with_iterations)
        count_iterations(live, graphs, spans);
    return status;
}

/* When the program has ended, sight record merges and removes the files, perhaps while they are listed here: what was
   read then is only a part. */
static enum status check_whole(const struct recordings *recordings, const char *directory, struct error *err)
{
    for (size_t i = 0; i < recordings->file_count; i++)
        if (access(recordings->files[i].path, F_OK) != 0)
            return error_set(err, ERROR_INPUT, "%s: the program has ended, and its recording is being merged",
                             directory);
    return STATUS_OK;
}

enum status live_open(struct live *live, const char *directory, bool with_iterations, struct error *err)
{
    *live = (struct live){.state = memory_new(sizeof *live->state)};
    struct live_state *state = live->state;
    char *path = (char *)(uintptr_t)directory; /* only read */
    enum status status = recordings_open(&state->recordings, &path, 1, err);
    if (status == STATUS_OK) {
        /* files grow while they are read: all are read as far as they are now, so that their ends fit together */
        recordings_freeze(&state->recordings);
        state->recordings.alive_ns = clock_ns();
        state->reader = record_reader_open(&state->recordings, 0, err);
        if (!state->reader)
            status = STATUS_FAILED;
    }
    if (status == STATUS_OK) {
        live->bytes = record_reader_summary(state->reader).bytes;
        status = read_all(live, with_iterations && live->bytes <= LIVE_PARTS_MAX_BYTES, err);
    }
    if (status == STATUS_OK)
        status = check_whole(&state->recordings, directory, err);
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
    live->events = summary.events;
    return STATUS_OK;
}

void live_close(struct live *live)
{
    stuck_free(live->stuck);
    metrics_free(live->metrics);
    if (live->state) {
        accumulator_free(live->state->accumulator);
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

/* True if one is the other, or an ancestor of it. */
/* Open MPI's and MPICH's launchers put processes of their own between themselves and the program's. */
static bool descends(long pid, long ancestor)
{
    enum { GENERATIONS = 32 }; /* processes come and go meanwhile: the walk must end whatever it meets */
    for (int i = 0; i < GENERATIONS && pid > 1; i++) {
        char path[64];
        long parent = 0;
        if (pid == ancestor)
            return true;
        snprintf(path, sizeof path, "/proc/%ld/stat", pid);
        FILE *file = fopen(path, "re");
        if (!file || fscanf(file, "%*d (%*[^)]) %*c %ld", &parent) != 1)
            parent = 0;
        if (file)
            fclose(file);
        pid = parent;
    }
    return false;
}

char *live_find(long pid)
{
    /* the environment that a process was started with is readable by its user alone: others' recordings are not found
     */
    DIR *processes = opendir("/proc");
    struct dirent *entry;
    char *found = NULL;
    long latest = 0;
    while (processes && (entry = readdir(processes))) {
        long here = strtol(entry->d_name, NULL, 10);
        /* numbers grow with time, but for when they begin anew: the largest is most likely the latest */
        if (here <= latest || (pid && !descends(here, pid) && !descends(pid, here)))
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
