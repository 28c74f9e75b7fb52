/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_ADVICE_H
#define SIGHT_HEURISTICS_ADVICE_H

#include "heuristics/finding.h"
#include "heuristics/structure.h"

/* Advice that fits the parallel structure of a run: the same wait needs a different fix in a pipeline than with a
   master (advice.def), and POP's names for findings (patterns.def). */

/* The structure that the messages of a whole run show. */
struct structure structure_of_run(const struct metrics *metrics);

/* Gives the finding the advice of the first row that fits, with the reason; without one it keeps its own. Names POP's
   pattern and best practice if their conditions hold. */
void advice_fit(const struct finding_input *input, const struct structure *structure, struct finding *finding);

#endif
