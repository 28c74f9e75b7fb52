/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/charts/heat.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"

#include <math.h>

struct heat heat_new(struct area area, size_t columns, size_t rows, bool logarithmic)
{
    struct heat heat = {.columns = columns, .rows = rows, .logarithmic = logarithmic};
    double width = area.width / (double)columns, height = area.height / (double)rows;
    /* Whole pixels where a cell has some: edges between cells are sharp, and all cells equally wide. */
    double gap = width >= 10 && height >= 10;
    if (width >= 2)
        width = floor(width);
    if (height >= 2)
        height = floor(height);
    heat.grid = (struct grid){area.x, area.y, width, height, gap};
    heat.values = memory_new(columns * rows * sizeof *heat.values);
    return heat;
}

void heat_clear(struct heat *heat)
{
    /* A heat map that was cleared can be cleared again. */
    free(heat->values);
    heat->values = NULL;
}

double heat_share(const struct heat *heat, double value)
{
    if (value <= 0 || heat->most <= 0)
        return 0;
    if (!heat->logarithmic) {
        if (heat->most <= heat->least || value <= heat->least)
            return 0;
        return (value - heat->least) / (heat->most - heat->least);
    }
    /* From 1 upwards: with nothing but ones, one is much. */
    if (heat->most <= 1)
        return 1;
    /* Counts of messages extend over many powers of ten: in proportion, all but the largest would be alike. */
    return log(fmax(1, value)) / log(heat->most);
}

/* All cells of one level as one shape, neighbours in a row joined. */
static void draw_level(struct canvas *canvas, const struct heat *heat, unsigned level, const unsigned char *levels)
{
    struct run *runs = NULL;
    size_t count = 0, capacity = 0;
    for (size_t row = 0; row < heat->rows; row++)
        for (size_t column = 0; column < heat->columns; column++) {
            if (levels[row * heat->columns + column] != level + 1)
                continue;
            struct run *last = NULL;
            if (count > 0)
                last = &runs[count - 1];
            /* With gaps between cells each is a rectangle of its own. */
            if (last && heat->grid.gap <= 0 && last->row == row && last->column + last->length == column)
                last->length++;
            else
                ARRAY_PUSH(runs, count, capacity, (struct run){(unsigned)column, (unsigned)row, 1});
        }
    /* Levels are inks, so that a page can show them light or dark. */
    canvas_cells(canvas, heat->grid, runs, count, paint_of((enum ink)(INK_LEVEL + level)));
    free(runs);
}

void heat_draw(struct canvas *canvas, struct heat *heat)
{
    size_t cells = heat->columns * heat->rows;
    unsigned char *levels = memory_new(cells); /* 1 + level; 0: empty */
    for (size_t i = 0; i < cells; i++)
        /* The caller may have set a maximum, to compare several maps by colour. */
        heat->most = larger(heat->values[i], heat->most);
    for (size_t i = 0; i < cells; i++)
        /* Even the least is of the lightest colour, so that nothing and little differ. */
        if (heat->values[i] > 0)
            levels[i] = (unsigned char)(1 + paint_level(heat_share(heat, heat->values[i])).ink - INK_LEVEL);
    const struct grid *grid = &heat->grid;
    double width = grid->cell_width * (double)heat->columns, height = grid->cell_height * (double)heat->rows;
    for (unsigned level = 0; level < THEME_LEVELS; level++)
        draw_level(canvas, heat, level, levels);
    const struct point frame[] = {{grid->x, grid->y},
                                  {grid->x + width, grid->y},
                                  {grid->x + width, grid->y + height},
                                  {grid->x, grid->y + height},
                                  {grid->x, grid->y}};
    /* The frame closes rows and columns whose last cells are empty. */
    canvas_polyline(canvas, frame, 5, 1, paint_of(INK_GRID));
    free(levels);
}

void heat_draw_scale(struct canvas *canvas, const struct heat *heat, double x, double y, double width,
                     const char *title, char *(*label)(char *buffer, double value))
{
    char text[TEXT_NUMBER_SIZE];
    struct text_style style = {.ink = INK_MUTED};
    double step = width / THEME_LEVELS;
    canvas_text_cut(canvas, x, y, width, style, title);
    for (int level = 0; level < THEME_LEVELS; level++)
        /* A little wider, as cells are, so that no background shows between the steps. */
        canvas_rect(canvas, x + level * step, y + 12, step + 0.3, 12, paint_of((enum ink)(INK_LEVEL + level)));
    double least = heat->least;
    if (heat->logarithmic)
        least = 1;
    canvas_text(canvas, x, y + 36, style, label(text, least));
    style.align = ALIGN_RIGHT;
    canvas_text(canvas, x + width, y + 36, style, label(text, heat->most));
    double room = width / 2 - canvas_text_width(canvas, style, text);
    style.align = ALIGN_CENTER;
    /* The middle of a logarithmic scale from 1 on is the root of its end. */
    label(text, sqrt(heat->most));
    if (heat->logarithmic && heat->most >= 100 && canvas_text_width(canvas, style, text) / 2 + 4 < room)
        canvas_text(canvas, x + width / 2, y + 36, style, text);
}
