/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_CHARTS_PICTURE_H
#define SIGHT_RENDER_CHARTS_PICTURE_H

#include "render/charts/chart.h"

/* Charts as a file of their own. */
struct picture {
    enum canvas_kind kind;
    double width, height, dpi;
    enum theme theme;
    const struct chart *const *charts; /* several: a page each (PDF and PS only) */
    size_t count;
    struct chart_input input;
};

/* Writes the picture; errors are kept as the output's fault. */
void picture_write(struct output *output, const struct picture *picture);

/* The kind of a name ("svg", "pdf", "ps", "png"), or of the end of a file's name; false if there is none. */
bool picture_kind(const char *name, enum canvas_kind *kind);
const char *picture_suffix(enum canvas_kind kind);

#endif
