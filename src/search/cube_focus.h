/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_SEARCH_CUBE_FOCUS_H
#define SIGHT_SEARCH_CUBE_FOCUS_H

#include "search/cube.h"

/* For cube_ask.c: the tables of a focus, from before its pass over the calls to after it. */

/* Makes room, and counts lanes and their times; what cube_focus_end frees. */
void cube_focus_begin(const struct cube *cube, struct cube_focus *focus);

/* Puts the cells in order, with what follows from their sums. */
void cube_focus_end(const struct cube *cube, struct cube_focus *focus);

/* The cell of a value of the axis, made where there is none; NULL: the value is none, or there are too many. */
struct cube_cell *cube_cell_of(struct cube_table *table, enum search_axis axis, uint32_t key);

/* What a lane computes beyond the mean of all. */
int64_t cube_beyond_mean(int64_t lane_ns, int64_t all_ns, size_t lanes);

#endif
