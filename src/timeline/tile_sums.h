/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_TILE_SUMS_H
#define SIGHT_TIMELINE_TILE_SUMS_H

#include "timeline/tile.h"

/* Internal: time by bin and state of one row of cells. */
struct tile_sums {
    const struct defs *defs;
    uint32_t bins;
    uint64_t bin_ns;
    uint32_t *states; /* the states that occur here, in order of their first; TIMELINE_NONE: outside all */
    size_t state_count, state_capacity;
    uint32_t *places; /* by state, and outside behind the last: 1 + index into states */
    double *ns;       /* of states[i] in bin b: ns[i * bins + b] */
    size_t ns_capacity;
};

void tile_sums_start(struct tile_sums *sums, const struct defs *defs, uint32_t bins, uint64_t bin_ns);
void tile_sums_clear(struct tile_sums *sums);

/* Adds time of a state (TIMELINE_NONE: outside all) to a bin. */
void tile_sums_add(struct tile_sums *sums, uint32_t state, uint32_t bin, double ns);

/* Adds the time from `from` to `to`, ns behind the begin of the first bin and within the bins. */
void tile_sums_add_span(struct tile_sums *sums, uint32_t state, uint64_t from, uint64_t to);

/* Makes the cells of the row (messages are left as they are), adds to the tile's sums, and is empty again. */
void tile_sums_take(struct tile_sums *sums, struct timeline_cell *cells, struct timeline_tile *tile);

#endif
