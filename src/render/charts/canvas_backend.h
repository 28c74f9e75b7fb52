/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_CHARTS_CANVAS_BACKEND_H
#define SIGHT_RENDER_CHARTS_CANVAS_BACKEND_H

#include "render/charts/canvas.h"

#include <pango/pangocairo.h>

/* The operations of a kind of picture: fill a path, stroke a path, show a line of text. */

enum step_kind { STEP_MOVE, STEP_LINE, STEP_CURVE, STEP_ARC, STEP_CLOSE };
struct step {
    enum step_kind kind;
    double x, y;             /* its end; for an arc the centre */
    double x1, y1, x2, y2;   /* a curve's control points */
    double radius, from, to; /* an arc's, in radians from the right, clockwise, at most a half turn */
};

struct canvas_backend {
    void (*fill)(struct canvas *canvas, struct paint paint);
    void (*stroke)(struct canvas *canvas, double width, bool dashed, struct paint paint);
    /* `x` is the left edge, the middle or the right edge, as aligned; `layout` has the text. */
    void (*text)(struct canvas *canvas, double x, double baseline, struct text_style style, PangoLayout *layout);
    void (*page)(struct canvas *canvas);
    void (*end)(struct canvas *canvas);
};

struct canvas {
    const struct canvas_backend *backend;
    struct output *output;
    double width, height;
    struct canvas_options options;
    PangoContext *measuring;
    struct step *steps; /* the path at hand */
    size_t step_count, step_capacity;
    char tip[256]; /* of the next shape; "" where there is none */
    struct text_box *boxes;
    size_t box_count, box_capacity;
    size_t page_boxes; /* where those of the page at hand begin */
    size_t left_out;   /* texts */
    unsigned page;
    cairo_t *cairo; /* canvas_cairo.c */
    enum canvas_kind kind;
    char head[512]; /* canvas_cairo.c: the beginning of PostScript */
    size_t head_length;
    bool head_done;
    bool hatches[INK_COUNT]; /* canvas_svg.c: patterns that are used */
};

/* False and the output's fault where Cairo cannot. */
bool canvas_cairo_begin(struct canvas *canvas);
void canvas_svg_begin(struct canvas *canvas);

#endif
