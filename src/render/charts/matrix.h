/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_CHARTS_MATRIX_H
#define SIGHT_RENDER_CHARTS_MATRIX_H

#include "heuristics/traffic.h"
#include "render/charts/chart.h"
#include "render/charts/heat.h"

/* The matrix of messages from senders to receivers, on a logarithmic scale; processes share cells if there are many.
 */

/* Draws it as a square into the area with its axes; returns the side of the square from the area's left edge. */
struct heat matrix_draw(struct canvas *canvas, const struct chart_input *input, struct area area,
                        const struct traffic *traffic);

/* The busiest pairs as a list, as many as there is room for. Sorts the traffic. */
void matrix_draw_pairs(struct canvas *canvas, const struct chart_input *input, struct area area,
                       struct traffic *traffic);

/* "1,234" or "1.2 MB". */
char *matrix_weight_text(char *buffer, uint64_t weight, bool by_bytes);

/* Draws the scale under a title. */
void matrix_draw_scale(struct canvas *canvas, const struct chart_input *input, const struct heat *heat, double x,
                       double y, double width);

/* A sentence on messages that are not drawn, or "". */
void matrix_note(struct canvas *canvas, const struct traffic *traffic);

#endif
