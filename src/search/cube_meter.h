/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_SEARCH_CUBE_METER_H
#define SIGHT_SEARCH_CUBE_METER_H

#include "graph/graph.h"
#include "profile/counters.h"

/* What counters have in the pieces of a walk: of each location, between two moments. */

enum { METER_COUNTERS = 8 };

/* Readings of a location. Those of a thread without calls are the first location's of its process. */
struct meter_track {
    uint32_t location, slot;
    const struct counter_track *track;
};

struct cube_meter {
    size_t count;              /* of slots: counters that are asked for */
    struct meter_track *track; /* by location */
    size_t track_count;
};

/* `slots`: by counter of the trace its slot + 1, below or equal METER_COUNTERS; 0: it is not asked for. Borrows the
   counters. Free with cube_meter_free. */
struct cube_meter *cube_meter_new(const struct graph *graph, const struct counters *counters, const uint8_t *slots);
void cube_meter_free(struct cube_meter *meter); /* NULL: nothing */

/* Sets the amounts of all slots in a piece. */
void cube_meter_read(const struct cube_meter *meter, uint32_t location, int64_t from_ns, int64_t to_ns,
                     struct counter_amount amounts[METER_COUNTERS]);

/* Adds amounts to those of a cell, which are made when there are none. */
void cube_meter_add(struct counter_amount **cell, const struct counter_amount amounts[METER_COUNTERS]);

#endif
