/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_CLOCK_LINES_H
#define SIGHT_REPLAY_CLOCK_LINES_H

#include "replay/causality.h"
#include "replay/clock_map.h"

/* Offset and drift of each process's clock against a reference, from the bounds that messages and collectives set (see
   corridor.h). Pairs of processes whose bounds no two equal clocks contradict are taken to have equal clocks. From pair
   to pair the lines are put together along the paths of the narrowest corridors (Dijkstra), those that are open last.
   The reference of processes that are connected is the lowest of the largest part of them whose clocks agree. Then each
   process whose line contradicts bounds gets the one that all its partners' lines leave, again and again as long as
   that helps: first other offsets are tried, then other drifts. Last, whose clock need not be moved is left alone. */

struct clock_place {
    uint32_t component; /* processes that messages connect have the same; numbered from 0 */
    bool alone;         /* no bounds tie it to another process */
    bool loose;         /* on the way from the reference traffic goes one way only: its drift is not known */
    bool reference;
    double width_ns; /* of the corridors on the way from the reference, added up: so much their bounds leave open */
};

/* Sets the line of each map; `places` has a row for each timeline. */
void clock_lines_find(const struct causality *causality, const struct clock_scale *scale, struct clock_map *maps,
                      struct clock_place *places);

#endif
