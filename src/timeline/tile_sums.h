/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_TILE_SUMS_H
#define SIGHT_TIMELINE_TILE_SUMS_H

#include "timeline/tile.h"

/* Internal: time by bin and state of one row of cells. Only added sums take memory: rows may have many states, each in
   only a few bins. */

/* Time of a state in a bin. Several may be of the same two. */
struct tile_sum {
    double ns;
    uint32_t place; /* of the state in tile_sums.states */
    uint32_t bin;
    uint32_t next; /* 1 + index of the next one of the bin; 0: none */
};

/* A state that occurs in the row. */
struct tile_state {
    uint32_t state;   /* TIMELINE_NONE: outside all */
    uint32_t latest;  /* its latest sum */
    double here, all; /* in the bin whose cell is made; in the row */
};

struct tile_sums {
    const struct defs *defs;
    uint32_t bins;
    uint64_t bin_ns;
    struct tile_state *states; /* in order of their first time */
    size_t state_count, state_capacity;
    uint32_t *places; /* by state, and outside after the last: 1 + index into states */
    struct tile_sum *sums;
    size_t sum_count, sum_capacity;
    uint32_t *first, *last; /* by bin: 1 + index into sums; 0: none */
    uint32_t *present;      /* places of the states of the bin whose cell is made */
    size_t present_count, present_capacity;
};

void tile_sums_start(struct tile_sums *sums, const struct defs *defs, uint32_t bins, uint64_t bin_ns);
void tile_sums_clear(struct tile_sums *sums);

/* Adds time of a state (TIMELINE_NONE: outside all) to a bin. */
void tile_sums_add(struct tile_sums *sums, uint32_t state, uint32_t bin, double ns);

/* Adds the time from `from` to `to`, ns after the begin of the first bin and within the bins. */
void tile_sums_add_span(struct tile_sums *sums, uint32_t state, uint64_t from, uint64_t to);

/* Makes the cells of the row (messages are left as they are), adds to the tile's sums, and is empty again. */
void tile_sums_take(struct tile_sums *sums, struct timeline_cell *cells, struct timeline_tile *tile);

#endif
