/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_QUERY_ANSWER_PLOT_H
#define SIGHT_QUERY_ANSWER_PLOT_H

#include "query/question.h"
#include "render/charts/canvas.h"

/* An answer as a picture, after Paradyn's visualisers: rows of processes, iterations and parts of the run as columns (a
   time histogram), other rows as bars, and rows for each process and each value as a terrain, seen from above. Each
   metric has a panel of its own, up to ANSWER_PANELS; a terrain has the first metric. */

enum { ANSWER_PANELS = 4 };

/* Writes the picture; errors are kept as the output's fault. */
void answer_plot_write(struct output *output, enum canvas_kind kind, double width, double height,
                       const struct answer *answer);

/* The sentence that is its title: where the first metric is largest. */
enum { ANSWER_TITLE_SIZE = 1000 };
void answer_plot_title(const struct answer *answer, char title[ANSWER_TITLE_SIZE]);

#endif
