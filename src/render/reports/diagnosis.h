/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_DIAGNOSIS_H
#define SIGHT_RENDER_REPORTS_DIAGNOSIS_H

#include "core/output.h"
#include "heuristics/finding.h"
#include "stuck/left_over.h"
#include "stuck/may_hang.h"
#include "stuck/stuck.h"

/* The short diagnosis: why the run is slow. */

/* One or two sentences: how much of the time is spent in MPI, and the main problem. */
enum { DIAGNOSIS_SENTENCE_SIZE = 800 };
void diagnosis_sentence(char buffer[DIAGNOSIS_SENTENCE_SIZE], const struct metrics *metrics,
                        const struct heuristic_result *results);

/* The heuristics that are fair or poor, the most important first; those that only mirror another one are left out.
   Returns their number; `index` has heuristic_count() places. */
size_t diagnosis_rank(const struct heuristic_result *results, size_t *index);

/* A screen of at most 24 lines of 80 characters. `title`: the trace's name. With an analysis it reports the findings,
   else (NULL) the heuristics that are not good. */
struct diagnosis {
    const struct metrics *metrics;
    const struct heuristic_result *results;
    const struct findings *findings;
    const char *title;
    const char *input;                 /* the trace's path, for commands to copy; NULL: there is not one alone */
    bool verbose;                      /* starting and ending MPI is included */
    const struct stuck *stuck;         /* NULL: not known */
    const struct may_hang *may_hang;   /* NULL: not known */
    const struct left_over *left_over; /* NULL: not known */
    bool all;                          /* findings are shown, as there is no trace to explain the rest */
    bool colour;                       /* text for a terminal: bold verdict and findings, the bar by its threshold */
    size_t begun;                      /* lines that diagnosis_begin_text has written already; 0: it was not called */
};
void diagnosis_write_text(struct output *output, const struct diagnosis *diagnosis);

/* The begin of that screen, for a run that hangs: the title, and why. Needs metrics, title and stuck only. The number
   of lines that this takes: at least 1 for a run that hangs. */
size_t diagnosis_begin_text(struct output *output, const struct diagnosis *diagnosis);

/* What fixing each finding saves that follows from no other, as on that screen; nothing where there is none. */
void diagnosis_write_savings(struct output *output, const struct findings *findings);

/* The same as JSON (sight-diagnosis/1), with all findings. With `explained` also the critical path, and the longest
   waits of each finding. Unknown values are null. */
void diagnosis_write_json(struct output *output, const struct diagnosis *diagnosis, bool explained);

#endif
