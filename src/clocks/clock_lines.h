/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLOCKS_CLOCK_LINES_H
#define SIGHT_CLOCKS_CLOCK_LINES_H

#include "clocks/causality.h"
#include "clocks/clock_map.h"

/* Offset and drift of each process's clock against a reference, from what each pair of processes says about their
   clocks (see clock_pairs.h). Pairs of processes whose bounds no two equal clocks contradict are taken to have equal
   clocks. From pair to pair the lines are put together along the paths of the narrowest corridors (Dijkstra), those
   that are open last, and these moved no more than their bounds ask for. The reference of processes that are connected
   is the lowest of the largest part of them whose clocks agree. Along a path errors add up: so all pairs are then
   balanced by least squares (clock_squares.h) over the processes that are moved, as long as that contradicts less. Then
   each process whose line contradicts bounds gets another that contradicts its partners' less, again and again as long
   as that helps: first other offsets are tried, then other drifts. Last, whose clock need not be moved is left alone.

   Measured against runs whose clocks are known: docs/accuracy.md. */

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
