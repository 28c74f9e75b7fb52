/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_EVEN_SECTIONS_H
#define SIGHT_REPLAY_EVEN_SECTIONS_H

#include "replay/replay.h"

/* How much shorter the run would be if in each section of the program (sections.h) all locations that reach it computed
   as long as their mean, by a replay (replay.h). So the work that one process does alone between two calls of all is
   shared among all, as in Scalasca's hypothesis of balanced call paths; stretching all computing of a process alike
   (balance.h) leaves such work where it is. Locations that have no work (balance_limit) stay as they are. `compute`: by
   location, all its computing. `without`: what else is different in the replay, of struct replay_options free_waits and
   instead. 0 if there are too many sections. */
int64_t even_sections_saving(const struct graph *graph, const double *compute, struct replay_options without);

/* The same, for a replay of the caller's: adds it to the options, which refer to the result. NULL: there are too many
   sections. */
struct even_sections *even_sections_new(const struct graph *graph, const double *compute,
                                        struct replay_options *options);
void even_sections_free(struct even_sections *even);

#endif
