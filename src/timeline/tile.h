/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_TILE_H
#define SIGHT_TIMELINE_TILE_H

#include "timeline/timeline.h"

/* A window as a grid of cells: what the rows do in each bin of time. Shares are of the time that the rows are there,
   from their first to their last event. */

/* Values of timeline_cell.state that are no state. */
enum { TIMELINE_OUTSIDE = 0xFFFF /* computing: outside all states */, TIMELINE_ABSENT = 0xFFFE /* no row is there */ };

enum { TIMELINE_NEXT = 2 };
struct timeline_cell {
    uint16_t state;               /* that takes most of the time, as the latest entered; of equals the lowest index */
    uint8_t share;                /* its share, 255 is all */
    uint8_t waiting;              /* share of functions that wait: classes wait, probe, sync */
    uint32_t messages;            /* sent and received */
    uint16_t next[TIMELINE_NEXT]; /* what takes most after it, likewise; TIMELINE_ABSENT: nothing more */
    uint8_t next_share[TIMELINE_NEXT];
};

struct timeline_tile_options {
    uint32_t bins; /* at most so many, up to TIMELINE_BINS */
    uint32_t fold; /* so many rows of the view to a row of cells; 0: 1 */
};
enum { TIMELINE_BINS = 4096 };

/* Bins are a power of two of ns long and lie at whole multiples of that after the trace's begin, so that neighbouring
   windows share them: the tile covers the window and at most a bin more on each side. */
struct timeline_tile {
    int64_t from_ns;             /* where the first bin begins */
    int64_t bin_ns;              /* how long each is; may be longer than asked for, where the index is not finer */
    uint32_t bins, rows;         /* bins may be fewer than asked for */
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
