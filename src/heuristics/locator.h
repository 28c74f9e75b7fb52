/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_LOCATOR_H
#define SIGHT_HEURISTICS_LOCATOR_H

#include "heuristics/heuristic.h"

/* The locators of AIMS: which function on which process holds the time (eq. 3.1.1 and 3.1.2 of the dissertation). Times
   are exclusive, so that nested calls count once. Synchronisation is what moves no data: barriers, and the calls that
   open, close or flush epochs of windows. Communication is everything else of the classes p2p, probe, wait, collective,
   rma. */
void judge_communication_locator(const struct metrics *metrics, struct heuristic_result *result);
void judge_synchronisation_locator(const struct metrics *metrics, struct heuristic_result *result);

#endif
