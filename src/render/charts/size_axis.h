/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_CHARTS_SIZE_AXIS_H
#define SIGHT_RENDER_CHARTS_SIZE_AXIS_H

#include "render/charts/axis.h"
#include "runs/scaling.h"

/* Sizes of runs, processes times threads, from left to right: twice as many are always as far apart. */
struct size_axis {
    double x, width, least, most;
};
struct size_axis axis_of_sizes(const struct scaling *scaling, struct area area, double most);
double axis_size_x(const struct size_axis *axis, double n);

/* The sizes under the line at y, those that were not run in grey, and what they count. */
void axis_draw_sizes(struct canvas *canvas, const struct size_axis *axis, const struct scaling *scaling, double y);

/* What a size counts: "processes", "threads" or "processes × threads". */
const char *axis_size_name(const struct scaling *scaling);

#endif
