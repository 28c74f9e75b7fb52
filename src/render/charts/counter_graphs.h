/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_CHARTS_COUNTER_GRAPHS_H
#define SIGHT_RENDER_CHARTS_COUNTER_GRAPHS_H

#include "render/charts/canvas.h"
#include "render/charts/scene.h"

/* Counters below the rows of a timeline, as the page of `sight view` has them (view/page/counters.js): a graph of each
   over the time and of the processes of the scene, of a sum how fast it grows. */

/* Pixels of a counter: its name, its graph, and room below. */
enum { COUNTER_GRAPH_PIXELS = 66 };

/* How many of the scene's counters have room in so many pixels: half of them go to the rows. */
size_t counter_graphs_fit(const struct scene *scene, double height);

/* The width of the widest number of their scales. */
double counter_graphs_room(struct canvas *canvas, const struct scene *scene);

/* Draws the first `count` of the scene's counters, one below the other, from `y` on. Numbers of their scales end
   `gap` left of `x`. */
void counter_graphs_draw(struct canvas *canvas, const struct scene *scene, size_t count, double x, double y,
                         double width, double gap);

#endif
