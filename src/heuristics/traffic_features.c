/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/traffic_features.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <math.h>

/* Maps hold whole numbers: shares are in units of 2^-32, fine enough for sums over millions of pairs. */
static const double NEGLIGIBLE = 0.01, NEGLIGIBLE_OF_MEAN = 0.1, SHARE_ONE = 4294967296.0;

void traffic_features_clear(struct traffic_features *features)
{
    free(features->pairs);
    free(features->degrees);
    map_clear(&features->offsets);
    map_clear(&features->distances);
    *features = (struct traffic_features){0};
}

static double share_in(const struct map *map, uint32_t d)
{
    const uint64_t *weight = map_find(map, d);
    /* A distance that no pair has is not in the map. */
    if (!weight)
        return 0;
    return (double)*weight / SHARE_ONE;
}

double traffic_offset(const struct traffic_features *features, uint32_t d)
{
    return share_in(&features->offsets, d);
}

double traffic_distance(const struct traffic_features *features, uint32_t d)
{
    return share_in(&features->distances, d);
}

/* Messages and partners of each process, of pairs in either direction. */
struct sums {
    double *messages;
    uint32_t *ends; /* pairs that it is in */
};

static bool is_negligible(const struct sums *sums, const struct traffic_pair *pair)
{
    const uint32_t ends[] = {pair->from, pair->to};
    for (int i = 0; i < 2; i++) {
        double all = sums->messages[ends[i]], mean = all / sums->ends[ends[i]];
        if ((double)pair->messages >= NEGLIGIBLE * all || (double)pair->messages >= NEGLIGIBLE_OF_MEAN * mean)
            return false;
    }
    return true;
}

static bool is_pair(const struct traffic_pair *pair, uint32_t processes)
{
    return pair->from != pair->to && pair->from < processes && pair->to < processes && pair->messages > 0;
}

static void choose_pairs(struct traffic_features *features, const struct traffic_pair *pairs, size_t count)
{
    uint32_t processes = features->processes;
    struct sums sums = {memory_new(processes * sizeof(double)), memory_new(processes * sizeof(uint32_t))};
    for (size_t i = 0; i < count; i++) {
        if (!is_pair(&pairs[i], processes))
            continue;
        features->by_bytes |= pairs[i].bytes > 0;
        sums.messages[pairs[i].from] += (double)pairs[i].messages;
        sums.messages[pairs[i].to] += (double)pairs[i].messages;
        sums.ends[pairs[i].from]++;
        sums.ends[pairs[i].to]++;
    }
    features->pairs = memory_new(count * sizeof *features->pairs);
    for (size_t i = 0; i < count; i++) {
        if (!is_pair(&pairs[i], processes))
            continue;
        features->weight += traffic_weight(features, &pairs[i]);
        if (!is_negligible(&sums, &pairs[i]))
            features->pairs[features->pair_count++] = pairs[i];
    }
    free(sums.messages);
    free(sums.ends);
}

/* Degrees and symmetry: the features that need a pair's other direction. */
static void find_partners(struct traffic_features *features)
{
    struct map known = {0};
    double mutual = 0, sum = 0, messages = 0, exchanged = 0;
    features->degrees = memory_new(features->processes * sizeof *features->degrees);
    for (size_t i = 0; i < features->pair_count; i++)
        map_put(&known, map_pair(features->pairs[i].from, features->pairs[i].to), i);
    for (size_t i = 0; i < features->pair_count; i++) {
        const struct traffic_pair *pair = &features->pairs[i];
        const uint64_t *back = map_find(&known, map_pair(pair->to, pair->from));
        double weight = traffic_weight(features, pair);
        messages += (double)pair->messages;
        if (back) {
            mutual += fmin(weight, traffic_weight(features, &features->pairs[*back]));
            exchanged += fmin((double)pair->messages, (double)features->pairs[*back].messages);
        }
        /* A pair in both directions is one partner: counted at its lower rank's message. */
        if (!back || pair->from < pair->to) {
            features->degrees[pair->from]++;
            features->degrees[pair->to]++;
            sum += 2;
        }
    }
    map_clear(&known);
    features->symmetry = ratio_of(mutual, features->weight);
    features->exchanges = ratio_of(exchanged, messages);
    features->mean_degree = sum / features->processes;
    features->least_degree = features->degrees[0];
    for (uint32_t i = 0; i < features->processes; i++) {
        if (features->degrees[i] < features->least_degree)
            features->least_degree = features->degrees[i];
        if (features->degrees[i] > features->most_degree)
            features->most_degree = features->degrees[i];
    }
}

static void find_star(struct traffic_features *features)
{
    double *weights = memory_new(features->processes * sizeof *weights);
    for (size_t i = 0; i < features->pair_count; i++) {
        weights[features->pairs[i].from] += traffic_weight(features, &features->pairs[i]);
        weights[features->pairs[i].to] += traffic_weight(features, &features->pairs[i]);
    }
    for (uint32_t i = 1; i < features->processes; i++)
        if (weights[i] > weights[features->centre])
            features->centre = i;
    if (features->weight > 0)
        features->star = weights[features->centre] / features->weight;
    free(weights);
}

static void find_offsets(struct traffic_features *features)
{
    double squares = 0, sum = 0;
    for (size_t i = 0; i < features->pair_count && features->weight > 0; i++) {
        const struct traffic_pair *pair = &features->pairs[i];
        double weight = traffic_weight(features, pair);
        uint64_t share = (uint64_t)llround(weight / features->weight * SHARE_ONE);
        uint32_t distance = traffic_pair_distance(pair), offset = distance;
        if (pair->to < pair->from)
            offset = features->processes - distance;
        *map_put(&features->offsets, offset, 0) += share;
        *map_put(&features->distances, distance, 0) += share;
        uint32_t bits = pair->from ^ pair->to;
        if ((bits & (bits - 1)) == 0)
            features->xor1 += weight / features->weight;
        sum += weight;
        squares += weight * weight;
    }
    double count = (double)features->pair_count, mean = sum / count;
    if (sum > 0)
        features->variation = sqrt(fmax(0, squares / count - mean * mean)) / mean;
    if (features->processes > 1)
        features->fill = count / ((double)features->processes * (features->processes - 1.0));
}

struct traffic_features traffic_features_of(const struct traffic_pair *pairs, size_t count, uint32_t processes)
{
    struct traffic_features features = {.processes = processes};
    if (processes == 0)
        return features;
    choose_pairs(&features, pairs, count);
    find_partners(&features);
    find_star(&features);
    find_offsets(&features);
    return features;
}
