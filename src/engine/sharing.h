/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_ENGINE_SHARING_H
#define SIGHT_ENGINE_SHARING_H

#include "convert/stream.h"
#include "metrics/accumulator.h"
#include "team/team.h"

/* For the engine: a trace read by all processes of a team, each a slice (timeline/slices.h). Sums are merged in a tree
   in the order of the trace: digit for digit what one pass gives. */

/* Rank 0, with what slices_accumulate takes; at most as many slices as the team has processes. NULL: the trace must be
   read again, in one pass. */
struct accumulator *sharing_accumulate(struct team *team, struct reader *reader, const char *path, unsigned slices,
                                       struct accumulator_options what, stream_watch *watch, void *context);

#endif
