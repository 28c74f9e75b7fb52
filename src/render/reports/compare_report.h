/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_COMPARE_REPORT_H
#define SIGHT_RENDER_REPORTS_COMPARE_REPORT_H

#include "core/output.h"
#include "heuristics/comparison.h"
#include "render/field.h"
#include "runs/finding_changes.h"
#include "runs/gate.h"
#include "runs/significance.h"

/* A comparison of versions as text, JSON (sight-compare/1) and HTML. */

struct compare_report {
    const struct comparison *comparison;
    const struct significance *significance; /* for each version after the first; NULL: a version has a single run,
                                                nothing is tested */
    const struct finding_changes *changes;
    const struct gate *gate; /* NULL: none */
};

/* `rows`: of findings, functions and processes at most (SIZE_MAX: all). `colour`: better in green, worse in red. */
void compare_write_text(struct output *output, const struct compare_report *report, size_t rows, bool colour);
void compare_write_json(struct output *output, const struct compare_report *report);
void compare_write_html(struct output *output, const struct compare_report *report);

/* The common part of text and HTML. */

/* "B is 11 times as fast as A: 180 ms instead of 2.00 s." for a version after the first. */
enum { COMPARE_SENTENCE_SIZE = 800, COMPARE_CELL_SIZE = 320 };
void compare_sentence(const struct comparison *comparison, size_t version, char sentence[COMPARE_SENTENCE_SIZE]);

/* Of a version some of whose runs did not finish, a sentence that says so; else empty. */
void compare_hang_sentence(const struct version *version, char sentence[COMPARE_SENTENCE_SIZE]);

/* A value in its unit, with the range of its runs if there are several. */
void compare_value(struct averaged value, enum quantity_unit unit, size_t runs, char cell[COMPARE_CELL_SIZE]);

/* The same for seconds that a version may lack: "–". */
void compare_seconds(struct averaged seconds, bool there, size_t runs, char cell[COMPARE_CELL_SIZE]);

/* "-91 %", "3.2 times", "=" where nothing changed; better or worse is not in it. */
void compare_change(struct averaged first, struct averaged now, enum change change, char cell[COMPARE_CELL_SIZE]);

/* The processes whose times changed most between first and last version, at most `most`, by rank. Indices; free() them.
 */
size_t *compare_processes_most(const struct comparison *comparison, size_t most, size_t *count);

#endif
