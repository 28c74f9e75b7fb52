/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_WAIT_H
#define SIGHT_REPLAY_WAIT_H

#include "metrics/analysis.h"
#include "replay/graph.h"

/* Wait states: the time that a call lasts because another process is not there yet. Definitions are those of Scalasca's
   patterns; "enter" and "leave" are the calls' own, waits are clipped to the call, and never negative. */

struct wait {
    enum wait_kind kind;             /* WAIT_NONE: it does not wait */
    int64_t ns;                      /* > 0 */
    int64_t until_ns;                /* enter of the call that was waited for; may lie after the leave (clock error) */
    uint32_t cause_lane, cause_call; /* which call that is */
};

/* The wait in a call. Of several messages that complete in one call the longest counts, once. A collective whose root
   or participants are not known has none. */
struct wait wait_of(const struct graph *graph, uint32_t lane, uint32_t call);

/* What ties collectives together. */
enum collective_shape { SHAPE_NONE_KNOWN, SHAPE_ALL_TO_ALL, SHAPE_ONE_TO_ALL, SHAPE_ALL_TO_ONE };
enum collective_shape collective_shape_of(const struct state_def *state);

/* Which wait it is where everyone waits for the last. */
enum wait_kind wait_all_to_all_kind(const struct state_def *state);

#endif
