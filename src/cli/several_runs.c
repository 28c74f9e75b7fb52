/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/several_runs.h"

#include "core/memory.h"

#include <string.h>
#include <sys/stat.h>

void several_runs_push(struct several_runs *several, struct scaling_run run)
{
    ARRAY_RESERVE(several->runs, several->capacity, several->count + 1);
    /* beside `runs`, which scaling_of takes as one array */
    several->results = memory_resize(several->results, several->capacity * sizeof *several->results);
    several->results[several->count] = NULL;
    several->runs[several->count++] = run;
}

enum status several_runs_add(struct several_runs *several, const struct common_options *common,
                             const struct trace_options *trace, char *input, int *code, struct error *err)
{
    struct common_options one = *common;
    one.inputs = &input;
    one.input_count = 1;
    struct engine_result *result = ask(&one, trace, ENGINE_ANALYSIS | ENGINE_PHASES, err);
    if (!result)
        return STATUS_FAILED;
    const struct metrics *metrics = result->metrics;
    several_runs_push(several, (struct scaling_run){.metrics = metrics});
    several->results[several->count - 1] = result;
    int damaged = run_report_damage(&metrics->end, time_since(metrics->begin_ns, metrics->end_ns));
    if (damaged != EXIT_DONE)
        *code = damaged;
    return STATUS_OK;
}

void several_runs_clear(struct several_runs *several)
{
    for (size_t i = 0; i < several->count; i++)
        engine_free(several->results[i]);
    free(several->results);
    free(several->runs);
    *several = (struct several_runs){0};
}

/* The local file of one process of several has events of that process alone. */
static bool is_whole(const char *path)
{
    struct error err = {0};
    struct stat about;
    char *input = (char *)(uintptr_t)path;
    if (strcmp(path, "-") == 0 || stat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return false;
    struct engine_result *result =
        engine_run(&(struct engine_request){.inputs = &input, .input_count = 1, .threads = 1}, &err);
    bool is_whole =
        result && result->metrics->process_count > 0 && result->metrics->process_count >= result->metrics->processes;
    engine_free(result);
    return is_whole;
}

bool several_runs_given(char *const *inputs, size_t count)
{
    /* Two show what they all are: reading each twice would take as long as the command itself. */
    for (size_t i = 0; i < count && i < 2; i++)
        if (!is_whole(inputs[i]))
            return false;
    return count > 1;
}

size_t several_runs_largest(const struct several_runs *several)
{
    size_t largest = 0;
    for (size_t i = 1; i < several->count; i++)
        if (scaling_run_n(&several->runs[i]) > scaling_run_n(&several->runs[largest]))
            largest = i;
    return largest;
}
