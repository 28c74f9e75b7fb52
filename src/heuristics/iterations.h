/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_ITERATIONS_H
#define SIGHT_HEURISTICS_ITERATIONS_H

#include "heuristics/iteration_kind.h"
#include "metrics/metrics.h"

/* Describes the iterations of a run in words. Uneven iterations matter if evening them out would save more than
   ITERATIONS_NOISE of the run. */

#define ITERATIONS_NOISE 0.01

enum { ITERATIONS_TEXT_SIZE = 600 };

/* Share of the run that even iterations would save, as far as the waits allow. */
double iterations_saving(const struct metrics *metrics);

/* How long they are, and how even: "60 iterations of 13.7 ms: 97 % of the run. In each another process computes
   longest, in turn, though the totals are even: ...". If there are none, why. The metrics have phases. */
void iterations_text(char text[ITERATIONS_TEXT_SIZE], const struct metrics *metrics);

/* The process that computes longest, by the kind of imbalance: a sentence without full stop. There must be iterations.
 */
void iterations_kind_text(char text[ITERATIONS_TEXT_SIZE], const struct metrics *metrics);

/* One sentence without full stop: their most important property. There must be iterations. */
void iterations_answer(char text[ITERATIONS_TEXT_SIZE], const struct metrics *metrics);

/* The same as a line of the diagnosis; "" if nothing is worth a line. */
void iterations_remark(char text[ITERATIONS_TEXT_SIZE], const struct metrics *metrics);

#endif
