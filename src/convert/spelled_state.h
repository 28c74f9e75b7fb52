/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_SPELLED_STATE_H
#define SIGHT_CONVERT_SPELLED_STATE_H

#include "core/defs.h"

/* Adds a state for a function that a recorder spells its own way: MPI's have their names of the standard, and a place
   in the source at the end of the name (region_name.h) is the state's. `paradigm`: of other functions than MPI's.
   Returns its index. */
uint32_t spelled_state_add(struct defs *defs, const char *spelled, enum paradigm paradigm);

#endif
