/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_HEURISTIC_H
#define SIGHT_HEURISTICS_HEURISTIC_H

#include "metrics/metrics.h"

/* A heuristic answers one question from metrics. A new one is a file with a function and a row in heuristics.def. */

enum verdict { VERDICT_GOOD, VERDICT_FAIR, VERDICT_POOR, VERDICT_UNKNOWN };
const char *verdict_name(enum verdict verdict);

struct heuristic_result {
    double index; /* in the heuristic's unit */
    double mean;
    enum verdict verdict;
    char analysis[512]; /* one plain sentence or two */
    /* For deviations: who is farthest out. */
    uint32_t least_rank, most_rank;
    double least, most;
};

struct heuristic {
    const char *id, *title, *question, *unit;
    struct heuristic_result (*judge)(const struct metrics *metrics);
};

size_t heuristic_count(void);
const struct heuristic *heuristic_at(size_t index);

#endif
