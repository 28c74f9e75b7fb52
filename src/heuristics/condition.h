/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_CONDITION_H
#define SIGHT_HEURISTICS_CONDITION_H

#include "heuristics/finding.h"

/* Conditions of --fail-on, for continuous integration: "parallel-efficiency<0.8,late-sender>5%,compute-imbalance>2s".
   A name, < or >, and a value: a number, per cent, or seconds (s, ms, us, ns). Names are the efficiencies and shares of
   conditions.def, and the findings' ids; for a finding, a value in seconds is compared with its saving, any other with
   the saving's share of the run. A finding that is not reported counts as 0. Several conditions, by commas: any of
   them.
 */

/* What a condition compares with, at the end of its text: "0.8", "5%", "-20 ms". */
struct condition_limit {
    double value; /* seconds, or of 1 */
    bool in_seconds;
    bool has_unit; /* a plain number has none */
};

/* False: `text` is no number, not a finite one, or followed by anything but a unit (blanks aside). */
bool condition_limit_parse(const char *text, struct condition_limit *limit);

/* STATUS_FAILED and a fault (usage) if a condition is not valid. */
enum status conditions_check(const char *conditions, struct error *err) MUST_CHECK;

/* STATUS_FAILED and a fault (usage) if a condition needs the analysis across all processes of a whole run (a finding, a
   replay), and the metrics do not have it. */
enum status conditions_known(const char *conditions, const struct metrics *metrics, struct error *err) MUST_CHECK;

/* True if one holds; `text` says which, with the value: "parallel-efficiency is 0.200, < 0.8". The conditions were
   checked. */
enum { CONDITION_TEXT_SIZE = 200 };
bool conditions_hold(const char *conditions, const struct metrics *metrics, const struct findings *findings,
                     char text[CONDITION_TEXT_SIZE]);

#endif
