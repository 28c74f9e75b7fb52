/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/charts/picture.h"

#include <string.h>

static const char *const suffixes[] = {
    [CANVAS_SVG] = "svg", [CANVAS_PDF] = "pdf", [CANVAS_PS] = "ps", [CANVAS_PNG] = "png"};

bool picture_kind(const char *name, enum canvas_kind *kind)
{
    /* A bare "svg" is a format, too: --format and the suffix of a file are asked alike. */
    const char *dot = strrchr(name, '.');
    const char *suffix = dot ? dot + 1 : name;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcmp(suffix, suffixes[i]) == 0) {
            *kind = (enum canvas_kind)i;
            return true;
        }
    return false;
}

const char *picture_suffix(enum canvas_kind kind)
{
    return suffixes[kind];
}

void picture_write(struct output *output, const struct picture *picture)
{
    char answer[CHART_ANSWER_SIZE], description[CHART_DESCRIPTION_SIZE];
    chart_answer(picture->charts[0], &picture->input, answer);
    chart_describe(picture->charts[0], &picture->input, description);
    struct canvas_options options = {.theme = picture->theme,
                                     .dpi = picture->dpi,
                                     .prefix = picture->charts[0]->name,
                                     .title = answer,
                                     .description = description};
    /* Several charts have an answer each: none of them is the title of the file. */
    if (picture->count > 1)
        options.title = "SIGHT charts";
    struct canvas *canvas = canvas_new(picture->kind, output, picture->width, picture->height, &options);
    if (!canvas)
        return;
    if (picture->kind == CANVAS_SVG)
        /* SVG has no ground of its own; a viewer with a dark one would hide the text. */
        canvas_rect(canvas, 0, 0, picture->width, picture->height, paint_of(INK_BACK));
    for (size_t i = 0; i < picture->count; i++) {
        if (i > 0)
            canvas_page(canvas);
        chart_draw(picture->charts[i], canvas, &picture->input);
    }
    canvas_free(canvas);
}
