/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_TRAFFIC_FEATURES_H
#define SIGHT_HEURISTICS_TRAFFIC_FEATURES_H

#include "core/map.h"

#include <stdbool.h>

/* The matrix of messages between processes: the features of the rules of diagnosis (6), computed from the pairs that
   have messages, so that memory is O(pairs + processes). */

/* Messages of one process to another, ranks below the number of processes. */
struct traffic_pair {
    uint32_t from, to;
    uint64_t messages, bytes;
};

struct traffic_features {
    uint32_t processes;
    struct traffic_pair *pairs; /* those that count: no messages to oneself, no negligible partners; owned */
    size_t pair_count;
    bool by_bytes;     /* weights are bytes; messages where no bytes are known */
    double weight;     /* of all pairs, including those that do not count: the base of shares */
    uint32_t *degrees; /* by process: distinct partners, in either direction; owned */
    uint32_t least_degree, most_degree;
    double mean_degree;
    double symmetry;      /* sum of min(w(i,j), w(j,i)) / sum */
    double exchanges;     /* the same of messages */
    double star;          /* largest share of the weight that one process sends or receives */
    uint32_t centre;      /* that process, the lowest of equals */
    double xor1;          /* share of pairs whose ranks differ in one bit */
    double fill;          /* used pairs / (P (P-1)) */
    double variation;     /* coefficient of variation of the used pairs' weights */
    struct map offsets;   /* d -> share of the weight with to - from = d mod P, as a number of 2^-32 */
    struct map distances; /* the same of |to - from| */
};

/* A pair counts unless it has less than 1 % of the messages of both of its processes, and less than a tenth of what a
   partner of each has in the mean (with a hundred partners each may have 1 %). */
struct traffic_features traffic_features_of(const struct traffic_pair *pairs, size_t count, uint32_t processes);
void traffic_features_clear(struct traffic_features *features);

/* off(d): share of the weight with to - from = d modulo the number of processes. */
double traffic_offset(const struct traffic_features *features, uint32_t d);

/* Share of the weight with |to - from| = d. */
double traffic_distance(const struct traffic_features *features, uint32_t d);

static inline uint32_t traffic_pair_distance(const struct traffic_pair *pair)
{
    return pair->to > pair->from ? pair->to - pair->from : pair->from - pair->to;
}

static inline double traffic_weight(const struct traffic_features *features, const struct traffic_pair *pair)
{
    return (double)(features->by_bytes ? pair->bytes : pair->messages);
}

#endif
