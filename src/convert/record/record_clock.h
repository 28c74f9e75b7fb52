/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_RECORD_RECORD_CLOCK_H
#define SIGHT_CONVERT_RECORD_RECORD_CLOCK_H

#include "core/record_format.h"

#include <stdbool.h>
#include <stddef.h>

/* The clocks of a recording. All processes of a host have the same ticks; all their readings of the time in ns (struct
   record_calibration) become one map for the host, which never goes back: the order of ticks is the order of ns, in
   whichever process they were read. */

/* One reading. */
struct record_reading {
    int64_t ticks, ns, width;
};

/* From these ticks on, up to the next knot. */
struct record_knot {
    int64_t ticks, ns;
    double rate; /* ns a tick */
};

struct record_clock_map {
    uint64_t host;
    uint32_t source; /* enum record_clock_source */
    struct record_reading *readings;
    size_t count, capacity;
    struct record_knot *knots; /* none: the clock is not known */
    size_t knot_count, knot_capacity;
    size_t bad; /* impossible readings */
};

struct record_clocks {
    struct record_clock_map *maps;
    size_t count, capacity;
};

/* The map of a host and source; an index, since maps may move while there come more. */
size_t record_clocks_index(struct record_clocks *clocks, uint64_t host, uint32_t source);

/* One more reading of a clock. */
void record_clock_add(struct record_clock_map *map, const struct record_reading *reading);

/* Makes the knots, when all readings are there. Readings that contradict most others are counted in `bad` and left out.
   The rate is Sen's (1968): the median of the slopes between readings that lie apart by half of them. Between knots,
   which are some 30 ms or more apart so that the width of a reading is nothing in their rates, time is linear. */
void record_clocks_finish(struct record_clocks *clocks);

/* ns of CLOCK_MONOTONIC at `ticks`, within +-RECORD_TIME_MAX; the map has knots. `knot`, 0 at first, is where the
   caller was last: calls must be in order of time. */
int64_t record_clock_ns(const struct record_clock_map *map, size_t *knot, int64_t ticks);

void record_clocks_clear(struct record_clocks *clocks);

#endif
