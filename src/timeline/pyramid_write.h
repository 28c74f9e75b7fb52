/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_PYRAMID_WRITE_H
#define SIGHT_TIMELINE_PYRAMID_WRITE_H

#include "core/sorter.h"
#include "timeline/index.h"

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

struct pyramid_order {
    struct sorted_cells *cells;
    size_t fold_number;
    unsigned fold, shift;
    const struct rows *rows;
    const uint32_t *places; /* final numbers of rows */
    const uint32_t *states; /* what each row does after its last event */
    int64_t begin_ns, duration_ns;
};
enum status pyramid_write(const struct pyramid_order *order, struct spill *tables, struct error *err) MUST_CHECK;

/* Advances to the next cell. */
enum status sorted_cells_next(struct sorted_cells *cells, struct error *err);

#endif
