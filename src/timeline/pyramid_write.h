/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_PYRAMID_WRITE_H
#define SIGHT_TIMELINE_PYRAMID_WRITE_H

#include "core/sorter.h"
#include "timeline/index.h"
#include "timeline/tape.h"

/* Internal: from the sorted finest cells of one size of group to the tables of all widths.

   A sorted cell has the key (number of the fold << 32 | number of the group, bin), and as variable-length numbers:
   number of bins after it in which nothing changes; messages; the number of states; of each state + 1, its time in
   CELL_FINE a row and bin, and the rows that are in it at the bin's end. */
enum { CELL_FINE = 4096 };

/* Sorted cells, with one cell of lookahead. */
struct sorted_cells {
    struct sorter *sorter;
    struct sort_key key;
    const void *data;
    size_t length;
    enum status status; /* of the current cell: STATUS_END after the last */
};

/* Where the cells and skips of a width begin, in bytes and entries. */
struct pyramid_base {
    uint64_t cells, skips;
};

/* A row that takes part. */
struct pyramid_member {
    uint32_t row, process;
    uint32_t state; /* what it does after its last event */
};

/* What is written: a size of groups, of some rows. */
struct pyramid_order {
    struct sorted_cells *cells;
    size_t fold_number;
    unsigned fold;
    const struct rows *rows;
    const uint32_t *places;               /* final numbers of rows */
    const struct pyramid_member *members; /* of single rows the numbers of groups are places here */
    size_t member_count;
    int64_t begin_ns, duration_ns;
    const struct pyramid_level *levels;
    size_t level_count;
    struct pyramid_group *groups; /* of all levels: those of the members are filled in */
    struct pyramid_base *bases;   /* of each level, filled in: its groups count from there */
    struct tape *to_cells, *to_skips;
};
/* Appends to the tapes. */
enum status pyramid_write(const struct pyramid_order *order, struct error *err) MUST_CHECK;

/* Advances to the next cell. */
enum status sorted_cells_next(struct sorted_cells *cells, struct error *err);

#endif
