/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_CHARTS_FACTORS_PLOT_H
#define SIGHT_RENDER_CHARTS_FACTORS_PLOT_H

#include "render/charts/chart.h"

/* POP's efficiencies over the number of processes: what chart 'efficiency' is of several runs. */
void factors_plot_answer(const struct scaling *scaling, char answer[CHART_ANSWER_SIZE]);
void factors_plot_draw(struct canvas *canvas, const struct scaling *scaling, struct area area);

#endif
