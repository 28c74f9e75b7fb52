/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_CHARTS_HEAT_H
#define SIGHT_RENDER_CHARTS_HEAT_H

#include "render/charts/axis.h"

/* A grid of cells coloured by value, with the scale beside it. */
struct heat {
    size_t columns, rows;
    double *values; /* columns * rows, row by row; 0 is empty */
    double most;    /* of all values */
    double least;   /* where the colours of linear scales begin */
    bool logarithmic;
    struct grid grid;
};

/* An empty grid that fills the area as far as possible with whole pixels. Free with heat_clear. */
struct heat heat_new(struct area area, size_t columns, size_t rows, bool logarithmic);
void heat_clear(struct heat *heat);

/* Draws frame and cells; values above 0 are at least of the lightest colour. */
void heat_draw(struct canvas *canvas, struct heat *heat);

/* The scale of colours, `width` wide, with labels made by `label`: from the least shown to the most. */
void heat_draw_scale(struct canvas *canvas, const struct heat *heat, double x, double y, double width,
                     const char *title, char *(*label)(char *buffer, double value));

/* Where a value is on the scale, in [0,1]. */
double heat_share(const struct heat *heat, double value);

#endif
