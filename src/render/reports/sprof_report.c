/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/sprof_report.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "metrics/functions_together.h"

#include <stdio.h>
#include <string.h>

/* Runs by test, then size. */
struct ordered {
    const struct scaling_run *run;
    size_t test, place;
};

static int by_test(const void *a, const void *b)
{
    const struct ordered *left = a, *right = b;
    if (left->test != right->test)
        return order_by(left->test, right->test);
    uint64_t left_n = scaling_run_n(left->run), right_n = scaling_run_n(right->run);
    if (left_n != right_n)
        return order_by(left_n, right_n);
    return order_by(left->place, right->place);
}

/* A run is in the test of how many of its size came before. */
static struct ordered *order_runs(const struct sprof_result *result)
{
    struct ordered *ordered = memory_new(result->count * sizeof *ordered);
    for (size_t i = 0; i < result->count; i++) {
        ordered[i] = (struct ordered){&result->runs[i], 0, i};
        /* Few runs: counting those before is simpler than sorting twice. */
        for (size_t k = 0; k < i; k++)
            ordered[i].test += scaling_run_n(&result->runs[k]) == scaling_run_n(&result->runs[i]);
    }
    if (result->count > 0)
        qsort(ordered, result->count, sizeof *ordered, by_test);
    return ordered;
}

/* Seconds in a region, the mean of the processes that have it; negative: none has it. */
static double region_s(const struct metrics *metrics, const char *name)
{
    int64_t time_ns = 0;
    size_t processes = 0;
    for (size_t i = 0; i < metrics->process_count; i++)
        for (size_t k = 0; k < metrics->process[i].function_count; k++) {
            const struct function_row *row = &metrics->process[i].functions[k];
            if (row->count > 0 && strcmp(metrics->defs->states[row->state].name, name) == 0) {
                time_add(&time_ns, row->time_ns);
                processes++;
            }
        }
    /* A mean over those that have it: OpenMP regions may be on one process only. */
    return processes ? (double)time_ns / 1e9 / (double)processes : -1;
}

/* "ParticleFilterOMP.h:108-120" */
static void write_place(struct output *output, const char *name)
{
    const char *colon = strrchr(name, ':');
    unsigned start = 0, stop = 0;
    int length = 0;
    /* One line, or a range of lines; whatever else is after the colon belongs to the name. */
    if (colon && sscanf(colon, ":%9u%n", &start, &length) == 1 && colon[length] == '\0') {
        stop = start;
    } else if (!colon || sscanf(colon, ":%9u-%9u%n", &start, &stop, &length) != 2 || colon[length] != '\0') {
        start = stop = 0;
        colon = name + strlen(name);
    }
    output_print(output, "lines %u to %u on file %.*s", start, stop, (int)(colon - name), name);
}

/* Division by no time is no speed-up. */
static double speedup(double first_s, double now_s)
{
    return now_s > 0 ? first_s / now_s : 0;
}

static void write_regions(struct output *output, const struct metrics *first, const struct metrics *metrics)
{
    size_t number = 0;
    for (size_t state = 0; state < first->defs->state_count; state++) {
        const struct state_def *region = &first->defs->states[state];
        double first_s = region->class == CLASS_USER ? region_s(first, region->name) : -1;
        /* Regions of equal name are counted together, at the first of them. */
        if (first_s < 0 || (size_t)defs_find_state(first->defs, region->name) != state)
            continue;
        double now_s = region_s(metrics, region->name);
        /* Regions are numbered as in the first run, whether or not this one has them. */
        number++;
        if (now_s < 0)
            continue;
        output_print(output, "Parallel execution time of the region %zu, ", number);
        write_place(output, region->name);
        output_print(output, ": %f seconds\nSpeedup for the parallel region %zu: %f\n\n", now_s, number,
                     speedup(first_s, now_s));
    }
}

static void write_run(struct output *output, const struct sprof_result *result, const struct scaling_run *first,
                      const struct scaling_run *run)
{
    output_print(output,
                 "--> Result for %llu threads, application %s, arguments: ", (unsigned long long)scaling_run_n(run),
                 result->application);
    for (size_t i = 0; i < result->argument_count; i++)
        output_print(output, "%s, ", result->arguments[i]);
    output_text(output, "\n\n");
    if (first->metrics && run->metrics)
        write_regions(output, first->metrics, run->metrics);
    output_print(output, "Total time of execution: %f seconds\nSpeedup for the entire application: %f\n\n",
                 scaling_run_s(run), speedup(scaling_run_s(first), scaling_run_s(run)));
}

void sprof_write(struct output *output, const struct sprof_result *result)
{
    struct ordered *ordered = order_runs(result);
    const struct scaling_run *first = NULL;
    for (size_t i = 0; i < result->count; i++) {
        /* The first size of each test is what its speed-ups are relative to. */
        if (i == 0 || ordered[i].test != ordered[i - 1].test) {
            first = ordered[i].run;
            output_print(output, "-----> Execution number %zu for %s:\n\n", ordered[i].test + 1, result->application);
        }
        write_run(output, result, first, ordered[i].run);
    }
    free(ordered);
}
