/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_STUCK_REPORT_H
#define SIGHT_RENDER_REPORTS_STUCK_REPORT_H

#include "render/field.h"
#include "stuck/stuck.h"

/* Why a run does not go on. */

/* The member "stuck": null where it came to its end or went on until it was ended; with `slow` the latter is told, too.
   NULL is not known: null. */
void stuck_write_json(struct json *json, const struct stuck *stuck, bool slow);

/* The verdict, if there is one, and where the processes are: at most so many lines; returns how many it took. */
size_t stuck_write_places(struct output *output, const struct stuck *stuck, size_t lines);

/* For the diagnosis: the verdict as a paragraph, and where the first processes are, at most so many lines: returns how
   many it took. A NULL `output` only counts. */
size_t stuck_write_text(struct output *output, const struct stuck *stuck, size_t lines);

/* True if there is something to be told. */
static inline bool stuck_is_told(const struct stuck *stuck)
{
    return stuck && stuck->kind > STUCK_SLOW;
}

#endif
