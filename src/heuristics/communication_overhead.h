/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_COMMUNICATION_OVERHEAD_H
#define SIGHT_HEURISTICS_COMMUNICATION_OVERHEAD_H

#include "heuristics/heuristic.h"

/* AIMS' communication overhead (eq. 3.1.3 of the dissertation): messages sent times the cost of one, which is the run's
   shortest send, as a share of the run. Cells: by process, all functions together. Unknown where no send was recorded.
 */
void judge_communication_overhead(const struct metrics *metrics, struct heuristic_result *result);

#endif
