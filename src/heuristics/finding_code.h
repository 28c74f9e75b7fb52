/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_FINDING_CODE_H
#define SIGHT_HEURISTICS_FINDING_CODE_H

#include "heuristics/finding.h"

/* Findings that blame some processes name what these compute and the others do not: functions and lines, by samples
   (profile/profile_excess.h). */

struct finding_coder; /* the profile's rows; NULL where there are no samples */

struct finding_coder *finding_coder_new(const struct metrics *metrics);
void finding_coder_free(struct finding_coder *coder);

/* Adds the places to the finding and says the first in its text, where they matter: where they are a tenth of what it
   could save. */
void finding_code_fit(const struct finding_coder *coder, struct finding *finding);

#endif
