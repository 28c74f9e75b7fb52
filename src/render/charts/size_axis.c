/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/charts/size_axis.h"

#include "core/text.h"

#include <math.h>

struct size_axis axis_of_sizes(const struct scaling *scaling, struct area area, double most)
{
    return (struct size_axis){area.x, area.width, scaling_n(&scaling->sizes[0]), most};
}

double axis_size_x(const struct size_axis *axis, double n)
{
    /* The number of processes usually doubles: logarithms put sizes at equal distances. */
    return axis->x + axis->width * log2(n / axis->least) / fmax(1e-9, log2(axis->most / axis->least));
}

static void draw_size(struct canvas *canvas, const struct size_axis *axis, double n, double y, enum ink ink)
{
    char label[TEXT_NUMBER_SIZE];
    double x = axis_size_x(axis, n);
    canvas_line(canvas, x, y, x, y + 4, 1, paint_of(INK_AXIS));
    canvas_text(canvas, x, y + 16, (struct text_style){.align = ALIGN_CENTER, .ink = ink},
                text_thousands(label, text_whole(n)));
}

const char *axis_size_name(const struct scaling *scaling)
{
    bool threads = false, processes = false;
    for (size_t i = 0; i < scaling->size_count; i++) {
        threads |= scaling->sizes[i].threads > 1;
        processes |= scaling->sizes[i].processes > 1;
    }
    /* Sizes are products of both where both vary. */
    if (threads && processes)
        return "processes × threads";
    if (threads)
        return "threads";
    return "processes";
}

void axis_draw_sizes(struct canvas *canvas, const struct size_axis *axis, const struct scaling *scaling, double y)
{
    canvas_line(canvas, axis->x, y, axis->x + axis->width, y, 1, paint_of(INK_AXIS));
    /* The largest first: a label that would touch another is left out. */
    for (size_t i = scaling->size_count; i-- > 0;)
        draw_size(canvas, axis, scaling_n(&scaling->sizes[i]), y, INK_TEXT);
    /* Forecasts beyond the axis, or that there are not (0), have no label. */
    for (size_t i = 0; i < 2; i++)
        if (scaling->forecasts[i].n > 0 && scaling->forecasts[i].n <= axis->most)
            draw_size(canvas, axis, scaling->forecasts[i].n, y, INK_MUTED);
    canvas_text(canvas, axis->x + axis->width / 2, y + 36, (struct text_style){.align = ALIGN_CENTER, .ink = INK_MUTED},
                axis_size_name(scaling));
}
