/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_EVEN_SECTIONS_H
#define SIGHT_REPLAY_EVEN_SECTIONS_H

#include "graph/graph.h"

/* More cells of locations and sections are not replayed: what they need is kept beside (12 bytes each). */
enum { EVEN_SECTIONS_CELLS = 1 << 20 };

/* What the run would be shorter by if in each section of the program all locations that come there computed as long as
   their mean, by a replay (replay.h). A section is the computing before calls of the same function at the same place
   in the source; what comes after a location's last call is one, too. So the work of one process alone between two
   calls that all make is shared among all, as Scalasca's hypothesis of balanced call paths has it; stretching all
   computing of a process alike (balance.h) leaves such work where it is. Locations that have no work (balance_limit)
   stay as they are. `compute`: by location, all its computing. `free_waits` as of struct replay_options: what is saved
   without these waits as well. 0 where there are too many cells. */
int64_t even_sections_saving(const struct graph *graph, const double *compute, unsigned free_waits);

#endif
