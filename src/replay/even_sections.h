/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_EVEN_SECTIONS_H
#define SIGHT_REPLAY_EVEN_SECTIONS_H

#include "replay/replay.h"
#include "replay/sections.h"

/* For a replay in which in each section of the program (sections.h) all locations that reach it compute as long as
   their mean. So the work that one process does alone between two calls of all is shared among all, as in Scalasca's
   hypothesis of balanced call paths; stretching all computing of a process alike (balance.h) leaves such work where it
   is. Locations that have no work (balance_limit) stay as they are. `compute`: by location, all its computing. Adds it
   to the options, which refer to the result, as that does to the sections. */
struct even_sections *even_sections_new(const struct sections *sections, const double *compute,
                                        struct replay_options *options);
void even_sections_free(struct even_sections *even);

#endif
