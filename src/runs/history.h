/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RUNS_HISTORY_H
#define SIGHT_RUNS_HISTORY_H

#include "metrics/metrics.h"
#include "runs/change_points.h"

#include <time.h>

/* A program's runs over time: a few numbers of each, and where their level changed (change_points.h). Runs with
   different numbers of processes are series of their own. */

/* X(id, title, higher is better): what is followed. Efficiencies as in heuristics/efficiency.h. */
#define HISTORY_NUMBERS(X)                                                                                             \
    X(time_s, "time", false)                                                                                           \
    X(parallel_efficiency, "parallel efficiency", true)                                                                \
    X(load_balance, "load balance", true)                                                                              \
    X(communication_efficiency, "communication efficiency", true)

enum history_number {
#define HISTORY_MEMBER(id, title, higher) HISTORY_##id,
    HISTORY_NUMBERS(HISTORY_MEMBER)
#undef HISTORY_MEMBER
        HISTORY_NUMBER_COUNT
};
const char *history_number_id(enum history_number number);
const char *history_number_title(enum history_number number);
bool history_number_higher(enum history_number number); /* is better */

struct history_run {
    char *name;  /* of its file; owned */
    time_t when; /* the file was changed last */
    uint32_t processes;
    bool complete;
    double numbers[HISTORY_NUMBER_COUNT];
};

struct history_series {
    double median, last;
    struct change_point *changes; /* `at` counts the group's runs */
    size_t change_count;
};

/* Runs with the same number of processes, in order of time. */
struct history_group {
    uint32_t processes;
    const struct history_run **runs;
    size_t count;
    struct history_series series[HISTORY_NUMBER_COUNT];
};

struct history {
    struct history_run *runs; /* by time, then name */
    size_t count;
    struct history_group *groups; /* the one with most runs first */
    size_t group_count;
};

/* The numbers of one run. */
void history_measure(struct history_run *run, const struct metrics *metrics);

/* Takes the runs, in any order, and their names. Free with history_clear. */
struct history history_of(struct history_run *runs, size_t count);
void history_clear(struct history *history);

/* True if the change of a number is for the worse. */
bool history_is_worse(enum history_number number, const struct change_point *change);

#endif
