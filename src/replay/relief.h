/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_RELIEF_H
#define SIGHT_REPLAY_RELIEF_H

#include "replay/replay.h"
#include "replay/sections.h"

/* How much shorter the run would be if locations that compute longer than the mean handed on what they compute beyond
   it, by a replay (replay.h). The others do that work while they wait, so that the replay leaves them as they are:
   stretching all that they compute (balance.h) would also make those wait that need their results.
   What a location hands on is of the sections (sections.h) in which it computes longer than the mean of all, in
   proportion; within a section of its longest pieces, which become equally long. So one long piece is divided, and work
   that only one location has is shared among all.
   The mean is that of locations with work (balance_limit), without a master: who hands out work has no time for it.
   `compute`: by location, all its computing. The result refers to the sections. NULL: nobody computes longer. */
struct relief *relief_new(const struct sections *sections, const double *compute);

/* Adds it to the options of a replay, which refer to it. */
void relief_take(const struct relief *relief, struct replay_options *options);
void relief_free(struct relief *relief);

#endif
