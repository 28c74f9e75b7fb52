/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_TIMELINE_TEXT_H
#define SIGHT_RENDER_REPORTS_TIMELINE_TEXT_H

#include "core/output.h"
#include "render/charts/scene.h"

/* A window of a timeline as lines of letters: one for the function with most of the cell's time, in lower case if it
   mostly waits; "·" is computing, a blank nothing. `colour`: the cells' backgrounds are the functions' colours. */
void timeline_write_text(struct output *output, const struct scene *scene, const char *title, bool colour);

/* Columns that the names of rows take beside the cells. */
enum { TIMELINE_TEXT_NAMES = 14 };

#endif
