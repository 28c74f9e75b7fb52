/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_TILE_H
#define SIGHT_TIMELINE_TILE_H

#include "timeline/timeline.h"

/* A window as a grid of cells: the states of the rows in each bin of time. Shares refer to the rows' time from their
   first to their last event. */

/* Special values of timeline_cell.state. */
enum { TIMELINE_OUTSIDE = 0xFFFF /* computing: outside all states */, TIMELINE_ABSENT = 0xFFFE /* no row is there */ };

enum { TIMELINE_NEXT = 2 };
struct timeline_cell {
    uint16_t state;               /* with most of the time, as the latest entered; the lowest index if equal */
    uint8_t share;                /* its share, 255 is all */
    uint8_t waiting;              /* share of functions that wait: classes wait, probe, sync */
    uint32_t messages;            /* sent and received */
    uint16_t next[TIMELINE_NEXT]; /* the state with the second most time; TIMELINE_ABSENT: none */
    uint8_t next_share[TIMELINE_NEXT];
};

struct timeline_tile_options {
    uint32_t bins; /* at most so many, up to TIMELINE_BINS */
    uint32_t fold; /* rows of the view per row of cells; 0: 1 */
};
enum { TIMELINE_BINS = 4096 };

/* Bins are a power of two of ns long and lie at whole multiples of that after the trace's begin, so that neighbouring
   windows share them: the tile covers the window and at most a bin more on each side. */
struct timeline_tile {
    int64_t from_ns;             /* where the first bin begins */
    int64_t bin_ns;              /* the length of each; may be longer than requested if the index is not finer */
    uint32_t bins, rows;         /* bins may be fewer than requested */
    uint32_t fold;               /* as asked for */
    struct timeline_cell *cells; /* rows * bins, row by row */
    double *state_ns;            /* by state: time of all rows in the tile as the latest entered */
    double outside_ns;           /* the same outside all states */
    uint64_t messages;           /* of all cells */
};

/* The tile of a view. Free with timeline_tile_clear. An empty window, or one that the trace does not reach into, has
   no bins. */
enum status timeline_tile(struct timeline *timeline, const struct timeline_view *view,
                          struct timeline_tile_options options, struct timeline_tile *tile,
                          struct error *err) MUST_CHECK;
void timeline_tile_clear(struct timeline_tile *tile);

#endif
