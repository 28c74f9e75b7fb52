/* SPDX-License-Identifier: BSD-3-Clause */
#include "runs/history.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "heuristics/efficiency.h"
#include "runs/statistics.h"

#include <string.h>

/* Smaller changes are not reported: they do not matter, however certain they are after hundreds of runs. */
static const double CHANGE_LEAST = 0.005;

static const struct {
    const char *id, *title;
    bool higher;
} numbers[HISTORY_NUMBER_COUNT] = {
#define HISTORY_ROW(id, title, higher) {#id, title, higher},
    HISTORY_NUMBERS(HISTORY_ROW)
#undef HISTORY_ROW
};

const char *history_number_id(enum history_number number)
{
    return numbers[number].id;
}

const char *history_number_title(enum history_number number)
{
    return numbers[number].title;
}

bool history_number_higher(enum history_number number)
{
    return numbers[number].higher;
}

bool history_is_worse(enum history_number number, const struct change_point *change)
{
    return (change->after > change->before) != numbers[number].higher;
}

void history_measure(struct history_run *run, const struct metrics *metrics)
{
    struct efficiency efficiency = efficiency_of(metrics);
    /* By the processes that have events: those decide how long a run takes. */
    run->processes = (uint32_t)metrics->process_count;
    run->complete = metrics->end.complete;
    run->numbers[HISTORY_time_s] = (double)time_since(metrics->begin_ns, metrics->end_ns) / 1e9;
    run->numbers[HISTORY_parallel_efficiency] = efficiency.parallel;
    run->numbers[HISTORY_load_balance] = efficiency.load_balance;
    run->numbers[HISTORY_communication_efficiency] = efficiency.communication;
}

/* Equal times are ordered by name, so that the same directory always gives the same series. */
static int by_time(const void *a, const void *b)
{
    const struct history_run *left = a, *right = b;
    if (left->when != right->when)
        return order_by(left->when, right->when);
    return strcmp(left->name, right->name);
}

/* The series with most runs is the one that is watched: it comes first. */
static int by_runs(const void *a, const void *b)
{
    const struct history_group *left = a, *right = b;
    if (left->count != right->count)
        return order_by(right->count, left->count);
    return order_by(left->processes, right->processes);
}

/* Runs with different numbers of processes are different series: they take different times. */
static struct history_group *group_of(struct history *history, size_t *capacity, uint32_t processes)
{
    for (size_t i = 0; i < history->group_count; i++)
        if (history->groups[i].processes == processes)
            return &history->groups[i];
    struct history_group group = {.processes = processes, .runs = memory_new(history->count * sizeof *group.runs)};
    ARRAY_PUSH(history->groups, history->group_count, *capacity, group);
    return &history->groups[history->group_count - 1];
}

static void follow(struct history_group *group, enum history_number number)
{
    struct history_series *series = &group->series[number];
    /* A copy: changes and median need it in different orders. */
    double *values = memory_new(group->count * sizeof *values);
    for (size_t i = 0; i < group->count; i++)
        values[i] = group->runs[i]->numbers[number];
    series->last = values[group->count - 1];
    series->changes = change_points_of(values, group->count, CHANGE_LEAST, &series->change_count);
    statistics_sort(values, group->count); /* after the changes, which need the order of time */
    series->median = statistics_median(values, group->count);
    free(values);
}

struct history history_of(struct history_run *runs, size_t count)
{
    struct history history = {.runs = runs, .count = count};
    size_t capacity = 0;
    if (count > 0)
        qsort(runs, count, sizeof *runs, by_time);
    for (size_t i = 0; i < count; i++) {
        struct history_group *group = group_of(&history, &capacity, runs[i].processes);
        group->runs[group->count++] = &runs[i];
    }
    /* qsort() must not be given a null pointer, even without elements. */
    if (history.group_count > 0)
        qsort(history.groups, history.group_count, sizeof *history.groups, by_runs);
    for (size_t i = 0; i < history.group_count; i++)
        for (enum history_number number = 0; number < HISTORY_NUMBER_COUNT; number++)
            follow(&history.groups[i], number);
    return history;
}

void history_clear(struct history *history)
{
    for (size_t i = 0; i < history->count; i++)
        free(history->runs[i].name);
    for (size_t i = 0; i < history->group_count; i++) {
        for (enum history_number number = 0; number < HISTORY_NUMBER_COUNT; number++)
            free(history->groups[i].series[number].changes);
        free(history->groups[i].runs);
    }
    free(history->runs);
    free(history->groups);
    *history = (struct history){0};
}
