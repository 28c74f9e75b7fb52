/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_EXPLANATION_H
#define SIGHT_RENDER_REPORTS_EXPLANATION_H

#include "core/output.h"
#include "heuristics/finding.h"

/* The evidence for a finding, as text: its numbers, the processes that wait and those waited for, and its longest waits
   with their times, to find them in the trace. */
void explanation_write(struct output *output, const struct metrics *metrics, size_t number,
                       const struct finding *finding);

#endif
