/* SPDX-License-Identifier: BSD-3-Clause */
#include "clocks/clock_pairs.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <math.h>

/* Exits farther from the line than this many spreads belong to processes that were not running; exits farther apart
   than a collective takes to end show a clock difference. Fewer exits than this are not enough. */
static const double OUTLIER = 2, APART_NS = 100000, SIGNIFICANT = 10;
enum { EXITS_LEAST = 5, PASSES = 4 };

static struct clock_pair *pair_of(struct clock_pairs *pairs, uint32_t from, uint32_t to)
{
    /* One corridor for both directions: its x is on the clock of the lower process. */
    uint32_t a = smaller(from, to), b = larger(from, to);
    uint64_t *at = map_put(&pairs->index, map_pair(a, b), pairs->count);
    if (*at == pairs->count)
        ARRAY_PUSH(pairs->pair, pairs->count, pairs->capacity, (struct clock_pair){.a = a, .b = b});
    return &pairs->pair[*at];
}

static void add_bound(struct clock_pairs *pairs, const struct clock_scale *scale, uint32_t from, int64_t sent_ns,
                      uint32_t to, int64_t received_ns)
{
    if (from == to)
        return;
    struct clock_pair *pair = pair_of(pairs, from, to);
    bool above = from == pair->a;
    int64_t x = received_ns, y = sent_ns;
    if (above) {
        x = sent_ns;
        y = received_ns;
    }
    /* From the origin on, in the middle of the run: doubles have 53 bits, and times since 1970 need 61. */
    corridor_add(&pair->corridor, above, (double)time_minus(x, scale->origin_ns), (double)time_minus(y, x));
}

/* Of each gate the enter and the leave of the lowest timelines that have one. */
struct hub {
    uint32_t enter, leave; /* points; CAUSAL_NONE */
};

static struct hub *hubs_of(const struct causality *causality)
{
    struct hub *hubs = memory_new(causality->gate_count * sizeof *hubs);
    for (size_t i = 0; i < causality->gate_count; i++)
        hubs[i] = (struct hub){CAUSAL_NONE, CAUSAL_NONE};
    for (uint32_t i = 0; i < causality->point_count; i++) {
        const struct causal_point *point = &causality->points[i];
        uint32_t *hub = &hubs[point->gate].enter;
        if (point->leaves)
            hub = &hubs[point->gate].leave;
        if (*hub == CAUSAL_NONE || causality->points[*hub].timeline > point->timeline)
            *hub = i;
    }
    return hubs;
}

static void tie_points(struct clock_pairs *pairs, const struct causality *causality, const struct clock_scale *scale,
                       uint32_t enter, uint32_t leave)
{
    if (enter == CAUSAL_NONE || leave == CAUSAL_NONE)
        return;
    const struct causal_point *from = &causality->points[enter], *to = &causality->points[leave];
    add_bound(pairs, scale, from->timeline, from->time_ns, to->timeline, to->time_ns);
}

/* At a gate every process is tied to one that enters, and to one that leaves; and these to those of the gates it leads
   to. */
static void add_gates(struct clock_pairs *pairs, const struct causality *causality, const struct clock_scale *scale,
                      const struct hub *hubs)
{
    /* All pairs of a gate would be as many bounds as the square of its processes. */
    for (uint32_t i = 0; i < causality->point_count; i++) {
        const struct causal_point *point = &causality->points[i];
        const struct hub *hub = &hubs[point->gate];
        if (point->leaves)
            tie_points(pairs, causality, scale, hub->enter, i);
        else
            tie_points(pairs, causality, scale, i, hub->leave);
    }
    for (size_t i = 0; i < causality->gate_count; i++)
        for (size_t k = causality->gates[i].next; k < causal_nexts_end(causality, i); k++)
            tie_points(pairs, causality, scale, hubs[i].enter, hubs[causality->nexts[k]].leave);
}

/* Exits */

static void add_exit(struct clock_pairs *pairs, const struct clock_scale *scale, const struct causal_point *hub,
                     const struct causal_point *point)
{
    struct clock_pair *pair = pair_of(pairs, hub->timeline, point->timeline);
    if (pair->exits == 0) {
        ARRAY_PUSH(pairs->exits, pairs->exit_count, pairs->exit_capacity, (struct clock_exits){.spread = INFINITY});
        pair->exits = (uint32_t)pairs->exit_count;
    }
    struct clock_exits *exits = &pairs->exits[pair->exits - 1];
    double x = (double)time_minus(hub->time_ns, scale->origin_ns), d = (double)time_minus(point->time_ns, hub->time_ns);
    /* Not affected by rounding: the sums are of the residuals of the line. */
    double rest = d - exits->line.offset - exits->line.slope * x;
    if (fabs(rest) > OUTLIER * exits->spread)
        return;
    exits->count++;
    exits->x += x;
    exits->d += rest;
    exits->xx += x * x;
    exits->xd += x * rest;
    exits->dd += rest * rest;
}

/* Improves the line from the sums, which restart. */
static void end_pass(struct clock_exits *exits)
{
    double n = (double)exits->count;
    if (exits->count >= EXITS_LEAST) {
        double x = exits->x / n, d = exits->d / n;
        double xx = exits->xx / n - x * x, xd = exits->xd / n - x * d, dd = exits->dd / n - d * d;
        double slope = 0;
        if (xx > 0)
            slope = xd / xx;
        exits->line.slope += slope;
        exits->line.offset += d - slope * x;
        /* 1 ns more: exits on one line would have spread 0, and the next pass would take nothing else. */
        exits->spread = sqrt(fmax(dd - slope * xd, 0)) + 1;
    }
    double spread = INFINITY;
    if (exits->count >= EXITS_LEAST)
        spread = exits->spread;
    *exits = (struct clock_exits){.line = exits->line, .spread = spread};
}

static void add_exits(struct clock_pairs *pairs, const struct causality *causality, const struct clock_scale *scale,
                      const struct hub *hubs)
{
    /* The first pass takes all exits, each later one those near the line of the one before. */
    for (int pass = 0; pass < PASSES; pass++) {
        for (uint32_t i = 0; i < causality->point_count; i++) {
            const struct causal_point *point = &causality->points[i];
            uint32_t hub = hubs[point->gate].leave;
            if (!point->leaves || !causality->gates[point->gate].together || hub == CAUSAL_NONE ||
                causality->points[hub].timeline == point->timeline)
                continue;
            add_exit(pairs, scale, &causality->points[hub], point);
        }
        for (size_t i = 0; i < pairs->exit_count; i++)
            end_pass(&pairs->exits[i]);
    }
}

void clock_pairs_fill(struct clock_pairs *pairs, const struct causality *causality, const struct clock_scale *scale)
{
    struct hub *hubs = hubs_of(causality);
    for (size_t i = 0; i < causality->message_count; i++) {
        const struct causal_message *message = &causality->messages[i];
        if (causal_matched(message))
            add_bound(pairs, scale, message->sender, message->send_ns, message->receiver, message->receive_ns);
    }
    add_gates(pairs, causality, scale, hubs);
    add_exits(pairs, causality, scale, hubs);
    free(hubs);
}

void clock_pairs_clear(struct clock_pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++)
        corridor_clear(&pairs->pair[i].corridor);
    free(pairs->pair);
    free(pairs->exits);
    map_clear(&pairs->index);
}

/* What is known */

/* Not all processes leave them at the same moment: some learn sooner than others that all have arrived. */
static double exits_width(const struct clock_exits *exits)
{
    return fmax(2 * exits->spread, APART_NS);
}

/* Uses the exits if they are closer together than the corridor's sides and show that the clocks differ. */
static struct corridor_fit fit_exits(const struct clock_pairs *pairs, const struct clock_pair *pair,
                                     struct corridor_fit fit)
{
    if (!pair->exits)
        return fit;
    const struct clock_exits *exits = &pairs->exits[pair->exits - 1];
    /* Clocks whose rates differ by more than a factor of two are no clocks. */
    if (!isfinite(exits->spread) || exits->line.slope < -0.5 || exits->line.slope > 1)
        return fit;
    double width = exits_width(exits);
    bool apart = fabs(exits->line.offset) > fmax(APART_NS, SIGNIFICANT * exits->spread);
    /* Bounds that agree with equal clocks are only overruled by a difference that jitter cannot explain. */
    if ((fit.line.offset == 0 && fit.line.slope == 0 && !apart) || fit.width <= width)
        return fit;
    return (struct corridor_fit){.kind = CORRIDOR_TOGETHER, .line = exits->line, .width = width};
}

struct corridor_fit clock_pair_fit(struct clock_pairs *pairs, size_t pair)
{
    struct corridor_fit fit = corridor_fit(&pairs->pair[pair].corridor);
    return fit_exits(pairs, &pairs->pair[pair], fit);
}

/* Bounds between the corrected clocks. */
static void move_side(const struct corridor_side *side, bool above, struct clock_line a, struct clock_line b,
                      struct corridor *moved)
{
    for (size_t i = 0; i < side->count; i++) {
        double x = side->at[i].x, y = x + side->at[i].d;
        double ahead = side->at[i].d + (b.offset + b.slope * y) - (a.offset + a.slope * x);
        corridor_add(moved, above, x + a.offset + a.slope * x, ahead);
    }
}

static struct corridor moved_corridor(const struct clock_pair *pair, struct clock_line a, struct clock_line b)
{
    struct corridor moved = {0};
    move_side(&pair->corridor.above, true, a, b, &moved);
    move_side(&pair->corridor.below, false, a, b, &moved);
    return moved;
}

struct corridor_fit clock_pair_rest(const struct clock_pairs *pairs, size_t index, struct clock_line a,
                                    struct clock_line b)
{
    const struct clock_pair *pair = &pairs->pair[index];
    struct corridor moved = moved_corridor(pair, a, b);
    struct corridor_fit fit = corridor_middle(&moved);
    corridor_clear(&moved);
    if (!pair->exits)
        return fit;
    const struct clock_exits *exits = &pairs->exits[pair->exits - 1];
    if (exits_width(exits) < fit.width) {
        /* What is left between the corrected clocks: back from the first to its record, across, and forward again. */
        fit.line = clock_line_chained(clock_line_chained(clock_line_inverse(a), exits->line), b);
        fit.width = exits_width(exits);
        fit.kind = CORRIDOR_TOGETHER;
    }
    return fit;
}

double clock_pair_contradiction(const struct clock_pairs *pairs, size_t index, struct clock_line a, struct clock_line b)
{
    struct corridor moved = moved_corridor(&pairs->pair[index], a, b);
    double most = corridor_contradiction(&moved, (struct clock_line){0, 0});
    corridor_clear(&moved);
    return most;
}
