/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/comparison.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "heuristics/efficiency.h"
#include "metrics/functions_together.h"

#include <math.h>
#include <string.h>

/* A change below this share of the first version is noise, even if single runs show none: one run of each version
   cannot show how much they vary. With repeated runs runs/significance.h tests instead. */
static const double NOISE = 0.02;

static double run_seconds(const struct metrics *metrics)
{
    return metrics->process_count ? (double)time_since(metrics->begin_ns, metrics->end_ns) / 1e9 : 0;
}

static double messages_of(const struct metrics *metrics)
{
    uint64_t bytes;
    return (double)metrics_messages(metrics, &bytes);
}

static double bytes_of(const struct metrics *metrics)
{
    uint64_t bytes;
    metrics_messages(metrics, &bytes);
    return (double)bytes;
}

/* Each row of quantities.def becomes a function, so that an expression can name metrics and results. */
#define MEASURE(id) (&heuristics_find(results, id)->measure)
#define QUANTITY(id, title, unit, better, expression)                                                                  \
    static double get_##id(const struct metrics *metrics, const struct heuristic_result *results)                      \
    {                                                                                                                  \
        (void)metrics;                                                                                                 \
        (void)results;                                                                                                 \
        return expression;                                                                                             \
    }
#include "heuristics/quantities.def"

static const struct quantity quantities[] = {
#define QUANTITY(id, title, unit, better, expression) {#id, title, QUANTITY_##unit, BETTER_##better, get_##id},
#include "heuristics/quantities.def"
};

size_t quantity_count(void)
{
    return sizeof quantities / sizeof *quantities;
}

const struct quantity *quantity_at(size_t index)
{
    return &quantities[index];
}

enum change change_of(struct averaged first, struct averaged now, enum better better)
{
    /* Versions differ only if no run of one lies between runs of the other. */
    bool apart = now.least > first.most || now.most < first.least;
    if (!apart || fabs(now.mean - first.mean) < NOISE * fabs(first.mean))
        return CHANGE_SAME;
    if (better == BETTER_NEITHER)
        return CHANGE_OTHER;
    return (now.mean < first.mean) == (better == BETTER_LOWER) ? CHANGE_BETTER : CHANGE_WORSE;
}

const char *change_name(enum change change)
{
    static const char *const names[] = {"same", "better", "worse", "changed"};
    return names[change];
}

/* Adds the value of one more of `count` runs. The first run sets the ends. */
static void average(struct averaged *averaged, size_t run, size_t count, double value)
{
    averaged->mean += value / (double)count;
    if (run == 0)
        averaged->least = averaged->most = value;
    averaged->least = fmin(averaged->least, value);
    averaged->most = fmax(averaged->most, value);
}

static void compare_quantities(struct comparison *comparison)
{
    comparison->quantities = memory_new(comparison->version_count * quantity_count() * sizeof *comparison->quantities);
    for (size_t v = 0; v < comparison->version_count; v++) {
        const struct version *version = &comparison->versions[v];
        for (size_t run = 0; run < version->run_count; run++) {
            /* Some quantities come from heuristics, which are judged once for each run. */
            struct heuristic_result *results = heuristics_judge(version->runs[run]);
            for (size_t i = 0; i < quantity_count(); i++)
                average(&comparison->quantities[v * quantity_count() + i], run, version->run_count,
                        quantities[i].get(version->runs[run], results));
            heuristics_free(results);
        }
    }
}

/* The functions by name, while they are gathered: their names and numbers stand in definitions. */
struct function_names {
    struct defs *defs;
    size_t capacity; /* of the comparison's functions */
};

/* The function of this name, made where it is not there yet. */
static struct compared_function *function_named(struct comparison *comparison, struct function_names *names,
                                                const struct state_def *state)
{
    int32_t found = defs_find_state(names->defs, state->name);
    if (found != EVENT_UNKNOWN)
        return &comparison->functions[found];
    /* The definitions serve as an index of names: they find a name in constant time. */
    defs_add_state(
        names->defs,
        &(struct state_def){.name = state->name, .id = EVENT_UNKNOWN, .start = EVENT_UNKNOWN, .end = EVENT_UNKNOWN});
    struct compared_function function = {.name = state->name, .class = state->class};
    function.seconds = memory_new(comparison->version_count * sizeof *function.seconds);
    function.calls = memory_new(comparison->version_count * sizeof *function.calls);
    ARRAY_PUSH(comparison->functions, comparison->function_count, names->capacity, function);
    return &comparison->functions[comparison->function_count - 1];
}

/* A function missing from a run counts as 0 there. */
static void averages_settle(struct averaged *averaged, size_t met, size_t runs)
{
    if (met < runs)
        averaged->least = fmin(averaged->least, 0);
}

static void compare_functions_of(struct comparison *comparison, struct function_names *names, size_t v)
{
    const struct version *version = &comparison->versions[v];
    size_t *met = NULL, met_capacity = 0;
    for (size_t run = 0; run < version->run_count; run++) {
        size_t count;
        struct function_row *rows = metrics_functions_together(version->runs[run], &count);
        for (size_t i = 0; i < count; i++) {
            const struct state_def *state = &version->runs[run]->defs->states[rows[i].state];
            size_t at = (size_t)(function_named(comparison, names, state) - comparison->functions);
            /* Functions are numbered as they are met: a new one may be beyond those counted so far. */
            size_t before = met_capacity;
            ARRAY_RESERVE(met, met_capacity, at + 1);
            if (met_capacity > before)
                memset(met + before, 0, (met_capacity - before) * sizeof *met);
            struct compared_function *function = &comparison->functions[at];
            average(&function->seconds[v], met[at], version->run_count, (double)rows[i].exclusive_ns / 1e9);
            average(&function->calls[v], met[at]++, version->run_count, (double)rows[i].count);
        }
        free(rows);
    }
    for (size_t i = 0; i < comparison->function_count && i < met_capacity; i++) {
        averages_settle(&comparison->functions[i].seconds[v], met[i], version->run_count);
        averages_settle(&comparison->functions[i].calls[v], met[i], version->run_count);
    }
    free(met);
}

static double moved(const struct compared_function *function, size_t versions)
{
    return fabs(function->seconds[versions - 1].mean - function->seconds[0].mean);
}

/* qsort has no context: what it sorts by is computed before. */
struct moved_function {
    double moved;
    struct compared_function function;
};

static int by_move(const void *a, const void *b)
{
    const struct moved_function *left = a, *right = b;
    if (left->moved != right->moved)
        return order_by(right->moved, left->moved);
    return strcmp(left->function.name, right->function.name);
}

static void sort_functions(struct comparison *comparison)
{
    size_t count = comparison->function_count;
    struct moved_function *sorted = memory_new(count * sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        sorted[i] = (struct moved_function){moved(&comparison->functions[i], comparison->version_count),
                                            comparison->functions[i]};
    if (count > 0)
        qsort(sorted, count, sizeof *sorted, by_move);
    for (size_t i = 0; i < count; i++)
        comparison->functions[i] = sorted[i].function;
    free(sorted);
}

static uint32_t ranks_end(const struct comparison *comparison)
{
    uint32_t end = 0;
    for (size_t v = 0; v < comparison->version_count; v++)
        for (size_t run = 0; run < comparison->versions[v].run_count; run++) {
            const struct metrics *metrics = comparison->versions[v].runs[run];
            /* The last row has the largest rank. */
            if (metrics->process_count && metrics->process[metrics->process_count - 1].rank >= end)
                end = metrics->process[metrics->process_count - 1].rank + 1;
        }
    return end;
}

static void compare_process(struct comparison *comparison, size_t *place, size_t *capacity, size_t v, size_t run,
                            size_t at)
{
    const struct metrics *metrics = comparison->versions[v].runs[run];
    const struct process_row *row = &metrics->process[at];
    size_t versions = comparison->version_count, runs = comparison->versions[v].run_count;
    /* Place + 1: 0 says that the process was not met yet. */
    if (place[row->rank] == 0) {
        /* One block for the three rows of values; comparison_clear frees it by the first. */
        struct averaged *all = memory_new(3 * versions * sizeof *all);
        ARRAY_PUSH(comparison->processes, comparison->process_count, *capacity,
                   (struct compared_process){row->rank, all, all + versions, all + 2 * versions});
        place[row->rank] = comparison->process_count;
    }
    struct compared_process *process = &comparison->processes[place[row->rank] - 1];
    average(&process->compute[v], run, runs, (double)metrics_compute_ns(metrics, at) / 1e9);
    average(&process->communication[v], run, runs,
            (double)(row->communication_ns + metrics_polled_ns(metrics, at)) / 1e9);
    average(&process->total[v], run, runs, (double)process_total_ns(row) / 1e9);
}

static int by_rank(const void *a, const void *b)
{
    const struct compared_process *left = a, *right = b;
    return (left->rank > right->rank) - (left->rank < right->rank);
}

static void compare_processes(struct comparison *comparison)
{
    size_t *place = memory_new(((size_t)ranks_end(comparison) + 1) * sizeof *place), capacity = 0;
    for (size_t v = 0; v < comparison->version_count; v++)
        for (size_t run = 0; run < comparison->versions[v].run_count; run++) {
            const struct metrics *metrics = comparison->versions[v].runs[run];
            for (size_t i = 0; i < metrics->process_count; i++)
                compare_process(comparison, place, &capacity, v, run, i);
            /* Compared with the first run of the first version. */
            comparison->sizes_differ |= metrics->process_count != comparison->versions[0].runs[0]->process_count;
        }
    if (comparison->process_count > 0)
        qsort(comparison->processes, comparison->process_count, sizeof *comparison->processes, by_rank);
    free(place);
}

/* By the rough rule; for functions less time is better. Tests replace it where there are runs enough. */
static void find_changes(struct comparison *comparison)
{
    comparison->changes = memory_new(comparison->version_count * quantity_count() * sizeof *comparison->changes);
    for (size_t v = 0; v < comparison->version_count; v++)
        for (size_t i = 0; i < quantity_count(); i++)
            comparison->changes[v * quantity_count() + i] = change_of(
                comparison_quantity(comparison, 0, i), comparison_quantity(comparison, v, i), quantities[i].better);
    for (size_t i = 0; i < comparison->function_count; i++) {
        struct compared_function *function = &comparison->functions[i];
        function->changes = memory_new(comparison->version_count * sizeof *function->changes);
        for (size_t v = 0; v < comparison->version_count; v++)
            function->changes[v] = change_of(function->seconds[0], function->seconds[v], BETTER_LOWER);
    }
}

struct comparison comparison_of(const struct version *versions, size_t count)
{
    struct comparison comparison = {.versions = versions, .version_count = count};
    struct function_names names = {.defs = defs_new()};
    compare_quantities(&comparison);
    for (size_t v = 0; v < count; v++)
        compare_functions_of(&comparison, &names, v);
    defs_free(names.defs);
    sort_functions(&comparison);
    compare_processes(&comparison);
    find_changes(&comparison);
    return comparison;
}

void comparison_clear(struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->function_count; i++) {
        free(comparison->functions[i].seconds);
        free(comparison->functions[i].calls);
        free(comparison->functions[i].changes);
    }
    for (size_t i = 0; i < comparison->process_count; i++)
        free(comparison->processes[i].compute);
    free(comparison->functions);
    free(comparison->processes);
    free(comparison->quantities);
    free(comparison->changes);
    *comparison = (struct comparison){0};
}
