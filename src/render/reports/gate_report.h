/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_GATE_REPORT_H
#define SIGHT_RENDER_REPORTS_GATE_REPORT_H

#include "core/output.h"
#include "runs/gate.h"

/* What a gate of continuous integration says: to people, in a merge request, and to its service. */
struct gate_report {
    const struct gate *gate;
    const struct significance *significance; /* NULL: not compared */
    const char *before, *after;              /* names of the versions */
    const char *input;                       /* a file of the second version, where a finding has no source line */
};

/* "time > +3%: +4.1 % (95 % interval +1.0 % to +7.2 %; p = 0.008): fails" */
enum { GATE_SENTENCE_SIZE = 400 };
void gate_sentence(const struct gate *gate, const struct gate_check *check, char sentence[GATE_SENTENCE_SIZE]);

void gate_write_text(struct output *output, const struct gate *gate);
void gate_write_markdown(struct output *output, const struct gate_report *report, size_t rows);
void gate_write_junit(struct output *output, const struct gate_report *report);
void gate_write_sarif(struct output *output, const struct gate_report *report); /* SARIF 2.1.0 (OASIS) */

#endif
