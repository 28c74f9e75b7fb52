/* SPDX-License-Identifier: BSD-3-Clause */
#include "clocks/clock_map.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

/* Rounds to the nearest; halves upwards, so that equal steps stay equal. Times out of range, and NaN, become the
   largest time. */
static int64_t whole(double ns)
{
    double nearest = floor(ns + 0.5);
    if (!(nearest < 9.2e18)) /* also for NaN */
        return INT64_MAX;
    return nearest <= -9.2e18 ? INT64_MIN : (int64_t)nearest;
}

int64_t clock_line_time(const struct clock_map *map, const struct clock_scale *scale, int64_t time_ns)
{
    if (map->line.offset == 0 && map->line.slope == 0)
        return time_ns;
    double x = (double)time_minus(time_ns, scale->origin_ns);
    return time_plus(time_ns, whole(map->line.offset + map->line.slope * x));
}

int64_t clock_jump_shift(const struct clock_jump *jump, const struct clock_scale *scale, int64_t time_ns)
{
    int64_t back = whole(scale->back * (double)time_minus(time_ns, jump->time_ns));
    return back < jump->shift_ns ? jump->shift_ns - back : 0;
}

size_t clock_jumps_begun(const struct clock_jump *jumps, size_t count, int64_t time_ns)
{
    size_t low = 0, high = count;
    if (count > 0 && jumps[count - 1].time_ns <= time_ns)
        return count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (jumps[middle].time_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int64_t clock_corner_shift(const struct clock_corner *from, int64_t time_ns)
{
    double part = (double)time_minus(time_ns, from[0].time_ns) / (double)time_minus(from[1].time_ns, from[0].time_ns);
    return from[0].shift_ns + whole(part * (double)(from[1].shift_ns - from[0].shift_ns));
}

/* The number of jumps that have begun at this event: it has reached their time and ordinal. */
static int64_t jumped(struct clock_map *map, const struct clock_scale *scale, int64_t time_ns)
{
    while (map->jump < map->jump_count && map->jumps[map->jump].ordinal <= map->seen &&
           map->jumps[map->jump].time_ns <= time_ns)
        map->jump++;
    /* If time went back, not all of them. */
    size_t begun = clock_jumps_begun(map->jumps, map->jump, time_ns);
    return begun == 0 ? time_ns : time_plus(time_ns, clock_jump_shift(&map->jumps[begun - 1], scale, time_ns));
}

static int64_t ramped(struct clock_map *map, int64_t time_ns)
{
    const struct clock_corner *corners = map->corners;
    if (map->corner > 0 && corners[map->corner - 1].time_ns > time_ns) {
        size_t low = 0, high = map->corner;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (corners[middle].time_ns <= time_ns)
                low = middle + 1;
            else
                high = middle;
        }
        map->corner = low;
    }
    while (map->corner < map->corner_count && corners[map->corner].time_ns <= time_ns)
        map->corner++;
    size_t passed = map->corner;
    if (passed == 0)
        return time_ns;
    /* At a corner the shift is the corner's. */
    if (passed == map->corner_count || corners[passed - 1].time_ns == time_ns)
        return time_plus(time_ns, corners[passed - 1].shift_ns);
    return time_plus(time_ns, clock_corner_shift(&corners[passed - 1], time_ns));
}

static int64_t not_before(struct clock_step earlier, struct clock_step step)
{
    bool turned = step.time_ns >= earlier.time_ns && step.corrected_ns < earlier.corrected_ns;
    return turned ? earlier.corrected_ns : step.corrected_ns;
}

static int64_t in_order(struct clock_map *map, int64_t time_ns, int64_t corrected_ns)
{
    struct clock_step step = {time_ns, corrected_ns};
    if (map->begun) {
        step.corrected_ns = not_before(map->previous, step);
        step.corrected_ns = not_before(map->latest, step);
    }
    if (!map->begun || time_ns >= map->latest.time_ns)
        map->latest = step;
    map->previous = step;
    map->begun = true;
    return step.corrected_ns;
}

int64_t clock_map_next(struct clock_map *map, const struct clock_scale *scale, int64_t time_ns, int counts)
{
    int64_t result = clock_line_time(map, scale, time_ns);
    if (map->jump_count > 0) {
        result = jumped(map, scale, result);
        result = ramped(map, result);
    }
    result = in_order(map, time_ns, result);
    map->seen += counts != 0;
    return result;
}

void clock_map_rewind(struct clock_map *map)
{
    map->seen = 0;
    map->begun = false;
    map->jump = map->corner = 0;
}

void clock_map_clear(struct clock_map *map)
{
    free(map->jumps);
    free(map->corners);
    *map = (struct clock_map){0};
}
