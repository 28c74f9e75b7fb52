/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_FINDING_CPU_WORK_H
#define SIGHT_HEURISTICS_FINDING_CPU_WORK_H

#include "heuristics/finding.h"

/* Uneven work by samples of CPU time, of a run whose processes wait for cores: some processes compute at least 10 %
   longer than the others, more than three standard deviations of those, and more than four times what samples may err
   by; waiting for cores explains half of the difference, if it is known. The saving is with a core for each process. */
bool find_uneven_cpu(const struct finding_input *input, struct finding *finding);

#endif
