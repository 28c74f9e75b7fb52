/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLOCKS_CLOCK_LINES_H
#define SIGHT_CLOCKS_CLOCK_LINES_H

#include "clocks/causality.h"
#include "clocks/clock_map.h"

/* Offset and drift of each process's clock against a reference, from what the events of each pair of processes say
   about their clocks (see clock_pairs.h). Pairs whose bounds allow equal clocks are assumed to have equal clocks. From
   pair to pair the lines are combined along the paths of the narrowest corridors (Dijkstra), open ones last, and these
   are moved no further than their bounds require. The reference of connected processes is the lowest of the largest set
   with agreeing clocks. Along a path errors add up: so all pairs are then balanced by least squares (clock_squares.h)
   over the processes that are moved, as long as that violates less. Then each process whose line violates bounds gets
   another that violates its partners' less, repeatedly as long as that helps: first other offsets are tried, then other
   drifts. Finally, clocks that need not be moved are left alone.

   Measured with runs whose clock errors are known: docs/accuracy.md. */

struct clock_place {
    uint32_t component; /* processes that messages connect have the same; numbered from 0 */
    bool alone;         /* no bounds tie it to another process */
    bool loose;         /* on the way from the reference traffic goes one way only: its drift is not known */
    bool reference;
    double width_ns; /* sum of the corridors' widths on the path from the reference: the uncertainty left by their
                        bounds */
};

/* Sets the line of each map; `places` has a row for each timeline. */
void clock_lines_find(const struct causality *causality, const struct clock_scale *scale, struct clock_map *maps,
                      struct clock_place *places);

#endif
