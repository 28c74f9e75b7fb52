/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_PYRAMID_H
#define SIGHT_TIMELINE_PYRAMID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Internal: the states of rows, summed over bins of time and groups of rows in powers of two. Bins count from the
   trace's begin. Each size of group has the finest width of bins that its share of the index's size allows, and all
   wider ones up to PYRAMID_BINS for the whole run. */
enum { PYRAMID_BINS = 1024, PYRAMID_LEVELS = 63 /* of a size of groups, at most */ };

/* Cells of one width and one size of group. */
struct pyramid_level {
    uint32_t shift;    /* a bin is 2^shift ns */
    uint32_t fold;     /* a group is 2^fold processes with all their threads; 0: a row each */
    uint64_t group_at; /* first of its entries in GROUPS: by row, or by process >> fold */
    uint32_t groups;
    uint32_t zero;
};

/* The cells of a group, in order of time. */
struct pyramid_group {
    uint64_t skip_at; /* first of its entries in SKIPS */
    uint32_t skips;
    uint32_t rows;              /* how many rows it has */
    uint64_t cell_at, cell_end; /* bytes of CELLS */
};

/* Every PYRAMID_SKIP cells: where to begin. */
struct pyramid_skip {
    uint64_t at;  /* bytes after the group's cell_at */
    uint64_t bin; /* the bin that the cell there counts from */
};
enum { PYRAMID_SKIP = 64 };

/* Time of a state in a cell. */
struct pyramid_part {
    uint32_t state; /* TIMELINE_NONE: outside all */
    uint32_t units; /* PYRAMID_UNITS: all rows of the group, all the time */
};
enum { PYRAMID_UNITS = 255, PYRAMID_PARTS = 4096 };

/* A cell: `span` bins from `bin` on in which the rows do the same; with messages it spans one. */
struct pyramid_cell {
    uint64_t bin, span;
    uint64_t messages;
    struct pyramid_part *parts; /* room for PYRAMID_PARTS, the caller's */
    size_t count;
};

/* Cells as bytes, in variable-length numbers: (bins since the end of the last cell) * 4 + 2 if messages + 1 if it spans
   several; the span - 2; messages; the number of parts; of each its state + 1 and a byte of units. Returns the bytes
   put at `at`, which has room for pyramid_cell_size. */
size_t pyramid_cell_size(const struct pyramid_cell *cell);
size_t pyramid_cell_put(unsigned char *at, const struct pyramid_cell *cell, uint64_t last_end);

/* The cell at `at`, which must end before `end`: returns the next position, NULL if it is not a valid cell. */
const unsigned char *pyramid_cell_get(const unsigned char *at, const unsigned char *end, uint64_t last_end,
                                      struct pyramid_cell *cell);

unsigned char *varint_put(unsigned char *at, uint64_t value);
/* NULL where it does not end before `end`. */
const unsigned char *varint_get(const unsigned char *at, const unsigned char *end, uint64_t *value);

#endif
