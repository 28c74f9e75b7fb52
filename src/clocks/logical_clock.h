/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLOCKS_LOGICAL_CLOCK_H
#define SIGHT_CLOCKS_LOGICAL_CLOCK_H

#include "clocks/causality.h"
#include "clocks/clock_map.h"

/* The controlled logical clock (Rabenseifner 1997; Becker, Rabenseifner, Wolf, Linford, Parallel Computing 35, 2009):
   no receive is earlier than its send, and no leave of a collective earlier than the enters that it depends on, at the
   cost of stretching and shrinking times nearby.

   Forward, for each event e of a process after its predecessor p, with C the recorded and LC the corrected time:
       internal(e) = max(C(e), LC(p) + gamma * (C(e) - C(p)))
       LC(e)       = internal(e), and of a receive from s: max(internal(e), LC(s) + latency)
   Backward, events before a receive that jumped by J are moved along a line that rises to J with the slope `slope`, but
   no send beyond its receive: the lower convex hull of the sends' limits. Where the lines of several jumps meet, they
   follow each other, so that no interval is stretched more than by one line. A process's first event stays. */

struct logical_clock_options {
    int64_t latency_ns; /* minimum time of a message */
    double slope;       /* of the ramps before a jump */
};

/* Runs it over the times of `causality`, which become the corrected ones. Adds jumps (and, with a slope above 0, ramps)
   to the maps, one for each timeline; their lines are assumed to be applied. Returns the ends of messages and
   collectives that could not be put in order, because their processes' times go back or wait for each other in a
   circle. */
uint64_t logical_clock_run(struct causality *causality, struct clock_map *maps, const struct clock_scale *scale,
                           struct logical_clock_options options);

#endif
