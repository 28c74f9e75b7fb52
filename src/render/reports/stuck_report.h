/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_STUCK_REPORT_H
#define SIGHT_RENDER_REPORTS_STUCK_REPORT_H

#include "render/field.h"
#include "stuck/left_over.h"
#include "stuck/may_hang.h"
#include "stuck/stuck.h"

/* Why a run hangs. */

/* The member "stuck": null if the run finished or made progress until it was ended; with `slow` the latter is included,
   too. A NULL verdict (not known) gives null. */
void stuck_write_json(struct json *json, const struct stuck *stuck, bool slow);

/* The element <hang> of a metrics file; nothing if there is nothing to report. */
void stuck_write_xml(struct output *output, const struct stuck *stuck);

enum { STUCK_LINE_SIZE = 400 };

/* "process 0: MPI_Recv ring.c:35, with process 3, tag 7, for 4.29 s" */
char *stuck_call_text(char text[STUCK_LINE_SIZE], const struct stuck *stuck, const struct stuck_call *call);

/* "Since 706 ms after the start, for 4.29 s."; of a trace that ends then, when that is. */
char *stuck_since_text(char text[STUCK_LINE_SIZE], const struct stuck *stuck);

/* The verdict, if there is one, and where the processes are: in at most this many lines; returns the number of lines.
 */
size_t stuck_write_places(struct output *output, const struct stuck *stuck, size_t lines);

/* For the diagnosis: the verdict as a paragraph, and where the first processes are, in at most this many lines; returns
   the number of lines. A NULL `output` only counts. */
size_t stuck_write_text(struct output *output, const struct stuck *stuck, size_t lines);

/* "What follows judges the time before"; or the whole run, where the hang could not be left out. */
const char *stuck_judges(const struct stuck *stuck);

/* For what judges the time before a hang: a line that says so, if the run hung. */
void stuck_write_note(struct output *output, const struct stuck *stuck);

/* The same where nothing stands above it. */
void stuck_write_first(struct output *output, const struct stuck *stuck);

/* The member "may_hang": null if nothing was found, or it was not looked for. */
void may_hang_write_json(struct json *json, const struct may_hang *found);

/* The member "left_over": null if nothing is left, or it was not looked for. */
void left_over_write_json(struct json *json, const struct left_over *left);

#endif
