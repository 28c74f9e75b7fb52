/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/record/record_clock.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

/* Readings closer together than this have rates that their own widths blur. */
#define KNOT_GAP_NS 30e6
#define RATE_MIN 0.02 /* ns a tick: clocks of 50 GHz */
#define RATE_MAX 1e3  /* and of 1 MHz */
/* The largest deviation of a reading from the straight line through all. CLOCK_MONOTONIC is adjusted, by chrony up to a
   12th. */
#define STEERED 0.1
#define OFF_NS 1e6

size_t record_clocks_index(struct record_clocks *clocks, uint64_t host, uint32_t source)
{
    size_t i = 0;
    /* All processes of a host share its clock, and so may share its readings. */
    while (i < clocks->count && (clocks->maps[i].host != host || clocks->maps[i].source != source))
        i++;
    if (i == clocks->count)
        ARRAY_PUSH(clocks->maps, clocks->count, clocks->capacity,
                   (struct record_clock_map){.host = host, .source = source});
    return i;
}

static bool in_range(int64_t value)
{
    return value <= RECORD_TIME_MAX && value >= -RECORD_TIME_MAX;
}

void record_clock_add(struct record_clock_map *map, const struct record_reading *reading)
{
    if (in_range(reading->ticks) && in_range(reading->ns) && reading->width >= 0)
        ARRAY_PUSH(map->readings, map->count, map->capacity, *reading);
    else
        map->bad++;
}

static int reading_compare(const void *a, const void *b)
{
    const struct record_reading *left = a, *right = b;
    if (left->ticks != right->ticks)
        return left->ticks < right->ticks ? -1 : 1;
    if (left->ns < right->ns)
        return -1;
    return left->ns > right->ns;
}

static int double_compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    if (left < right)
        return -1;
    return left > right;
}

/* The rate of readings in order of ticks; 0 if not known. The median of slopes over half of the run each: a few
   readings that were interrupted do not bend it. */
static double rate_of(const struct record_clock_map *map)
{
    size_t half = map->count / 2, count = 0;
    /* One reading, but the clock counts ns. */
    if (map->source == RECORD_CLOCK_MONOTONIC && half == 0)
        return 1;
    double *slopes = memory_new((map->count - half) * sizeof *slopes);
    for (size_t i = 0; half > 0 && i + half < map->count; i++) {
        const struct record_reading *from = &map->readings[i], *to = &map->readings[i + half];
        if (to->ticks > from->ticks)
            slopes[count++] = (double)(to->ns - from->ns) / (double)(to->ticks - from->ticks);
    }
    qsort(slopes, count, sizeof *slopes, double_compare);
    double rate = count > 0 ? slopes[count / 2] : 0;
    free(slopes);
    return rate;
}

/* ns on the line of this rate through the reading at `ticks` 0. */
static double intercept(const struct record_reading *reading, const struct record_reading *origin, double rate)
{
    return (double)(reading->ns - origin->ns) - (double)(reading->ticks - origin->ticks) * rate;
}

static double median_intercept(const struct record_clock_map *map, double rate)
{
    double *all = memory_new(map->count * sizeof *all);
    for (size_t i = 0; i < map->count; i++)
        all[i] = intercept(&map->readings[i], &map->readings[0], rate);
    qsort(all, map->count, sizeof *all, double_compare);
    double median = all[map->count / 2];
    free(all);
    return median;
}

/* Leaves out readings off the line, starting in the middle, where it is most precise. A reading that was interrupted
 * between its two clocks is off by as long as that took. */
static void drop_outliers(struct record_clock_map *map, double rate)
{
    double median = median_intercept(map, rate);
    struct record_reading origin = map->readings[0];
    double middle = (double)(map->readings[map->count / 2].ticks - origin.ticks);
    size_t kept = 0;
    for (size_t i = 0; i < map->count; i++) {
        const struct record_reading *reading = &map->readings[i];
        double away = fabs((double)(reading->ticks - origin.ticks) - middle) * rate;
        if (fabs(intercept(reading, &origin, rate) - median) <= OFF_NS + STEERED * away)
            map->readings[kept++] = *reading;
    }
    map->bad += map->count - kept;
    map->count = kept;
}

/* The most exact of the readings within a gap from `first` on; `next` becomes the first after them. */
static const struct record_reading *best_within(const struct record_clock_map *map, size_t first, double gap,
                                                size_t *next)
{
    const struct record_reading *best = &map->readings[first];
    size_t i = first + 1;
    for (; i < map->count && (double)(map->readings[i].ticks - map->readings[first].ticks) < gap; i++)
        if (map->readings[i].width < best->width)
            best = &map->readings[i];
    *next = i;
    return best;
}

static void add_knot(struct record_clock_map *map, const struct record_reading *reading, double rate)
{
    struct record_knot *last = map->knot_count > 0 ? &map->knots[map->knot_count - 1] : NULL;
    if (last) {
        double slope = (double)(reading->ns - last->ns) / (double)(reading->ticks - last->ticks);
        if (slope < rate * (1 - 2 * STEERED) || slope > rate * (1 + 2 * STEERED)) {
            map->bad++;
            return;
        }
        last->rate = slope;
    }
    double onwards = last ? last->rate : rate;
    ARRAY_PUSH(map->knots, map->knot_count, map->knot_capacity,
               (struct record_knot){.ticks = reading->ticks, .ns = reading->ns, .rate = onwards});
}

/* From readings of two clocks at the same moment to straight pieces between knots: ticks to ns. */
static void make_map(struct record_clock_map *map)
{
    if (map->count == 0)
        return;
    qsort(map->readings, map->count, sizeof *map->readings, reading_compare);
    double rate = rate_of(map);
    if (!(rate >= RATE_MIN && rate <= RATE_MAX)) {
        map->bad += map->count;
        return;
    }
    drop_outliers(map, rate);
    double gap = KNOT_GAP_NS / rate;
    for (size_t i = 0, next; i < map->count; i = next) {
        const struct record_reading *best = best_within(map, i, gap, &next);
        /* Those that are nearer to it than the gap would make a rate of little worth. */
        while (next < map->count && (double)(map->readings[next].ticks - best->ticks) < gap)
            next++;
        add_knot(map, best, rate);
    }
}

void record_clocks_finish(struct record_clocks *clocks)
{
    for (size_t i = 0; i < clocks->count; i++) {
        make_map(&clocks->maps[i]);
        free(clocks->maps[i].readings);
        clocks->maps[i].readings = NULL;
    }
}

/* `knot` is where the caller was last: times of a file hardly go back, so that the search is a step at most. */
int64_t record_clock_ns(const struct record_clock_map *map, size_t *knot, int64_t ticks)
{
    while (*knot + 1 < map->knot_count && ticks >= map->knots[*knot + 1].ticks)
        ++*knot;
    while (*knot > 0 && ticks < map->knots[*knot].ticks)
        --*knot;
    const struct record_knot *from = &map->knots[*knot];
    /* Rounded down it is below the next knot's: the map never goes back. */
    double passed = floor((double)(ticks - from->ticks) * from->rate);
    int64_t ns = from->ns + (int64_t)fmin(fmax(passed, -(double)RECORD_TIME_MAX), (double)RECORD_TIME_MAX);
    if (ns > RECORD_TIME_MAX)
        return RECORD_TIME_MAX;
    if (ns < -RECORD_TIME_MAX)
        return -RECORD_TIME_MAX;
    return ns;
}

void record_clocks_clear(struct record_clocks *clocks)
{
    for (size_t i = 0; i < clocks->count; i++) {
        free(clocks->maps[i].readings);
        free(clocks->maps[i].knots);
    }
    free(clocks->maps);
}
