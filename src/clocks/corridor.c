/* SPDX-License-Identifier: BSD-3-Clause */
#include "clocks/corridor.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <math.h>

/* The least number of collected bounds before the hull is recomputed. */
enum { CORRIDOR_WAITING = 64 };

/* Slopes beyond this are not clocks: B would stand still. */
static const double ROUNDING_NS = 0.5;
static const double SLOPE_LEAST = -0.999, SLOPE_MOST = 999;

static int by_x(const void *a, const void *b)
{
    const struct corridor_point *left = a, *right = b;
    int order = order_by(left->x, right->x);
    return order ? order : order_by(left->d, right->d);
}

static double slope_of(struct corridor_point from, struct corridor_point to)
{
    return (to.d - from.d) / (to.x - from.x);
}

/* Keeps the lower hull of the points (sign 1) or the upper one (sign -1), by x; of one x one point. Andrew's monotone
   chain: a point that lies beyond the line through its neighbours sets no bound to any line. */
static void side_reduce(struct corridor_side *side, double sign)
{
    struct corridor_point *at = side->at;
    size_t kept = 0;
    if (side->count > 0)
        qsort(at, side->count, sizeof *at, by_x);
    for (size_t i = 0; i < side->count; i++) {
        struct corridor_point point = at[i];
        if (kept > 0 && at[kept - 1].x == point.x) {
            if (sign * (at[kept - 1].d - point.d) <= 0)
                continue;
            kept--;
        }
        while (kept > 1 && sign * (slope_of(at[kept - 2], at[kept - 1]) - slope_of(at[kept - 1], point)) >= 0)
            kept--;
        at[kept++] = point;
    }
    side->count = side->hull = kept;
}

void corridor_add(struct corridor *corridor, bool above, double x, double d)
{
    struct corridor_side *side = &corridor->below;
    double sign = -1;
    if (above) {
        side = &corridor->above;
        sign = 1;
    }
    /* When there are twice as many points as the last hull had: each point is sorted a few times on average, and memory
       follows the hull, not the messages. */
    if (side->count >= 2 * side->hull + CORRIDOR_WAITING)
        side_reduce(side, sign);
    ARRAY_PUSH(side->at, side->count, side->capacity, (struct corridor_point){x, d});
}

void corridor_clear(struct corridor *corridor)
{
    free(corridor->above.at);
    free(corridor->below.at);
    *corridor = (struct corridor){0};
}

/* Height of the hull at x, which lies within it; `*piece` is where the search begins and where it ends. */
static double side_at(const struct corridor_side *side, double x, size_t *piece)
{
    while (*piece + 1 < side->count && side->at[*piece + 1].x <= x)
        ++*piece;
    struct corridor_point from = side->at[*piece];
    if (*piece + 1 >= side->count || x <= from.x)
        return from.d;
    return from.d + slope_of(from, side->at[*piece + 1]) * (x - from.x);
}

/* The tightest place where both sides are bounded. */
struct narrow {
    bool any;
    double x, above, below;
};

static struct narrow narrowest(const struct corridor *corridor)
{
    const struct corridor_side *above = &corridor->above, *below = &corridor->below;
    struct narrow best = {0};
    /* Outside of it one of the sides has no bound, and the corridor no width. */
    double from = fmax(above->at[0].x, below->at[0].x);
    double to = fmin(above->at[above->count - 1].x, below->at[below->count - 1].x);
    size_t i = 0, k = 0, piece_above = 0, piece_below = 0;
    /* The distance of two convex lines is smallest at a corner of one of them. */
    while (i < above->count || k < below->count) {
        bool take_above = k == below->count || (i < above->count && above->at[i].x <= below->at[k].x);
        double x = take_above ? above->at[i++].x : below->at[k++].x;
        if (x < from || x > to)
            continue;
        double up = side_at(above, x, &piece_above), down = side_at(below, x, &piece_below);
        if (!best.any || up - down < best.above - best.below)
            best = (struct narrow){true, x, up, down};
    }
    return best;
}

/* Slopes of the hull left and right of x. */
static void slopes_at(const struct corridor_side *side, double x, double outside, double *left, double *right)
{
    *left = -outside;
    *right = outside;
    for (size_t i = 0; i + 1 < side->count; i++) {
        if (side->at[i].x < x && side->at[i + 1].x >= x)
            *left = slope_of(side->at[i], side->at[i + 1]);
        if (side->at[i].x <= x && side->at[i + 1].x > x)
            *right = slope_of(side->at[i], side->at[i + 1]);
    }
}

/* The line through the middle of the largest contradiction, with the slope nearest to 0 that makes none larger. */
static struct clock_line least_wrong(const struct corridor *corridor, const struct narrow *narrow)
{
    double above_left, above_right, below_left, below_right;
    slopes_at(&corridor->above, narrow->x, INFINITY, &above_left, &above_right);
    slopes_at(&corridor->below, narrow->x, -INFINITY, &below_left, &below_right);
    double least = fmax(fmax(above_left, below_right), SLOPE_LEAST);
    double most = fmin(fmin(above_right, below_left), SLOPE_MOST);
    double slope = 0;
    if (least > 0)
        slope = least;
    else if (most < 0)
        slope = most;
    double middle = (narrow->above + narrow->below) / 2;
    return (struct clock_line){middle - slope * narrow->x, slope};
}

static struct clock_line line_through(struct corridor_point from, struct corridor_point to)
{
    double slope = slope_of(from, to);
    return (struct clock_line){from.d - slope * from.x, slope};
}

/* The steepest line between the sides touches a point below on the left and one above on its right (the flattest: one
   above on the left). Both pointers move inwards as long as that makes the line less steep. False: there is none. */
static bool extreme_line(const struct corridor_side *left, const struct corridor_side *right, double sign,
                         struct clock_line *line)
{
    size_t l = 0, r = right->count - 1;
    if (left->at[l].x >= right->at[r].x)
        return false;
    for (bool moved = true; moved;) {
        moved = false;
        double slope = sign * slope_of(left->at[l], right->at[r]);
        while (l + 1 < left->count && left->at[l + 1].x < right->at[r].x &&
               sign * slope_of(left->at[l + 1], right->at[r]) < slope) {
            slope = sign * slope_of(left->at[++l], right->at[r]);
            moved = true;
        }
        while (r > 0 && right->at[r - 1].x > left->at[l].x && sign * slope_of(left->at[l], right->at[r - 1]) < slope) {
            slope = sign * slope_of(left->at[l], right->at[--r]);
            moved = true;
        }
    }
    *line = line_through(left->at[l], right->at[r]);
    return true;
}

/* The possible offsets if the clocks run at the same rate: from *low to *high, if that is not below it. */
static void offsets(const struct corridor *corridor, double *low, double *high)
{
    *low = -INFINITY;
    *high = INFINITY;
    for (size_t i = 0; i < corridor->above.count; i++)
        *high = fmin(*high, corridor->above.at[i].d);
    for (size_t i = 0; i < corridor->below.count; i++)
        *low = fmax(*low, corridor->below.at[i].d);
}

/* For clocks with the same rate: 0, or the middle of the possible offsets, in whole ns; if none is possible, the one
   whose largest contradiction is the smallest. */
static double offset_of(const struct corridor *corridor)
{
    double low, high;
    offsets(corridor, &low, &high);
    if (low <= 0 && high >= 0)
        return 0;
    if (isinf(low))
        return high;
    if (isinf(high))
        return low;
    return floor(low + (high - low) / 2);
}

double corridor_nearest(const struct corridor *corridor, double offset)
{
    double low, high;
    offsets(corridor, &low, &high);
    if (low > high)
        return low + (high - low) / 2;
    return fmin(fmax(offset, low), high);
}

/* One side has no bounds: only an offset is known. */
static struct corridor_fit fit_one_sided(const struct corridor *corridor)
{
    struct corridor_fit fit = {.kind = CORRIDOR_OPEN, .line = {.offset = offset_of(corridor)}, .width = INFINITY};
    if (corridor->above.count + corridor->below.count == 0)
        fit.kind = CORRIDOR_EMPTY;
    return fit;
}

static bool slope_fits(struct clock_line line)
{
    return line.slope >= SLOPE_LEAST && line.slope <= SLOPE_MOST;
}

struct clock_line corridor_bisector(struct clock_line steepest, struct clock_line flattest)
{
    /* diagnosis_rules 3.2, after Duda and others (1987). Its lines are y = a + b x; ours are the difference d = y -
       x, so that b is 1 + slope. */
    double most = 1 + steepest.slope, least = 1 + flattest.slope;
    double slope = (most * least - 1 + sqrt((1 + most * most) * (1 + least * least))) / (most + least);
    double apart = flattest.offset - steepest.offset;
    return (struct clock_line){flattest.offset - apart / 2 * (slope * slope + 1) / (1 + slope * most), slope - 1};
}

static bool side_spans(const struct corridor_side *side, double x)
{
    return side->at[0].x <= x && side->at[side->count - 1].x >= x;
}

/* The uncertainty at x = 0: the distance of the hulls or, if they do not reach that far, of the two lines. */
static double width_between(const struct corridor *corridor, const struct corridor_fit *fit)
{
    size_t above = 0, below = 0;
    if (!side_spans(&corridor->above, 0) || !side_spans(&corridor->below, 0))
        return fabs(fit->steepest.offset - fit->flattest.offset);
    return side_at(&corridor->above, 0, &above) - side_at(&corridor->below, 0, &below);
}

static struct corridor_fit fit_between(const struct corridor *corridor)
{
    struct corridor_fit fit = {.kind = CORRIDOR_COMPLETE};
    bool steepest = extreme_line(&corridor->below, &corridor->above, 1, &fit.steepest);
    bool flattest = extreme_line(&corridor->above, &corridor->below, -1, &fit.flattest);
    double low, high;
    offsets(corridor, &low, &high);
    fit.width = width_between(corridor, &fit);
    /* They do not overlap in time: a line could be as steep as it likes. */
    if (!steepest || !flattest) {
        fit.kind = CORRIDOR_OPEN;
        fit.width = fabs(high - low);
    }
    /* The simplest that fits: no drift, else the line in the middle, else the only one that is known. */
    if (low <= high)
        fit.line.offset = offset_of(corridor);
    else if (steepest && flattest)
        fit.line = corridor_bisector(fit.steepest, fit.flattest);
    else if (steepest)
        fit.line = fit.steepest;
    else
        fit.line = fit.flattest;
    return fit;
}

static double side_contradiction(const struct corridor_side *side, double sign, struct clock_line line)
{
    double most = 0;
    for (size_t i = 0; i < side->count; i++)
        most = fmax(most, sign * (line.offset + line.slope * side->at[i].x - side->at[i].d));
    return most;
}

double corridor_contradiction(const struct corridor *corridor, struct clock_line line)
{
    return fmax(side_contradiction(&corridor->above, 1, line), side_contradiction(&corridor->below, -1, line));
}

/* If every line is contradicted: a line with one more parameter must halve the contradiction. */
static struct clock_line simplest(const struct corridor *corridor, struct clock_line line)
{
    struct clock_line none = {0, 0}, offset = {offset_of(corridor), 0};
    double worst = corridor_contradiction(corridor, line), worst_offset = corridor_contradiction(corridor, offset);
    if (worst_offset <= 2 * worst) {
        line = offset;
        worst = worst_offset;
    }
    if (corridor_contradiction(corridor, none) <= 2 * worst)
        return none;
    return line;
}

/* The middle of the possible offsets, if there are any. */
static void set_middle(const struct corridor *corridor, struct corridor_fit *fit)
{
    double low, high;
    offsets(corridor, &low, &high);
    if (low <= high)
        fit->line.offset = (low + high) / 2;
}

static struct corridor_fit fit_crossed(const struct corridor *corridor, const struct narrow *narrow, bool simple)
{
    struct clock_line line = least_wrong(corridor, narrow);
    struct corridor_fit fit = {.kind = CORRIDOR_CROSSED, .line = line, .width = narrow->below - narrow->above};
    if (simple)
        fit.line = simplest(corridor, line);
    return fit;
}

static struct corridor_fit fit_corridor(struct corridor *corridor, bool simple)
{
    side_reduce(&corridor->above, 1);
    side_reduce(&corridor->below, -1);
    if (corridor->above.count == 0 || corridor->below.count == 0)
        return fit_one_sided(corridor);
    struct narrow narrow = {0};
    bool overlap = corridor->above.at[0].x <= corridor->below.at[corridor->below.count - 1].x &&
                   corridor->below.at[0].x <= corridor->above.at[corridor->above.count - 1].x;
    if (overlap)
        narrow = narrowest(corridor);
    /* Half a ns is rounding: times are whole ns. */
    if (narrow.any && narrow.above < narrow.below - ROUNDING_NS)
        return fit_crossed(corridor, &narrow, simple);
    struct corridor_fit fit = fit_between(corridor);
    /* No clock behaves like that: the times are damaged. */
    if (!slope_fits(fit.line)) {
        fit.kind = CORRIDOR_CROSSED;
        fit.line = simplest(corridor, (struct clock_line){0, 0});
    }
    if (!simple)
        set_middle(corridor, &fit);
    return fit;
}

struct corridor_fit corridor_fit(struct corridor *corridor)
{
    return fit_corridor(corridor, true);
}

struct corridor_fit corridor_middle(struct corridor *corridor)
{
    return fit_corridor(corridor, false);
}
