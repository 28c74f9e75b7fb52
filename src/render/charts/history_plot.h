/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_CHARTS_HISTORY_PLOT_H
#define SIGHT_RENDER_CHARTS_HISTORY_PLOT_H

#include "render/charts/axis.h"
#include "runs/history.h"

/* One number of a program's runs over time: a dot for each run, the levels between changes as lines, and each change
   with its size. Values do not begin at 0: a change of level is what is to be seen. */

enum { HISTORY_PLOT_WIDTH = 960, HISTORY_PLOT_HEIGHT = 260 };

/* The title's sentence: "Time rose by 8.4 % on 2026-05-03, and is 11.1 s now". */
enum { HISTORY_ANSWER_SIZE = 300 };
void history_plot_answer(const struct history_group *group, enum history_number number,
                         char answer[HISTORY_ANSWER_SIZE]);

void history_plot_draw(struct canvas *canvas, const struct history_group *group, enum history_number number);

/* "11.1 s" or "82 %"; "+8.4 %" or "-2.1 points" of a change; "2026-05-03" in local time. */
char *history_value(char buffer[32], enum history_number number, double value);
char *history_change(char buffer[32], enum history_number number, const struct change_point *change);
char *history_date(char buffer[32], time_t when);

#endif
