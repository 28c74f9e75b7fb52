/* SPDX-License-Identifier: BSD-3-Clause */
#include "clocks/clock_lines.h"

#include "clocks/clock_pairs.h"
#include "clocks/clock_squares.h"
#include "core/heap.h"
#include "core/memory.h"
#include "core/numbers.h"

#include <math.h>
#include <string.h>

/* Larger values do not come from clocks, but from a damaged trace. */
static const double SLOPE_LEAST = -0.999, SLOPE_MOST = 999;

/* Half a ns is rounding; clocks that no line fits are known less precisely than their bounds suggest. Lines that still
   contradict each other after this many rounds continue to do so; differences that are not small need a second balance.
 */
static const double ROUNDING_NS = 0.5, BENT_NS = 1000;
static const double WORTHWHILE = 0.001; /* a sweep that gains less than this part of the best one's gain is the last */
enum { SWEEPS = 100, LOOKS = 30, BALANCES = 2 }; /* LOOKS: at each tie on average, of all sweeps of a kind */

/* The relation of a process's clock to a partner's. */
struct tie {
    uint32_t partner, pair;
    bool loose;
    bool together; /* known from its exits */
    double width;
    struct clock_line forward; /* converts a time of the process to one of the partner */
};

/* How far a process is from the reference. */
struct distance {
    uint32_t loose; /* open corridors on the way */
    double width;
};

struct finder {
    const struct causality *causality;
    struct clock_pairs pairs;
    struct clock_map *maps;
    struct clock_place *places;
    struct tie *ties;
    size_t *first; /* ties of a process: [first[i], first[i + 1]) */
    struct distance *distance;
    uint32_t *heap, *heap_place; /* by distance; 1 + place in the heap, 0: not in it */
    size_t heap_count;
    bool *done;
    bool *settled; /* neither its line nor a partner's has changed since it was last examined */
};

/* A line whose slope is -1 would stop the clock; NaN fails every comparison. */
static bool is_clock(struct clock_line line)
{
    return line.slope > SLOPE_LEAST && line.slope < SLOPE_MOST && isfinite(line.offset);
}

static void find_ties(struct finder *finder)
{
    struct clock_pairs *pairs = &finder->pairs;
    size_t count = finder->causality->timeline_count;
    finder->first = memory_new((count + 2) * sizeof *finder->first);
    finder->ties = memory_new(2 * pairs->count * sizeof *finder->ties);
    for (size_t i = 0; i < pairs->count; i++) {
        finder->first[pairs->pair[i].a + 2]++;
        finder->first[pairs->pair[i].b + 2]++;
    }
    /* Two places further, so that filling below moves `first` to where it belongs: the usual counting sort. */
    for (size_t i = 2; i < count + 2; i++)
        finder->first[i] += finder->first[i - 1];
    for (size_t i = 0; i < pairs->count; i++) {
        struct clock_pair *pair = &pairs->pair[i];
        struct corridor_fit fit = clock_pair_fit(pairs, i);
        struct tie tie = {
            .pair = (uint32_t)i, .loose = fit.kind == CORRIDOR_OPEN, .together = fit.kind == CORRIDOR_TOGETHER};
        if (isfinite(fit.width))
            tie.width = fit.width;
        tie.partner = pair->b;
        tie.forward = fit.line;
        finder->ties[finder->first[pair->a + 1]++] = tie;
        tie.partner = pair->a;
        tie.forward = clock_line_inverse(fit.line);
        finder->ties[finder->first[pair->b + 1]++] = tie;
    }
}

/* The heap of processes that are reached, the nearest first, the lowest if equal. */
static bool nearer(const void *context, const void *left_process, const void *right_process)
{
    const struct finder *finder = context;
    uint32_t left = *(const uint32_t *)left_process, right = *(const uint32_t *)right_process;
    const struct distance *a = &finder->distance[left], *b = &finder->distance[right];
    if (a->loose != b->loose)
        return a->loose < b->loose;
    if (a->width != b->width)
        return a->width < b->width;
    return left < right;
}

static void note_place(void *context, const void *process, size_t place)
{
    struct finder *finder = context;
    finder->heap_place[*(const uint32_t *)process] = (uint32_t)place + 1;
}

static const struct heap_order BY_DISTANCE = {sizeof(uint32_t), nearer, note_place};

/* Adds a process to the heap, or moves it if it is now nearer. */
static void come_nearer(struct finder *finder, uint32_t timeline)
{
    if (!finder->heap_place[timeline]) {
        finder->heap[finder->heap_count] = timeline;
        finder->heap_place[timeline] = (uint32_t)++finder->heap_count;
    }
    heap_up(finder->heap, finder->heap_place[timeline] - 1, &BY_DISTANCE, finder);
}

static uint32_t take_nearest(struct finder *finder)
{
    uint32_t first = finder->heap[0];
    finder->heap_count = heap_drop(finder->heap, finder->heap_count, &BY_DISTANCE, finder);
    finder->heap_place[first] = 0;
    return first;
}

/* The bounds that a tie sets for the process's own correction, assuming that the partner's is right: d is how far its
   clock must be put forward beyond a drift of `slope`. */
static void add_bounds(const struct finder *finder, struct corridor *corridor, uint32_t timeline, const struct tie *tie,
                       double slope)
{
    const struct clock_pair *pair = &finder->pairs.pair[tie->pair];
    const struct clock_line partner = finder->maps[tie->partner].line;
    bool first = pair->a == timeline;
    for (int above = 0; above < 2; above++) {
        const struct corridor_side *side = &pair->corridor.below;
        if (above)
            side = &pair->corridor.above;
        for (size_t i = 0; i < side->count; i++) {
            /* The bound is d = b - a at time a of the first clock; seen from the second it is -d at time a + d. */
            double own = side->at[i].x, ahead = side->at[i].d;
            if (!first) {
                own += ahead;
                ahead = 0 - ahead;
            }
            /* A bound from above on the partner's lead is one from above for the first process, from below for the
               second: what it must at least be put forward. */
            corridor_add(corridor, first == above, own,
                         ahead + partner.offset + partner.slope * (own + ahead) - slope * own);
        }
    }
}

static struct clock_line line_by(const struct finder *finder, uint32_t from, const struct tie *tie)
{
    return clock_line_chained(clock_line_inverse(tie->forward), finder->maps[from].line);
}

/* With bounds on one side only: moved no further than they require. */
static struct clock_line loose_line(const struct finder *finder, uint32_t from, const struct tie *tie)
{
    struct tie back = {.partner = from, .pair = tie->pair};
    struct corridor corridor = {0};
    add_bounds(finder, &corridor, tie->partner, &back, 0);
    struct clock_line line = {corridor_nearest(&corridor, 0), 0};
    bool fits = corridor_contradiction(&corridor, line) <= ROUNDING_NS;
    corridor_clear(&corridor);
    return fits ? line : line_by(finder, from, tie);
}

static void reach(struct finder *finder, uint32_t from, const struct tie *tie)
{
    struct distance *known = &finder->distance[tie->partner];
    /* Open corridors count before any width: a path with a guess is worse than a long one without. */
    struct distance distance = {finder->distance[from].loose + tie->loose, finder->distance[from].width + tie->width};
    if (finder->done[tie->partner] || distance.loose > known->loose ||
        (distance.loose == known->loose && distance.width >= known->width))
        return;
    struct clock_line line;
    if (tie->loose)
        line = loose_line(finder, from, tie);
    else
        line = line_by(finder, from, tie);
    /* A partner that no clock reaches this way may be reached on another. */
    if (!is_clock(line))
        return;
    *known = distance;
    finder->maps[tie->partner].line = line;
    come_nearer(finder, tie->partner);
}

/* Computes the lines of all processes connected with the reference, as members of its component. Returns their number.
 */
static size_t spread(struct finder *finder, uint32_t reference, uint32_t component, uint32_t *members)
{
    size_t count = 0;
    finder->distance[reference] = (struct distance){0, 0};
    finder->maps[reference].line = (struct clock_line){0, 0};
    come_nearer(finder, reference);
    while (finder->heap_count > 0) {
        uint32_t timeline = take_nearest(finder);
        finder->done[timeline] = true;
        members[count++] = timeline;
        finder->places[timeline] = (struct clock_place){.component = component,
                                                        .loose = finder->distance[timeline].loose > 0,
                                                        .reference = timeline == reference,
                                                        .width_ns = finder->distance[timeline].width};
        for (size_t i = finder->first[timeline]; i < finder->first[timeline + 1]; i++)
            reach(finder, timeline, &finder->ties[i]);
    }
    return count;
}

struct agreed {
    struct clock_line line;
    uint32_t timeline;
};

static int by_line(const void *a, const void *b)
{
    const struct agreed *left = a, *right = b;
    int order = order_by(left->line.offset, right->line.offset);
    if (order == 0)
        order = order_by(left->line.slope, right->line.slope);
    return order ? order : order_by(left->timeline, right->timeline);
}

static bool agree(const struct agreed *a, const struct agreed *b)
{
    return a->line.offset == b->line.offset && a->line.slope == b->line.slope;
}

/* The lowest process of the largest set with the same line: most clocks should keep their times, not those of whatever
   process happens to be the first. */
static uint32_t most_agree(const struct finder *finder, const uint32_t *members, size_t count)
{
    struct agreed *agreed = memory_new(count * sizeof *agreed);
    for (size_t i = 0; i < count; i++)
        agreed[i] = (struct agreed){finder->maps[members[i]].line, members[i]};
    qsort(agreed, count, sizeof *agreed, by_line);
    uint32_t best = agreed[0].timeline;
    size_t most = 0;
    for (size_t i = 0, from = 0; i < count; i++) {
        if (!agree(&agreed[i], &agreed[from]))
            from = i;
        size_t alike = i - from + 1;
        if (alike > most || (alike == most && agreed[from].timeline < best)) {
            most = alike;
            best = agreed[from].timeline;
        }
    }
    free(agreed);
    return best;
}

static void forget(struct finder *finder, const uint32_t *members, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        finder->done[members[i]] = false;
        finder->distance[members[i]] = (struct distance){UINT32_MAX, INFINITY};
    }
}

static void spread_all(struct finder *finder)
{
    size_t count = finder->causality->timeline_count;
    uint32_t *members = memory_new(count * sizeof *members), component = 0;
    for (size_t i = 0; i < count; i++)
        finder->distance[i] = (struct distance){UINT32_MAX, INFINITY};
    for (uint32_t i = 0; i < count; i++) {
        if (finder->done[i])
            continue;
        size_t connected = spread(finder, i, component, members);
        /* Known only when all lines are: the lines themselves were computed from the first process. */
        uint32_t reference = most_agree(finder, members, connected);
        if (reference != i) {
            forget(finder, members, connected);
            connected = spread(finder, reference, component, members);
        }
        finder->places[i].alone = connected == 1;
        component++;
    }
    free(members);
}

/* All bounds of the process beyond a drift of `slope`. */
static struct corridor bounds_of(const struct finder *finder, uint32_t timeline, double slope)
{
    struct corridor corridor = {0};
    for (size_t i = finder->first[timeline]; i < finder->first[timeline + 1]; i++)
        add_bounds(finder, &corridor, timeline, &finder->ties[i], slope);
    return corridor;
}

/* The largest violation of a partner's bounds by this line of the process. */
static double contradiction_with(const struct finder *finder, uint32_t timeline, const struct tie *tie,
                                 struct clock_line line)
{
    const struct clock_pair *pair = &finder->pairs.pair[tie->pair];
    const struct clock_line partner = finder->maps[tie->partner].line;
    bool first = pair->a == timeline;
    double most = 0;
    for (int above = 0; above < 2; above++) {
        const struct corridor_side *side = &pair->corridor.below;
        if (above)
            side = &pair->corridor.above;
        double sign = -1;
        if (first == above)
            sign = 1;
        for (size_t i = 0; i < side->count; i++) {
            double own = side->at[i].x, ahead = side->at[i].d;
            if (!first) {
                own += ahead;
                ahead = 0 - ahead;
            }
            double bound = ahead + partner.offset + partner.slope * (own + ahead);
            most = fmax(most, sign * (line.offset + line.slope * own - bound));
        }
    }
    return most;
}

/* The sum of these violations over all its partners. */
static double contradiction_of(const struct finder *finder, uint32_t timeline, struct clock_line line)
{
    double sum = 0;
    for (size_t i = finder->first[timeline]; i < finder->first[timeline + 1]; i++)
        sum += contradiction_with(finder, timeline, &finder->ties[i], line);
    return sum;
}

/* Gives the process a better line, if there is one; its partners must then be examined again. Returns how much the
   violation shrinks. */
static double improve(struct finder *finder, uint32_t timeline, bool drift)
{
    struct clock_line *line = &finder->maps[timeline].line;
    double contradiction = contradiction_of(finder, timeline, *line);
    if (contradiction <= ROUNDING_NS)
        return 0;
    /* Without `drift` the slope stays: the bounds are tilted by it, and a level line is looked for. */
    struct clock_line fitted = {0, 0};
    double slope = line->slope;
    if (drift)
        slope = 0;
    struct corridor corridor = bounds_of(finder, timeline, slope);
    if (drift)
        fitted = corridor_fit(&corridor).line;
    else
        fitted.offset = corridor_nearest(&corridor, line->offset);
    corridor_clear(&corridor);
    fitted.slope += slope;
    double gain = contradiction - contradiction_of(finder, timeline, fitted);
    if (gain <= ROUNDING_NS || !is_clock(fitted))
        return 0;
    *line = fitted;
    for (size_t i = finder->first[timeline]; i < finder->first[timeline + 1]; i++)
        finder->settled[finder->ties[i].partner] = false;
    return gain;
}

static bool is_moved(const struct clock_map *map)
{
    return map->line.offset != 0 || map->line.slope != 0;
}

/* `moved`: only processes that are moved anyway. */
static void improve_all(struct finder *finder, bool drift, bool moved)
{
    size_t count = finder->causality->timeline_count;
    /* Bounded by looks, not only by sweeps: a run of thousands of processes would take minutes for the last ns. */
    double gain = INFINITY, largest = 0, looks = LOOKS * 2.0 * (double)finder->pairs.count + (double)SWEEPS;
    memset(finder->settled, 0, count * sizeof *finder->settled);
    for (int sweep = 0; sweep < SWEEPS && looks > 0 && gain > WORTHWHILE * largest; sweep++) {
        gain = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (finder->settled[i] || finder->places[i].reference || (moved && !is_moved(&finder->maps[i])))
                continue;
            finder->settled[i] = true;
            looks -= (double)(finder->first[i + 1] - finder->first[i]);
            gain += improve(finder, i, drift);
        }
        largest = fmax(largest, gain);
    }
}

/* The sum of the violations of all pairs' bounds. */
static double contradictions(const struct finder *finder)
{
    double sum = 0;
    for (size_t i = 0; i < finder->pairs.count; i++) {
        const struct clock_pair *pair = &finder->pairs.pair[i];
        sum += clock_pair_contradiction(&finder->pairs, i, finder->maps[pair->a].line, finder->maps[pair->b].line);
    }
    return sum;
}

/* The remaining differences of each pair of lines: offsets and drifts. */
static void find_rests(const struct finder *finder, struct square_edge *offsets, struct square_edge *drifts)
{
    for (size_t i = 0; i < finder->pairs.count; i++) {
        const struct clock_pair *pair = &finder->pairs.pair[i];
        struct corridor_fit fit =
            clock_pair_rest(&finder->pairs, i, finder->maps[pair->a].line, finder->maps[pair->b].line);
        /* Errors are about as large as the corridor is wide: least squares weights them by 1 / width^2. */
        double width = fmax(fit.width, 1), weight = 0, drift_weight = 0;
        if (fit.kind == CORRIDOR_CROSSED)
            width += BENT_NS;
        if (isfinite(fit.width))
            weight = 1 / (width * width);
        if (fit.kind >= CORRIDOR_COMPLETE)
            drift_weight = weight;
        offsets[i] = (struct square_edge){pair->a, pair->b, 0 - fit.line.offset, weight};
        drifts[i] = (struct square_edge){pair->a, pair->b, 0 - fit.line.slope, drift_weight};
    }
}

/* A process that need not be moved stays where it is: balancing would spread a part of every error over it. */
static bool *unmoved(const struct finder *finder)
{
    bool *fixed = memory_new(finder->causality->timeline_count * sizeof *fixed);
    for (size_t i = 0; i < finder->causality->timeline_count; i++)
        fixed[i] = !is_moved(&finder->maps[i]);
    return fixed;
}

/* Balances all pairs together if that violates less: along a path from the reference errors add up. */
static void balance(struct finder *finder)
{
    size_t count = finder->causality->timeline_count, pairs = finder->pairs.count;
    struct square_edge *offsets = memory_new(pairs * sizeof *offsets), *drifts = memory_new(pairs * sizeof *drifts);
    double *offset = memory_new(count * sizeof *offset), *drift = memory_new(count * sizeof *drift);
    struct clock_line *before = memory_new(count * sizeof *before);
    bool *fixed = unmoved(finder);
    double wrong = contradictions(finder);
    find_rests(finder, offsets, drifts);
    squares_solve(offsets, pairs, fixed, offset, count);
    squares_solve(drifts, pairs, fixed, drift, count);
    for (size_t i = 0; i < count; i++) {
        before[i] = finder->maps[i].line;
        finder->maps[i].line = clock_line_chained(before[i], (struct clock_line){offset[i], drift[i]});
    }
    /* Least squares know nothing of bounds: the result counts only if it contradicts them less. */
    bool clocks = true;
    for (size_t i = 0; i < count; i++)
        clocks &= is_clock(finder->maps[i].line);
    bool worse = !clocks || contradictions(finder) > wrong;
    for (size_t i = 0; worse && i < count; i++)
        finder->maps[i].line = before[i];
    free(offsets);
    free(drifts);
    free(offset);
    free(drift);
    free(before);
    free(fixed);
}

static bool shown_by_exits(const struct finder *finder, uint32_t timeline)
{
    for (size_t i = finder->first[timeline]; i < finder->first[timeline + 1]; i++)
        if (finder->ties[i].together)
            return true;
    return false;
}

/* Undoes moves that are not needed: they came from the paths of others. Not those with exits, which show a difference
   that no bound contradicts. */
static void leave_alone(struct finder *finder)
{
    for (uint32_t i = 0; i < finder->causality->timeline_count; i++) {
        if (!is_moved(&finder->maps[i]) || shown_by_exits(finder, i))
            continue;
        struct corridor corridor = bounds_of(finder, i, 0);
        if (corridor_contradiction(&corridor, (struct clock_line){0, 0}) <= ROUNDING_NS)
            finder->maps[i].line = (struct clock_line){0, 0};
        corridor_clear(&corridor);
    }
}

void clock_lines_find(const struct causality *causality, const struct clock_scale *scale, struct clock_map *maps,
                      struct clock_place *places)
{
    size_t count = causality->timeline_count;
    struct finder finder = {.causality = causality,
                            .maps = maps,
                            .places = places,
                            .distance = memory_new(count * sizeof *finder.distance),
                            .heap = memory_new(count * sizeof *finder.heap),
                            .heap_place = memory_new(count * sizeof *finder.heap_place),
                            .done = memory_new(count * sizeof *finder.done),
                            .settled = memory_new(count * sizeof *finder.settled)};
    clock_pairs_fill(&finder.pairs, causality, scale);
    find_ties(&finder);
    spread_all(&finder);
    /* First what is moved anyway, then the others: a correct clock must not follow a wrong one. Offsets before
       drifts, as the simpler change. */
    for (int round = 0; round < BALANCES; round++)
        balance(&finder);
    improve_all(&finder, false, true);
    improve_all(&finder, false, false);
    improve_all(&finder, true, true);
    improve_all(&finder, true, false);
    leave_alone(&finder);
    clock_pairs_clear(&finder.pairs);
    free(finder.ties);
    free(finder.first);
    free(finder.distance);
    free(finder.heap);
    free(finder.heap_place);
    free(finder.done);
    free(finder.settled);
}
