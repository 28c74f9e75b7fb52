/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_SEARCH_CUBE_FOCUS_H
#define SIGHT_SEARCH_CUBE_FOCUS_H

#include "search/cube.h"

/* For cube_ask.c: the tables of a focus, from before its pass over the calls to after it. */

/* Makes room, and counts locations and their times; what cube_focus_end frees. */
void cube_focus_begin(const struct cube *cube, struct cube_focus *focus);

/* Copies of the foci for other threads, with empty tables of their own, until they are joined. They know the computing
   of all as far as the originals do. */
struct cube_focus *cube_foci_share(const struct cube_focus *foci, size_t count);

/* Adds what was summed in shared foci, and frees these. `second`: only overloads. */
void cube_foci_join(struct cube_focus *foci, struct cube_focus *shared, size_t count, bool second);

/* Puts the cells in order, with what follows from their sums. */
void cube_focus_end(const struct cube *cube, struct cube_focus *focus);

/* The cell of a value of the axis, created if needed; NULL: no value, or too many. */
struct cube_cell *cube_cell_of(struct cube_table *table, enum search_axis axis, uint32_t key);

/* Adds an amount to the cell's sum of a metric. Sizes of a hostile trace may come to more bytes than 63 bits hold:
   their sum then stays at INT64_MAX. */
void cube_sum_add(struct cube_cell *cell, unsigned metric, int64_t amount);

/* How much a location computes beyond the mean of all. */
int64_t cube_beyond_mean(int64_t location_ns, int64_t all_ns, size_t locations);

#endif
