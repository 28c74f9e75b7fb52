/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/structure.h"

#include "core/numbers.h"

#include <math.h>

/* Rules of diagnosis, 6: what fits explains 0.9 of the weight. The stride of a grid is looked for from 1 % on: in a
   large grid with few rows, neighbours across rows have that little of the messages. */
static const double LEAST_USED = 0.5, FITS = 0.9, AS_GOOD = 0.02, EQUAL_BITS = 0.5, LEAST_STRIDE = 0.01,
                    EVEN_VARIATION = 0.5, DRIFTS = 0.5;

/* A template with fewer used pairs than this does not describe the program. */
static struct structure_match match_checked(struct structure_match match)
{
    if (match.used < LEAST_USED)
        match.score = 0;
    match.used = fmin(match.used, 1);
    return match;
}

static struct structure_match match_master(const struct traffic_features *features)
{
    return match_checked(
        (struct structure_match){.kind = STRUCTURE_MASTER_WORKER,
                                 .score = features->star,
                                 .centre = features->centre,
                                 .used = features->degrees[features->centre] / (features->processes - 1.0)});
}

/* The offset with the largest share, excluding exchanges of two. */
static uint32_t largest_offset(const struct traffic_features *features)
{
    uint32_t largest = 0;
    double most = 0;
    for (size_t i = 0; i < features->pair_count; i++) {
        const struct traffic_pair *pair = &features->pairs[i];
        uint32_t offset = pair->to - pair->from;
        if (pair->to < pair->from)
            offset += features->processes;
        /* Half way round has no direction: it is the same forwards and backwards. */
        if (offset * UINT64_C(2) == features->processes)
            continue;
        double share = traffic_offset(features, offset);
        if (share > most || (share == most && offset < largest)) {
            most = share;
            largest = offset;
        }
    }
    return largest;
}

/* Pipeline and ring: the messages from each rank to the one `offset` on, those across the end apart. */
static void match_chain(const struct traffic_features *features, struct structure_match *pipeline,
                        struct structure_match *ring)
{
    uint32_t processes = features->processes, offset = largest_offset(features);
    /* One direction the long way round is the other direction the short way. */
    bool back = offset * UINT64_C(2) > processes;
    uint32_t step = back ? processes - offset : offset, inner = 0, across = 0;
    double inner_weight = 0, across_weight = 0;
    for (size_t i = 0; i < features->pair_count; i++) {
        const struct traffic_pair *pair = &features->pairs[i];
        bool up = pair->to > pair->from;
        uint32_t distance = traffic_pair_distance(pair);
        if (up != back && distance == step) {
            inner++;
            inner_weight += traffic_weight(features, pair);
        } else if (up == back && distance == processes - step) {
            across++;
            across_weight += traffic_weight(features, pair);
        }
    }
    *pipeline = (struct structure_match){.kind = STRUCTURE_PIPELINE, .step = back ? -(int64_t)step : step};
    *ring = (struct structure_match){.kind = STRUCTURE_RING, .step = pipeline->step};
    if (offset == 0)
        return;
    /* It is closed if the last sends to the first about as much as the others to theirs. */
    bool closed = across > 0 && across_weight / across >= 0.5 * inner_weight / (inner ? inner : 1);
    /* Of the two only one has a score: a ring is not also a pipeline with a few strange messages. */
    if (!closed) {
        pipeline->score = inner_weight / features->weight;
        pipeline->used = (double)inner / (processes - step);
    } else {
        ring->score = (inner_weight + across_weight) / features->weight;
        ring->used = (double)(inner + across) / processes;
    }
    *pipeline = match_checked(*pipeline);
    *ring = match_checked(*ring);
}

/* The relation of a pair in a grid. */
enum { NO_NEIGHBOURS = -1, DIAGONAL = 3 };
struct neighbour {
    int dimension;  /* the only one in which they differ, by one; DIAGONAL: several, by one each */
    unsigned wraps; /* bit d: they are at both ends of dimension d */
};

static struct neighbour neighbour_in(const struct structure_match *grid, const struct traffic_pair *pair)
{
    struct neighbour found = {NO_NEIGHBOURS, 0};
    uint32_t from = pair->from, to = pair->to;
    for (int d = (int)grid->dimensions - 1; d >= 0; d--) {
        uint32_t size = grid->size[d], a = from % size, b = to % size, apart = larger(a, b) - smaller(a, b);
        from /= size;
        to /= size;
        if (apart == 0)
            continue;
        if (apart != 1 && apart != size - 1)
            return (struct neighbour){NO_NEIGHBOURS, 0};
        if (apart != 1)
            found.wraps |= 1U << d;
        if (found.dimension != NO_NEIGHBOURS)
            found.dimension = DIAGONAL;
        else
            found.dimension = d;
    }
    return found;
}

/* Pairs of a grid in which neighbours differ in one dimension, or, with corners, in any number of them. */
static double grid_pairs(const struct structure_match *grid, uint32_t processes, bool corners)
{
    /* A line of `size` processes has size - 1 neighbours next to each other, one more if it is closed; each is a pair
       in both directions. With corners a process has, per dimension, itself and its neighbours to choose from: the
       product over the dimensions, without itself in all. */
    double all = 1, faces = 0;
    for (uint32_t d = 0; d < grid->dimensions; d++) {
        double size = grid->size[d], lines = size - !grid->periodic[d];
        faces += 2 * lines * processes / size;
        all *= (size + 2 * lines) / size;
    }
    if (corners)
        return (all - 1) * processes;
    return faces;
}

/* Partners exchange as much, or at least as many messages, though what they move differs: particles that drift. */
static double part_exchanged(const struct traffic_features *features)
{
    bool drifts = features->exchanges >= FITS && features->symmetry >= DRIFTS;
    return drifts || features->symmetry >= FITS ? 1 : features->symmetry;
}

/* How well a grid of this size fits. */
static void match_grid(const struct traffic_features *features, struct structure_match *grid)
{
    double faces = 0, diagonals = 0, wraps[3] = {0}, inside[3] = {0};
    double faces_used = 0, diagonals_used = 0;
    for (size_t i = 0; i < features->pair_count; i++) {
        struct neighbour neighbour = neighbour_in(grid, &features->pairs[i]);
        double weight = traffic_weight(features, &features->pairs[i]);
        if (neighbour.dimension == NO_NEIGHBOURS)
            continue;
        if (neighbour.dimension == DIAGONAL) {
            diagonals += weight;
            diagonals_used++;
            continue;
        }
        faces += weight;
        faces_used++;
        if (neighbour.wraps)
            wraps[neighbour.dimension] += weight;
        else
            inside[neighbour.dimension] += weight;
    }
    /* Closed if an edge across the border has at least half of what one inside has. */
    for (uint32_t d = 0; d < grid->dimensions; d++)
        grid->periodic[d] = grid->size[d] > 2 && wraps[d] * (grid->size[d] - 1) >= 0.5 * inside[d] && wraps[d] > 0;
    double few = grid_pairs(grid, features->processes, false), many = grid_pairs(grid, features->processes, true);
    grid->corners = faces < FITS * features->weight && diagonals_used >= LEAST_USED * (many - few) && many > few;
    double weight = faces, used = faces_used, pairs = few;
    if (grid->corners) {
        weight += diagonals;
        used += diagonals_used;
        pairs = many;
    }
    grid->score = weight / features->weight;
    grid->used = used / pairs;
    grid->score *= part_exchanged(features);
    /* In a small grid all are neighbours. */
    if (pairs >= FITS * features->processes * (features->processes - 1.0))
        grid->score = 0;
    *grid = match_checked(*grid);
}

static bool is_better(const struct structure_match *match, const struct structure_match *than)
{
    if (fabs(match->score - than->score) > AS_GOOD)
        return match->score > than->score;
    return match->used > than->used;
}

/* The best grid with `planes` planes of rows of this size; 1 plane and 1 row: fewer dimensions. A grid has neighbours a
   row and a plane apart: that leaves few sizes to try. */
static void try_size(const struct traffic_features *features, uint32_t planes, uint32_t rows, uint32_t size,
                     struct structure_match *best)
{
    struct structure_match grid = {.kind = STRUCTURE_HALO};
    if (rows > 1 && traffic_distance(features, size) < LEAST_STRIDE)
        return;
    if (planes > 1 && traffic_distance(features, size * rows) < LEAST_STRIDE)
        return;
    if (planes > 1)
        grid.size[grid.dimensions++] = planes;
    if (rows > 1)
        grid.size[grid.dimensions++] = rows;
    grid.size[grid.dimensions++] = size;
    match_grid(features, &grid);
    if (grid.score > 0 && is_better(&grid, &best[grid.dimensions - 1]))
        best[grid.dimensions - 1] = grid;
}

static struct structure_match match_halo(const struct traffic_features *features)
{
    uint32_t processes = features->processes;
    struct structure_match best[3] = {{.kind = STRUCTURE_HALO}, {.kind = STRUCTURE_HALO}, {.kind = STRUCTURE_HALO}};
    try_size(features, 1, 1, processes, best);
    for (uint32_t size = 2; size <= processes / 2; size++) {
        if (processes % size != 0)
            continue;
        uint32_t others = processes / size;
        try_size(features, 1, others, size, best);
        for (uint32_t rows = 2; rows <= others / 2; rows++)
            if (others % rows == 0)
                try_size(features, others / rows, rows, size, best);
    }
    /* The fewest dimensions that explain as much: any line of processes is also a grid of one plane and one row. */
    double most = fmax(best[0].score, fmax(best[1].score, best[2].score));
    for (int n = 0; n < 3; n++)
        if (best[n].score >= most - AS_GOOD)
            return best[n];
    return best[0];
}

/* Pairs whose ranks differ in one bit, all bits alike: recursive doubling, also of the ranks beyond a power of two. */
static struct structure_match match_butterfly(const struct traffic_features *features)
{
    struct structure_match match = {.kind = STRUCTURE_BUTTERFLY, .score = features->xor1};
    double messages[32] = {0}, all = 0, used = 0;
    unsigned bits = 0;
    while (UINT64_C(2) << bits <= features->processes)
        bits++;
    for (size_t i = 0; i < features->pair_count; i++) {
        uint32_t differ = features->pairs[i].from ^ features->pairs[i].to;
        if ((differ & (differ - 1)) != 0) /* more than one bit */
            continue;
        messages[__builtin_ctz(differ)] += (double)features->pairs[i].messages;
        used++;
    }
    for (unsigned b = 0; b < bits; b++)
        all += messages[b];
    for (unsigned b = 0; b < bits; b++)
        if (messages[b] < EQUAL_BITS * all / bits)
            match.score = 0;
    match.used = used / ((double)bits * (double)(UINT64_C(1) << bits));
    match.score *= part_exchanged(features);
    return match_checked(match);
}

static struct structure_match match_tree(const struct traffic_features *features)
{
    double weight = 0;
    bool up = false, down = false;
    size_t used = 0;
    for (size_t i = 0; i < features->pair_count; i++) {
        const struct traffic_pair *pair = &features->pairs[i];
        uint32_t low = smaller(pair->from, pair->to);
        uint32_t high = larger(pair->to, pair->from);
        if ((high & (high - 1)) != low) /* the parent of a rank is the rank without its lowest bit */
            continue;
        weight += traffic_weight(features, pair);
        used++;
        up |= pair->from == high;
        down |= pair->from == low;
    }
    /* A reduction and a broadcast by hand use each edge in both directions. */
    double edges = (features->processes - 1.0) * (up + down);
    struct structure_match match = {.kind = STRUCTURE_TREE, .used = ratio_of((double)used, edges)};
    /* A part of it is not a tree: other nodes would have no parent. */
    if ((double)used >= FITS * edges && used > 0)
        match.score = weight / features->weight;
    return match_checked(match);
}

static struct structure_match match_all(const struct traffic_features *features)
{
    struct structure_match match = {.kind = STRUCTURE_ALL_TO_ALL, .score = features->fill, .used = features->fill};
    if (features->variation >= EVEN_VARIATION)
        match.score *= EVEN_VARIATION / features->variation;
    if (features->fill < FITS)
        match.score = 0;
    return match;
}

void structure_templates(const struct traffic_features *features, struct structure_match matches[STRUCTURE_TEMPLATES])
{
    matches[0] = match_all(features);
    matches[1] = match_master(features);
    match_chain(features, &matches[2], &matches[3]);
    matches[4] = match_halo(features);
    matches[5] = match_butterfly(features);
    matches[6] = match_tree(features);
    /* Processes with one partner each are pairs, even if these could be the start of another structure. */
    for (size_t i = 0; i < STRUCTURE_TEMPLATES && features->most_degree < 2; i++)
        matches[i].score = 0;
}
