/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_TRAFFIC_H
#define SIGHT_HEURISTICS_TRAFFIC_H

#include "heuristics/traffic_features.h"
#include "metrics/metrics.h"

/* Messages between processes, which are rows of the metrics. Each end records its messages; if both do and differ (a
   run cut short), the larger number counts. */
struct traffic {
    struct traffic_pair *pairs; /* by from, then to */
    size_t count;
    uint64_t messages, bytes; /* of all pairs */
    uint64_t elsewhere;       /* messages with processes that have no row, or that are not known */
};
struct traffic traffic_of(const struct metrics *metrics);
void traffic_clear(struct traffic *traffic);

/* Messages or bytes of a pair. */
static inline uint64_t pair_weight(const struct traffic_pair *pair, bool by_bytes)
{
    return by_bytes ? pair->bytes : pair->messages;
}

/* Sorts the pairs by weight, the heaviest first. */
void traffic_rank(struct traffic *traffic, bool by_bytes);

#endif
