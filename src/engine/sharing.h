/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_ENGINE_SHARING_H
#define SIGHT_ENGINE_SHARING_H

#include "convert/reader.h"
#include "engine/engine.h"
#include "metrics/accumulator.h"

/* For the engine: a trace read by all processes of a team, each a share: a slice of the time (timeline/slices.h), or
   some of the trace's processes. Sums are merged in a tree in the order of the trace: digit for digit what one pass
   gives. */

/* Rank 0 of the request's team: the trace that `reader` was just opened with. *shares: how many there are; below 2,
   nothing was read. NULL otherwise: it must be read again, in one pass. */
struct accumulator *sharing_accumulate(const struct engine_request *request, struct reader *reader,
                                       struct accumulator_options what, enum engine_step step, unsigned *shares);

/* The other processes: `data` is the message of a JOB_SHARE. */
void sharing_do(struct team *team, const char *data);

#endif
