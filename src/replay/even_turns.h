/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_EVEN_TURNS_H
#define SIGHT_REPLAY_EVEN_TURNS_H

#include "replay/replay.h"

/* With more turns nothing is replayed: the mean of each is kept beside (8 bytes). */
enum { EVEN_TURNS = 1 << 20 };

/* How much shorter the run would be if the computing before the n-th call of each place, counted from when the location
   begins, took as long on all locations as their mean, by a replay (replay.h). A place is a section (sections.h)
   that all locations with work reach equally often. In a loop inside the iterations, as one with an exchange in each
   turn and a reduction in every tenth, each turn is evened out, where even iterations leave the turns uneven.
   `begins_ns`, `ends_ns`: by location, which part of it; a location that ends before it begins is left alone, as are
   those without work. 0: there are too many turns. */
int64_t even_turns_saving(const struct graph *graph, const int64_t *begins_ns, const int64_t *ends_ns);

/* The same, for a replay of the caller's: adds it to the options, which refer to the result and to the borders of the
   parts. For one replay at a time: it notes how far that is. NULL: there are too many turns. */
struct even_turns *even_turns_new(const struct graph *graph, const int64_t *begins_ns, const int64_t *ends_ns,
                                  struct replay_options *options);
void even_turns_free(struct even_turns *turns);

#endif
