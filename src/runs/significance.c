/* SPDX-License-Identifier: BSD-3-Clause */
#include "runs/significance.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "metrics/functions_together.h"
#include "runs/permutation.h"
#include "runs/statistics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* More parts than anybody reads: 12,870 divisions of each take seconds. */
enum { CELLS_MOST = 2000, FAMILIES = 2 };
/* Parts that take less of the run than this are not tested. */
static const double PART_LEAST = 0.002;
/* Clocks and the reading of them are not better than this, relative to a value. */
static const double SPREAD_LEAST = 0.0005;

/* A number of a run, before those of the same part are brought together. */
struct found {
    enum tested_kind kind;
    const char *name;
    uint32_t rank;
    size_t quantity, run;
    double value;
    bool computes;
};

struct finding_parts {
    struct found *found;
    size_t count, capacity, run;
};

const char *tested_kind_name(enum tested_kind kind)
{
    static const char *const names[] = {"run", "quantity", "function", "computing", "communication", "cell"};
    return names[kind];
}

char *tested_name(char name[TESTED_NAME_SIZE], const struct tested *tested)
{
    const char *share = tested->is_share ? " (share)" : "";
    switch (tested->kind) {
    case TESTED_COMPUTING:
        snprintf(name, TESTED_NAME_SIZE, "computing of process %u%s", tested->rank, share);
        break;
    case TESTED_COMMUNICATION:
        snprintf(name, TESTED_NAME_SIZE, "MPI on process %u", tested->rank);
        break;
    case TESTED_CELL:
        snprintf(name, TESTED_NAME_SIZE, "%.100s on process %u%s", tested->name, tested->rank, share);
        break;
    default:
        snprintf(name, TESTED_NAME_SIZE, "%.140s%s", tested->name, share);
    }
    return name;
}

static void find(struct finding_parts *parts, enum tested_kind kind, const char *name, uint32_t rank, double value)
{
    /* All numbers first: which parts exist is known when the last run was read. */
    ARRAY_PUSH(parts->found, parts->count, parts->capacity,
               (struct found){.kind = kind,
                              .name = name,
                              .rank = rank,
                              .run = parts->run,
                              .value = value,
                              .computes = kind == TESTED_COMPUTING});
}

static void find_state(struct finding_parts *parts, enum tested_kind kind, const struct state_def *state, uint32_t rank,
                       int64_t ns)
{
    find(parts, kind, state->name, rank, (double)ns / 1e9);
    parts->found[parts->count - 1].computes = state->class == CLASS_USER;
}

static void find_quantities(struct finding_parts *parts, const struct metrics *metrics)
{
    struct heuristic_result *results = heuristics_judge(metrics);
    for (size_t i = 0; i < quantity_count(); i++) {
        const struct quantity *quantity = quantity_at(i);
        enum tested_kind kind = TESTED_QUANTITY;
        if (i == 0) /* the first row of quantities.def is the run's duration */
            kind = TESTED_RUN;
        find(parts, kind, quantity->title, 0, quantity->get(metrics, results));
        /* The scale of the test depends on the quantity's unit. */
        parts->found[parts->count - 1].quantity = i;
    }
    heuristics_free(results);
}

static void find_parts(struct finding_parts *parts, const struct metrics *metrics)
{
    size_t count;
    struct function_row *rows = metrics_functions_together(metrics, &count);
    for (size_t i = 0; i < count; i++)
        find_state(parts, TESTED_FUNCTION, &metrics->defs->states[rows[i].state], 0, rows[i].exclusive_ns);
    free(rows);
    for (size_t i = 0; i < metrics->process_count; i++) {
        const struct process_row *process = &metrics->process[i];
        find(parts, TESTED_COMPUTING, "", process->rank, (double)process_compute_ns(process) / 1e9);
        find(parts, TESTED_COMMUNICATION, "", process->rank, (double)process->communication_ns / 1e9);
        for (size_t k = 0; k < process->function_count; k++)
            find_state(parts, TESTED_CELL, &metrics->defs->states[process->functions[k].state], process->rank,
                       process->functions[k].exclusive_ns);
    }
}

static int by_part(const void *a, const void *b)
{
    const struct found *left = a, *right = b;
    if (left->kind != right->kind)
        return order_by(left->kind, right->kind);
    if (left->quantity != right->quantity)
        return order_by(left->quantity, right->quantity);
    if (left->rank != right->rank)
        return order_by(left->rank, right->rank);
    int names = strcmp(left->name, right->name);
    if (names != 0)
        return names;
    return order_by(left->run, right->run);
}

static bool same_part(const struct found *a, const struct found *b)
{
    return a->kind == b->kind && a->quantity == b->quantity && a->rank == b->rank && strcmp(a->name, b->name) == 0;
}

static double mean_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

/* Brings the numbers of each part together; a run that does not have it counts 0. */
static void gather(struct significance *significance, const struct finding_parts *parts)
{
    size_t runs = significance->before + significance->after, capacity = 0;
    for (size_t i = 0; i < parts->count;) {
        const struct found *first = &parts->found[i];
        struct tested tested = {
            first->kind, first->name, first->quantity, first->rank, memory_new(runs * sizeof(double)), .p = 1};
        tested.computes = first->computes;
        /* Sorted by part: those of one part follow each other. */
        for (; i < parts->count && same_part(first, &parts->found[i]); i++)
            tested.values[parts->found[i].run] += parts->found[i].value;
        ARRAY_PUSH(significance->tested, significance->count, capacity, tested);
    }
}

static int by_size(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return (*left < *right) - (*left > *right);
}

/* Time of a part in process-seconds, to be compared with others; what is no time counts as much as the run. */
static double size_of(const struct tested *tested, size_t runs, double run_s)
{
    if (tested->kind <= TESTED_QUANTITY)
        return run_s;
    return mean_of(tested->values, runs);
}

/* Leaves out parts that are too small to matter, and the smallest of too many. It only looks at all runs together, so
   that what is left out does not depend on which version is which. */
static void leave_out(struct significance *significance)
{
    size_t runs = significance->before + significance->after, kept = 0;
    double run_s = mean_of(significance->tested[0].values, runs), least = PART_LEAST * run_s;
    double *sizes = memory_new(significance->count * sizeof *sizes);
    for (size_t i = 0; i < significance->count; i++)
        sizes[i] = size_of(&significance->tested[i], runs, run_s);
    /* The size of the last part that there is room for becomes the limit. */
    qsort(sizes, significance->count, sizeof *sizes, by_size);
    if (significance->count > CELLS_MOST)
        least = fmax(least, sizes[CELLS_MOST]);
    /* The first is the run itself, which stays whatever the size of its parts. */
    for (size_t i = 0; i < significance->count; i++)
        if (i == 0 || size_of(&significance->tested[i], runs, run_s) >= least)
            significance->tested[kept++] = significance->tested[i];
        else
            free(significance->tested[i].values);
    significance->count = kept;
    free(sizes);
}

/* Numbers above 0 as logarithms: their differences are relative changes. Shares stay as they are. */
static bool to_scale(const struct tested *tested, size_t runs, double *scaled)
{
    bool is_relative = tested->kind > TESTED_QUANTITY || quantity_at(tested->quantity)->unit != QUANTITY_SHARE;
    for (size_t i = 0; i < runs; i++)
        is_relative &= tested->values[i] > 0;
    memcpy(scaled, tested->values, runs * sizeof *scaled);
    for (size_t i = 0; is_relative && i < runs; i++)
        scaled[i] = log(scaled[i]);
    return is_relative;
}

void tested_measure(struct tested *tested, size_t before, size_t after)
{
    double *scaled = memory_new((before + after) * sizeof *scaled);
    tested->is_relative = to_scale(tested, before + after, scaled);
    struct welch welch = welch_of(scaled, before, scaled + before, after);
    /* The effect is in deviations, on the scale of the test. */
    tested->effect = ratio_of(welch.difference, welch.spread);
    tested->runs_needed = 0;
    if (tested->effect != 0)
        tested->runs_needed = statistics_runs_needed(tested->effect);
    if (tested->is_relative) { /* back from logarithms: means are geometric, differences are relative changes */
        welch.before = exp(welch.before);
        welch.after = exp(welch.after);
        welch.difference = expm1(welch.difference);
        welch.low = expm1(welch.low);
        welch.high = expm1(welch.high);
    }
    tested->mean = welch.before;
    tested->now = welch.after;
    tested->change = welch.difference;
    tested->low = welch.low;
    tested->high = welch.high;
    free(scaled);
}

/* Computing that can be compared with the other computing of its run. */
static bool has_share(const struct tested *tested, size_t runs)
{
    bool all = tested->computes;
    for (size_t i = 0; i < runs; i++)
        all &= tested->values[i] > 0;
    return all;
}

/* How much longer than usual each run takes for what it computes, as a logarithm: the median over processes and their
   states, so that no single one of them matters. It does not depend on which run belongs to which version. */
static void run_factors(const struct significance *significance, double *factors)
{
    size_t runs = significance->before + significance->after;
    double *changes = memory_new(significance->count * sizeof *changes);
    for (size_t run = 0; run < runs; run++) {
        size_t count = 0;
        for (size_t i = 0; i < significance->count; i++) {
            const struct tested *tested = &significance->tested[i];
            if (tested->kind == TESTED_FUNCTION || !has_share(tested, runs))
                continue;
            double mean = 0;
            for (size_t k = 0; k < runs; k++)
                mean += log(tested->values[k]) / (double)runs;
            changes[count++] = log(tested->values[run]) - mean;
        }
        statistics_sort(changes, count);
        factors[run] = 0;
        if (count > 0)
            factors[run] = statistics_median(changes, count);
    }
    free(changes);
}

/* The values of a test: on its scale, and where it is 0 in some runs in units of the mean of all. */
static void test_row(const struct tested *tested, size_t runs, double *row)
{
    if (to_scale(tested, runs, row) || tested->kind <= TESTED_QUANTITY)
        return;
    double mean = mean_of(row, runs);
    for (size_t k = 0; k < runs; k++)
        row[k] /= mean;
}

static void share_row(const struct tested *tested, const double *factors, size_t runs, double *row)
{
    for (size_t k = 0; k < runs; k++)
        row[k] = log(tested->values[k]) - factors[k];
}

/* Only its share differs: that is what is measured, the values as they would be without the run's factor. */
static void take_share(struct tested *tested, const struct significance *significance, const double *factors, double p)
{
    for (size_t k = 0; k < significance->before + significance->after; k++)
        tested->values[k] /= exp(factors[k]);
    tested_measure(tested, significance->before, significance->after);
    tested->is_share = true;
    tested->p = p;
}

/* Adjusted probabilities of the run's parts as one family: of each part, and of its share of the run's computing, which
   noise that is common to a whole run does not change. The part itself counts where it differs clearly, at half the
   level (join_families). */
static void test_parts(struct significance *significance)
{
    struct tested *tested = significance->tested + 1;
    size_t count = significance->count - 1, runs = significance->before + significance->after, rows = count;
    double *values = memory_new(2 * count * runs * sizeof *values),
           *adjusted = memory_new(2 * count * sizeof *adjusted);
    double *factors = memory_new(runs * sizeof *factors);
    run_factors(significance, factors);
    for (size_t i = 0; i < count; i++)
        test_row(&tested[i], runs, values + i * runs);
    for (size_t i = 0; i < count; i++)
        if (has_share(&tested[i], runs))
            share_row(&tested[i], factors, runs, values + rows++ * runs);
    permutation_test(values, rows, significance->before, significance->after, SPREAD_LEAST, adjusted);
    rows = count;
    for (size_t i = 0; i < count; i++) {
        tested[i].p = adjusted[i];
        if (!has_share(&tested[i], runs))
            continue;
        double share_p = adjusted[rows++];
        if (adjusted[i] > SIGNIFICANCE_LEVEL / 2 && share_p < adjusted[i] && share_p <= SIGNIFICANCE_LEVEL)
            take_share(&tested[i], significance, factors, share_p);
    }
    free(values);
    free(adjusted);
    free(factors);
}

static void test_run(struct significance *significance)
{
    size_t runs = significance->before + significance->after;
    double *row = memory_new(runs * sizeof *row);
    test_row(&significance->tested[0], runs, row);
    permutation_test(row, 1, significance->before, significance->after, SPREAD_LEAST, &significance->tested[0].p);
    free(row);
}

static double least_p(const struct tested *tested, size_t count)
{
    double least = 1;
    for (size_t i = 0; i < count; i++)
        least = fmin(least, tested[i].p);
    return least;
}

/* Holm, of two families: the better one is held to half the level, then the other to the whole. The run's duration is a
   family of its own: among thousands of parts it would have to be far clearer. */
static void join_families(struct tested *tested, size_t count)
{
    double run = tested[0].p, parts = least_p(tested + 1, count - 1);
    bool run_first = run <= parts;
    double first = fmin(1, 2 * fmin(run, parts));
    for (size_t i = 0; i < count; i++) {
        bool is_first = (i == 0) == run_first;
        if (is_first)
            tested[i].p = fmin(1, 2 * tested[i].p);
        else
            tested[i].p = fmax(first, tested[i].p);
    }
}

static int by_weight(const void *a, const void *b)
{
    const struct tested *left = a, *right = b;
    if (left->p != right->p)
        return order_by(left->p, right->p);
    double left_effect = fabs(left->effect), right_effect = fabs(right->effect);
    if (left_effect != right_effect)
        return order_by(right_effect, left_effect);
    if (left->kind != right->kind)
        return order_by(left->kind, right->kind);
    if (left->rank != right->rank)
        return order_by(left->rank, right->rank);
    return strcmp(left->name, right->name);
}

bool significance_possible(size_t before, size_t after, size_t families)
{
    double all = (double)(before + after);
    /* The observed division itself reaches what was observed; with as many runs of each, so does its mirror image. */
    double divisions = exp(lgamma(all + 1) - lgamma((double)before + 1) - lgamma((double)after + 1));
    double least = (1.0 + (before == after)) / divisions;
    return before > 1 && after > 1 && least * (double)families <= SIGNIFICANCE_LEVEL * (1 + 1e-9);
}

size_t significance_runs_least(size_t families)
{
    size_t runs = 2;
    while (!significance_possible(runs, runs, families))
        runs++;
    return runs;
}

struct significance significance_of(const struct version *before, const struct version *after)
{
    struct significance significance = {.before = before->run_count, .after = after->run_count};
    struct finding_parts parts = {0};
    for (size_t i = 0; i < before->run_count + after->run_count; i++) {
        const struct version *version = before;
        size_t run = i;
        if (i >= before->run_count) {
            version = after;
            run -= before->run_count;
        }
        parts.run = i;
        find_quantities(&parts, version->runs[run]);
        find_parts(&parts, version->runs[run]);
    }
    qsort(parts.found, parts.count, sizeof *parts.found, by_part);
    gather(&significance, &parts);
    free(parts.found);
    leave_out(&significance);
    for (size_t i = 0; i < significance.count; i++)
        tested_measure(&significance.tested[i], significance.before, significance.after);
    significance.is_possible = significance_possible(significance.before, significance.after, FAMILIES);
    if (significance.is_possible) {
        test_run(&significance);
        test_parts(&significance);
        join_families(significance.tested, significance.count);
    }
    for (size_t i = 0; i < significance.count; i++) {
        significance.tested[i].is_shown = significance.tested[i].p <= SIGNIFICANCE_LEVEL;
        significance.shown += significance.tested[i].is_shown;
    }
    qsort(significance.tested + 1, significance.count - 1, sizeof *significance.tested, by_weight);
    return significance;
}

void significance_clear(struct significance *significance)
{
    for (size_t i = 0; i < significance->count; i++)
        free(significance->tested[i].values);
    free(significance->tested);
    *significance = (struct significance){0};
}

enum change tested_change(const struct tested *tested)
{
    enum better better = BETTER_LOWER; /* less time */
    if (tested->kind <= TESTED_QUANTITY)
        better = quantity_at(tested->quantity)->better;
    if (!tested->is_shown)
        return CHANGE_SAME;
    if (better == BETTER_NEITHER)
        return CHANGE_OTHER;
    return (tested->change < 0) == (better == BETTER_LOWER) ? CHANGE_BETTER : CHANGE_WORSE;
}

void significance_apply(const struct significance *significance, struct comparison *comparison, size_t version)
{
    for (size_t i = 0; i < quantity_count(); i++)
        comparison->changes[version * quantity_count() + i] = CHANGE_SAME;
    for (size_t i = 0; i < comparison->function_count; i++)
        comparison->functions[i].changes[version] = CHANGE_SAME;
    for (size_t i = 0; i < significance->count; i++) {
        const struct tested *tested = &significance->tested[i];
        if (tested->kind <= TESTED_QUANTITY)
            comparison->changes[version * quantity_count() + tested->quantity] = tested_change(tested);
        for (size_t k = 0; tested->kind == TESTED_FUNCTION && k < comparison->function_count; k++)
            if (strcmp(comparison->functions[k].name, tested->name) == 0)
                comparison->functions[k].changes[version] = tested_change(tested);
    }
}
