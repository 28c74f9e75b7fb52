/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/charts/matrix.h"

#include "core/text.h"

#include <math.h>
#include <stdio.h>

enum { CELLS_MAX = 120, CELL_TEXT_HEIGHT = 18, LEFT = 60, TOP = 22, BOTTOM = 44, ROW = 20, NUMBER = 70 };

char *matrix_weight_text(char *buffer, uint64_t weight, bool by_bytes)
{
    if (by_bytes)
        return text_bytes(buffer, weight);
    return text_thousands(buffer, weight);
}

static char *messages_label(char *buffer, double value)
{
    return text_thousands(buffer, text_whole(value));
}

static char *bytes_label(char *buffer, double value)
{
    return text_bytes(buffer, text_whole(value));
}

static void fill(struct heat *heat, const struct rank_axis *axis, const struct traffic *traffic, bool by_bytes)
{
    for (size_t i = 0; i < traffic->count; i++) {
        const struct traffic_pair *pair = &traffic->pairs[i];
        /* A cell may stand for several processes on each side: their pairs add up. */
        heat->values[pair->from / axis->per_column * heat->columns + pair->to / axis->per_column] +=
            (double)pair_weight(pair, by_bytes);
    }
}

static void draw_numbers(struct canvas *canvas, const struct heat *heat, bool by_bytes)
{
    char text[TEXT_NUMBER_SIZE];
    struct text_style style = {.align = ALIGN_CENTER};
    if (heat->grid.cell_height < CELL_TEXT_HEIGHT)
        return;
    for (size_t i = 0; i < heat->columns * heat->rows; i++) {
        matrix_weight_text(text, text_whole(heat->values[i]), by_bytes);
        /* All cells have their number, or none: gaps would look like zeros. */
        if (canvas_text_width(canvas, style, text) + 6 > heat->grid.cell_width)
            return;
    }
    for (size_t row = 0; row < heat->rows; row++)
        for (size_t column = 0; column < heat->columns; column++) {
            double value = heat->values[row * heat->columns + column];
            if (value <= 0)
                continue;
            /* Little is close to the ground, much far from it, in light and in dark. */
            style.ink = INK_TEXT;
            if (heat_share(heat, value) > 0.6)
                style.ink = INK_BACK;
            canvas_text(canvas, heat->grid.x + ((double)column + 0.5) * heat->grid.cell_width,
                        heat->grid.y + ((double)row + 0.5) * heat->grid.cell_height, style,
                        matrix_weight_text(text, text_whole(value), by_bytes));
        }
}

struct heat matrix_draw(struct canvas *canvas, const struct chart_input *input, struct area area,
                        const struct traffic *traffic)
{
    double side = fmin(area.width - LEFT, area.height - TOP - BOTTOM);
    /* Cells are whole pixels, so that what is left over at the edge is less than one for each. */
    struct rank_axis axis = axis_of_ranks(input->metrics, area.x + LEFT, side, ceil(side / CELLS_MAX));
    struct heat heat =
        heat_new((struct area){area.x + LEFT, area.y + TOP, side, side}, axis.columns, axis.columns, true);
    /* Labels must follow the cells, which are narrower than planned. */
    axis.column_width = heat.grid.cell_width;
    fill(&heat, &axis, traffic, input->by_bytes);
    heat_draw(canvas, &heat);
    double bottom = heat.grid.y + heat.grid.cell_height * (double)heat.rows;
    canvas_text(canvas, area.x + LEFT - 8, area.y + TOP - 14,
                (struct text_style){.align = ALIGN_RIGHT, .ink = INK_MUTED}, "from");
    axis_draw_ranks_left(canvas, &axis, area.x + LEFT, heat.grid.y, heat.grid.cell_height);
    axis_draw_ranks(canvas, &axis, bottom, "to process");
    draw_numbers(canvas, &heat, input->by_bytes);
    return heat;
}

void matrix_draw_scale(struct canvas *canvas, const struct chart_input *input, const struct heat *heat, double x,
                       double y, double width)
{
    bool many = heat->rows < input->metrics->process_count;
    char title[128], count[TEXT_NUMBER_SIZE];
    size_t per_cell = (input->metrics->process_count + heat->rows - 1) / heat->rows;
    const char *what = input->by_bytes ? "bytes" : "messages";
    snprintf(title, sizeof title, "%s", what);
    if (many)
        snprintf(title, sizeof title, "%s between %s × %s processes", what, text_thousands(count, per_cell), count);
    /* The scale's labels count what the cells do. */
    heat_draw_scale(canvas, heat, x, y, width, title, input->by_bytes ? bytes_label : messages_label);
}

static void draw_pair_row(struct canvas *canvas, struct area area, double y, struct text_style style, const char *name,
                          const char *messages, const char *bytes)
{
    struct text_style right = {.align = ALIGN_RIGHT, .ink = INK_MUTED};
    canvas_text_cut(canvas, area.x, y, area.width - 2 * NUMBER, style, name);
    canvas_text_cut(canvas, area.x + area.width - NUMBER, y, NUMBER - 8, right, messages);
    canvas_text_cut(canvas, area.x + area.width, y, NUMBER - 8, right, bytes);
}

void matrix_draw_pairs(struct canvas *canvas, const struct chart_input *input, struct area area,
                       struct traffic *traffic)
{
    struct text_style muted = {.ink = INK_MUTED};
    /* The title takes one of the rows. */
    size_t room = 0;
    if (area.height > 2 * ROW)
        room = (size_t)(area.height / ROW) - 1;
    /* A title without rows would promise a list. */
    if (traffic->count == 0 || room == 0)
        return;
    traffic_rank(traffic, input->by_bytes);
    draw_pair_row(canvas, area, area.y, muted, "from → to", "messages", "bytes");
    for (size_t i = 0; i < traffic->count && i < room; i++) {
        const struct traffic_pair *pair = &traffic->pairs[i];
        char from[TEXT_NUMBER_SIZE], to[TEXT_NUMBER_SIZE], name[3 * TEXT_NUMBER_SIZE], messages[TEXT_NUMBER_SIZE],
            bytes[TEXT_NUMBER_SIZE];
        double y = area.y + (double)(i + 1) * ROW;
        /* The last row says how many there are besides, if not all have room. */
        if (i + 1 == room && traffic->count > room) {
            snprintf(name, sizeof name, "… %s more pairs", text_thousands(from, traffic->count - i));
            canvas_text_cut(canvas, area.x, y, area.width, muted, name);
            return;
        }
        snprintf(name, sizeof name, "%s → %s", text_thousands(from, input->metrics->process[pair->from].rank),
                 text_thousands(to, input->metrics->process[pair->to].rank));
        draw_pair_row(canvas, area, y, (struct text_style){0}, name, text_thousands(messages, pair->messages),
                      text_bytes(bytes, pair->bytes));
    }
}

void matrix_note(struct canvas *canvas, const struct traffic *traffic)
{
    char note[160], count[TEXT_NUMBER_SIZE];
    /* Partners without events have no row in the matrix. */
    if (traffic->elsewhere == 0)
        return;
    snprintf(note, sizeof note, "Not drawn: %s message endpoints at processes without events in this trace.",
             text_thousands(count, traffic->elsewhere));
    chart_note(canvas, note);
}
