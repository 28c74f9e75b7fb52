/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/answer_plot.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "render/charts/heat.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MARGIN = 28, LABELS = 84, PANEL_GAP = 40, BELOW = 44, BAR = 24, NAME_LEAST = 60, SCALE = 200 };
enum { COLUMN_LEAST = 2, TICKS = 4, HEAD = 130, TERRAIN_HEAD = 40 };

static double value_at(const struct answer *answer, size_t row, size_t metric)
{
    return answer->values[row * answer->metric_count + metric];
}

/* The row with the largest value; the row count where none has one. */
static size_t largest_row(const struct answer *answer, size_t metric)
{
    size_t best = answer->row_count;
    for (size_t i = 0; i < answer->row_count; i++)
        if (!isnan(value_at(answer, i, metric)) &&
            (best == answer->row_count || value_at(answer, i, metric) > value_at(answer, best, metric)))
            best = i;
    return best;
}

static double mean_of(const struct answer *answer, size_t metric)
{
    /* Rows that are not known have no part in the mean. */
    double sum = 0, count = 0;
    for (size_t i = 0; i < answer->row_count; i++)
        if (!isnan(value_at(answer, i, metric))) {
            sum += value_at(answer, i, metric);
            count++;
        }
    return count > 0 ? sum / count : NAN;
}

/* "MPI_Send" of "/Machine/3 /Code/p2p/MPI_Send". */
static const char *last_word(const char *path)
{
    /* The last word is what distinguishes the rows of one axis. */
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* "process 3, from 1.2 s to 1.3 s": where a row is. */
static void place_text(const struct answer *answer, const struct answer_row *row, char *text, size_t size)
{
    char from[TEXT_NUMBER_SIZE], to[TEXT_NUMBER_SIZE];
    *text = '\0';
    if (row->rank != ANSWER_ALL)
        text_append(text, size, "process %u", row->rank);
    if (answer->by_time) {
        /* Parts of the run are equally long, and numbered from its begin. */
        double part = (double)answer->duration_ns / (double)answer->key_count;
        text_append(text, size, "%sfrom %s to %s", *text ? ", " : "", text_duration(from, llround(part * row->key)),
                    text_duration(to, llround(part * (row->key + 1.0))));
    } else if (!*text || answer->product) {
        text_append(text, size, "%s%s%s", *text ? ", " : "", answer->axis == AXIS_ITERATIONS ? "iteration " : "",
                    last_word(row->focus));
    }
}

void answer_plot_title(const struct answer *answer, char title[ANSWER_TITLE_SIZE])
{
    char most[TEXT_NUMBER_SIZE], mean[TEXT_NUMBER_SIZE], place[FOCUS_TEXT_SIZE];
    /* The title is about the first metric: it is what was asked for first. */
    size_t row = largest_row(answer, 0);
    const char *name = answer->titles[0];
    if (row == answer->row_count) {
        snprintf(title, ANSWER_TITLE_SIZE, "%.300s is not known anywhere", name);
    } else if (answer->row_count == 1) {
        snprintf(title, ANSWER_TITLE_SIZE, "%.300s: %s", name, answer_text(most, answer, 0, value_at(answer, row, 0)));
    } else if (value_at(answer, row, 0) == 0) {
        snprintf(title, ANSWER_TITLE_SIZE, "%.300s is nowhere above 0", name);
    } else {
        place_text(answer, &answer->rows[row], place, sizeof place);
        snprintf(title, ANSWER_TITLE_SIZE, "Most %.300s: %s, %s (mean %s)", name, place,
                 answer_text(most, answer, 0, value_at(answer, row, 0)),
                 answer_text(mean, answer, 0, mean_of(answer, 0)));
    }
    text_end_whole(title);
}

/* Values from `low`, which is 0 or below, to `high`, at multiples of the step. */
struct span {
    double low, high, step;
};

static struct span span_of(const struct answer *answer, size_t metric)
{
    struct span span = {0};
    for (size_t i = 0; i < answer->row_count; i++) {
        double value = value_at(answer, i, metric);
        span.low = fmin(span.low, isnan(value) ? 0 : value);
        span.high = fmax(span.high, isnan(value) ? 0 : value);
    }
    /* All zero: an axis needs a height all the same. */
    if (span.high <= span.low)
        span.high = span.low + 1;
    span.step = axis_round_up((span.high - span.low) / TICKS);
    span.low = floor(span.low / span.step) * span.step;
    span.high = ceil(span.high / span.step) * span.step;
    return span;
}

/* Where a value is between the ends of its axis, from 0 to 1. */
static double span_share(const struct span *span, double value)
{
    return (value - span->low) / (span->high - span->low);
}

static void draw_ticks(struct canvas *canvas, const struct answer *answer, size_t metric, const struct span *span,
                       struct area plot)
{
    struct text_style style = {.align = ALIGN_RIGHT, .ink = INK_MUTED};
    for (int i = 0; i <= (int)lround((span->high - span->low) / span->step); i++) {
        char label[TEXT_NUMBER_SIZE];
        double value = span->low + i * span->step, y = plot.y + plot.height * (1 - span_share(span, value));
        /* Multiples of the step are not exact: what is nearly 0 is 0. */
        bool zero = fabs(value) < span->step / 2;
        canvas_line(canvas, plot.x, y, plot.x + plot.width, y, 1, paint_of(zero ? INK_AXIS : INK_GRID));
        canvas_text(canvas, plot.x - 8, y, style, answer_text(label, answer, metric, zero ? 0 : value));
    }
}

static uint32_t number_of(const struct answer *answer, size_t row)
{
    const struct answer_row *at = &answer->rows[row];
    return at->rank != ANSWER_ALL && !answer->product ? at->rank : at->key;
}

static void draw_numbers(struct canvas *canvas, const struct answer *answer, struct area plot)
{
    struct text_style style = {.align = ALIGN_CENTER, .ink = INK_MUTED};
    char label[TEXT_NUMBER_SIZE];
    size_t count = answer->row_count;
    double each = plot.width / (double)count, y = plot.y + plot.height;
    if (answer->by_time) {
        axis_draw_time(canvas, plot.x, plot.width, y, 0, (double)answer->duration_ns, "");
        return;
    }
    text_thousands(label, number_of(answer, count - 1));
    size_t step = axis_label_step(each, canvas_text_width(canvas, style, label) + 14);
    for (size_t i = 0; i < count; i += step)
        canvas_text(canvas, plot.x + ((double)i + 0.5) * each, y + 12, style,
                    text_thousands(label, number_of(answer, i)));
    canvas_text(canvas, plot.x + plot.width / 2, y + 32, style,
                answer->axis == AXIS_ITERATIONS ? "iteration" : "process");
}

/* Rows as columns; neighbours are combined to their mean where there are more than pixels. */
static void draw_columns(struct canvas *canvas, const struct answer *answer, size_t metric, struct area plot)
{
    struct span span = span_of(answer, metric);
    size_t room = (size_t)fmax(1, plot.width / COLUMN_LEAST), fold = (answer->row_count + room - 1) / room;
    size_t columns = (answer->row_count + fold - 1) / fold, largest = largest_row(answer, metric);
    double width = plot.width * (double)fold / (double)answer->row_count, zero = span_share(&span, 0);
    /* Time is continuous: its columns touch. The seam keeps the ground from showing between them. */
    double gap = answer->by_time || width < 5 ? 0 : width * 0.2, seam = gap > 0 ? 0 : 0.3;
    draw_ticks(canvas, answer, metric, &span, plot);
    for (size_t i = 0; i < columns; i++) {
        double sum = 0, known = 0;
        char number[TEXT_NUMBER_SIZE], place[FOCUS_TEXT_SIZE];
        size_t first = i * fold, end = smaller(first + fold, answer->row_count);
        for (size_t row = first; row < end; row++) {
            double value = value_at(answer, row, metric);
            sum += isnan(value) ? 0 : value;
            known += !isnan(value);
        }
        /* A column without a known value is left out, which differs from one of 0. */
        double share = known > 0 ? span_share(&span, sum / known) : zero;
        if (known == 0 || share == zero)
            continue;
        place_text(answer, &answer->rows[first], place, sizeof place);
        if (end - first > 1)
            text_append(place, sizeof place, " and %zu more, mean", end - first - 1);
        canvas_tip(canvas, "%s: %s", place, answer_text(number, answer, metric, sum / known));
        canvas_rect(canvas, plot.x + (double)i * width + gap / 2, plot.y + plot.height * (1 - fmax(share, zero)),
                    (double)(end - first) / (double)fold * width - gap + seam, plot.height * fabs(share - zero),
                    paint_of(largest >= first && largest < end ? INK_ACCENT : INK_MPI));
    }
}

static struct text_style caption_style(void)
{
    return (struct text_style){.bold = true};
}

static void draw_column_panels(struct canvas *canvas, const struct answer *answer, struct area area)
{
    size_t panels = smaller(answer->metric_count, (size_t)ANSWER_PANELS);
    struct area plot = {area.x + LABELS, area.y + 24, area.width - LABELS, 0};
    /* Each metric has a panel with an axis of its own: their units differ. */
    plot.height = (area.height - BELOW - 24 - (double)(panels - 1) * PANEL_GAP) / (double)panels;
    for (size_t i = 0; i < panels; i++) {
        canvas_text_cut(canvas, plot.x, plot.y - 14, plot.width, caption_style(), answer->titles[i]);
        draw_columns(canvas, answer, i, plot);
        if (i + 1 == panels)
            draw_numbers(canvas, answer, plot);
        plot.y += plot.height + PANEL_GAP;
    }
}

/* Bars with names: rows of phases in their order, others by the first metric. */
struct ranked {
    double value;
    size_t row;
};

static int by_value(const void *a, const void *b)
{
    const struct ranked *left = a, *right = b;
    if (left->value != right->value)
        return left->value < right->value ? 1 : -1;
    return order_by(left->row, right->row);
}

/* Rows that are not known come last. */
static struct ranked *rank_rows(const struct answer *answer)
{
    struct ranked *rows = memory_new(answer->row_count * sizeof *rows);
    for (size_t i = 0; i < answer->row_count; i++) {
        double value = value_at(answer, i, 0);
        rows[i] = (struct ranked){isnan(value) ? -INFINITY : value, i};
    }
    /* Phases are read in the order in which they come. */
    if (answer->axis != AXIS_PHASES)
        qsort(rows, answer->row_count, sizeof *rows, by_value);
    return rows;
}

static void draw_bar(struct canvas *canvas, const struct answer *answer, size_t row, size_t metric, struct area place)
{
    struct span span = span_of(answer, metric);
    double value = value_at(answer, row, metric), room = place.width - LABELS, zero = span_share(&span, 0);
    char number[TEXT_NUMBER_SIZE];
    double share = isnan(value) ? zero : span_share(&span, value);
    bool largest = row == largest_row(answer, metric);
    canvas_rect(canvas, place.x + room * fmin(share, zero), place.y + BAR * 0.15, room * fabs(share - zero), BAR * 0.7,
                paint_of(largest ? INK_ACCENT : INK_MPI));
    canvas_text(canvas, place.x + room * fmax(share, zero) + 6, place.y + BAR / 2.0, (struct text_style){0},
                isnan(value) ? "not known" : answer_text(number, answer, metric, value));
}

static void draw_bars(struct canvas *canvas, const struct answer *answer, struct area area)
{
    size_t panels = smaller(answer->metric_count, (size_t)ANSWER_PANELS);
    size_t room = (size_t)fmax(1, (area.height - 24 - BAR) / BAR), shown = smaller(answer->row_count, room);
    double names = NAME_LEAST;
    struct ranked *rows = rank_rows(answer);
    for (size_t i = 0; i < shown; i++)
        names = fmax(names, canvas_text_width(canvas, (struct text_style){0}, answer->rows[rows[i].row].focus));
    /* Names may be as long as a path: the bars keep more than half. */
    names = fmin(names + 16, area.width * 0.4);
    double width = (area.width - names) / (double)panels;
    for (size_t k = 0; k < panels; k++)
        canvas_text_cut(canvas, area.x + names + (double)k * width, area.y + 10, width - 16, caption_style(),
                        answer->titles[k]);
    for (size_t i = 0; i < shown; i++) {
        double y = area.y + 24 + (double)i * BAR;
        canvas_text_cut(canvas, area.x, y + BAR / 2.0, names - 12, (struct text_style){0},
                        answer->rows[rows[i].row].focus);
        for (size_t k = 0; k < panels; k++)
            draw_bar(canvas, answer, rows[i].row, k, (struct area){area.x + names + (double)k * width, y, width, BAR});
    }
    if (shown < answer->row_count) {
        char more[80];
        snprintf(more, sizeof more, "… %zu more", answer->row_count - shown);
        canvas_text(canvas, area.x, area.y + 24 + (double)shown * BAR + BAR / 2.0,
                    (struct text_style){.ink = INK_MUTED}, more);
    }
    free(rows);
}

/* A terrain from above: processes from top to bottom, values from left to right. */
struct terrain {
    const struct answer *answer;
    uint32_t *ranks, *keys; /* ascending */
    size_t rank_count, key_count;
    size_t rank_fold, key_fold; /* so many are a cell: their mean */
};

static int by_number(const void *a, const void *b)
{
    return order_by(*(const uint32_t *)a, *(const uint32_t *)b);
}

static size_t distinct(uint32_t *numbers, size_t count)
{
    size_t kept = 0;
    /* Equal numbers are next to each other once they are sorted. */
    qsort(numbers, count, sizeof *numbers, by_number);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || numbers[kept - 1] != numbers[i])
            numbers[kept++] = numbers[i];
    return kept;
}

static size_t place_of(const uint32_t *numbers, size_t count, uint32_t number)
{
    const uint32_t *found = bsearch(&number, numbers, count, sizeof *numbers, by_number);
    return (size_t)(found - numbers);
}

static struct terrain terrain_of(const struct answer *answer, struct area plot)
{
    struct terrain terrain = {.answer = answer};
    terrain.ranks = memory_new(answer->row_count * sizeof *terrain.ranks);
    terrain.keys = memory_new(answer->row_count * sizeof *terrain.keys);
    for (size_t i = 0; i < answer->row_count; i++) {
        terrain.ranks[i] = answer->rows[i].rank;
        terrain.keys[i] = answer->rows[i].key;
    }
    terrain.rank_count = distinct(terrain.ranks, answer->row_count);
    terrain.key_count = distinct(terrain.keys, answer->row_count);
    size_t high = (size_t)fmax(1, plot.height / COLUMN_LEAST), wide = (size_t)fmax(1, plot.width / COLUMN_LEAST);
    terrain.rank_fold = (terrain.rank_count + high - 1) / high;
    terrain.key_fold = (terrain.key_count + wide - 1) / wide;
    return terrain;
}

static struct heat terrain_heat(const struct terrain *terrain, struct area plot)
{
    const struct answer *answer = terrain->answer;
    size_t columns = (terrain->key_count + terrain->key_fold - 1) / terrain->key_fold;
    size_t rows = (terrain->rank_count + terrain->rank_fold - 1) / terrain->rank_fold;
    struct heat heat = heat_new(plot, columns, rows, false);
    /* A terrain is a surface: gaps would cut it into cells. */
    heat.grid.gap = 0;
    double *known = memory_new(columns * rows * sizeof *known);
    for (size_t i = 0; i < answer->row_count; i++) {
        size_t row = place_of(terrain->ranks, terrain->rank_count, answer->rows[i].rank) / terrain->rank_fold;
        size_t column = place_of(terrain->keys, terrain->key_count, answer->rows[i].key) / terrain->key_fold;
        double value = value_at(answer, i, 0);
        heat.values[row * columns + column] += isnan(value) ? 0 : value;
        known[row * columns + column] += !isnan(value);
    }
    for (size_t i = 0; i < columns * rows; i++)
        /* A cell of several rows has their mean. */
        heat.values[i] /= fmax(1, known[i]);
    free(known);
    return heat;
}

/* Rows of all processes have the same keys: the first that has it supplies the name. */
static const char *key_name(const struct answer *answer, uint32_t key)
{
    for (size_t i = 0; i < answer->row_count; i++)
        if (answer->rows[i].key == key)
            return last_word(answer->rows[i].focus);
    return "";
}

static void draw_terrain_keys(struct canvas *canvas, const struct terrain *terrain, struct area plot)
{
    const struct answer *answer = terrain->answer;
    struct text_style style = {.align = ALIGN_CENTER, .ink = INK_MUTED};
    char label[TEXT_NUMBER_SIZE];
    double each = plot.width / (double)terrain->key_count, y = plot.y + plot.height;
    if (answer->by_time) {
        axis_draw_time(canvas, plot.x, plot.width, y, 0, (double)answer->duration_ns, "");
        return;
    }
    bool numbers = answer->axis == AXIS_ITERATIONS;
    text_thousands(label, terrain->keys[terrain->key_count - 1]);
    size_t step = numbers ? axis_label_step(each, canvas_text_width(canvas, style, label) + 14) : 1;
    for (size_t i = 0; i < terrain->key_count; i += step) {
        double x = plot.x + ((double)i + 0.5) * each;
        if (numbers)
            canvas_text(canvas, x, y + 12, style, text_thousands(label, terrain->keys[i]));
        else if (each > NAME_LEAST)
            canvas_text_cut(canvas, x, y + 12, each - 6, style, key_name(answer, terrain->keys[i]));
    }
    if (numbers)
        canvas_text(canvas, plot.x + plot.width / 2, y + 32, style, "iteration");
}

static void draw_terrain_ranks(struct canvas *canvas, const struct terrain *terrain, const struct heat *heat)
{
    struct text_style style = {.align = ALIGN_RIGHT, .ink = INK_MUTED};
    double each = heat->grid.cell_height / (double)terrain->rank_fold;
    for (size_t i = 0; i < terrain->rank_count; i += axis_label_step(each, TEXT_SIZE + 3)) {
        char label[TEXT_NUMBER_SIZE];
        canvas_text(canvas, heat->grid.x - 8, heat->grid.y + ((double)i + 0.5) * each, style,
                    text_thousands(label, terrain->ranks[i]));
    }
    canvas_text(canvas, heat->grid.x - 8, heat->grid.y - 14, style, "process");
}

static void draw_terrain(struct canvas *canvas, const struct answer *answer, struct area area)
{
    struct area plot = {area.x + LABELS, area.y + TERRAIN_HEAD, area.width - LABELS,
                        area.height - TERRAIN_HEAD - BELOW};
    struct terrain terrain = terrain_of(answer, plot);
    struct heat heat = terrain_heat(&terrain, plot);
    char text[TEXT_NUMBER_SIZE];
    heat_draw(canvas, &heat);
    /* Cells are whole pixels: numbers must be where the cells are. */
    plot.width = heat.grid.cell_width * (double)heat.columns;
    plot.height = heat.grid.cell_height * (double)heat.rows;
    draw_terrain_ranks(canvas, &terrain, &heat);
    draw_terrain_keys(canvas, &terrain, plot);
    /* The scale, with labels of the metric's unit. */
    double x = area.x + area.width - SCALE - 2 * LABELS, step = (double)SCALE / THEME_LEVELS;
    canvas_text(canvas, x - 8, area.y + 4, (struct text_style){.align = ALIGN_RIGHT, .ink = INK_MUTED},
                answer_text(text, answer, 0, 0));
    for (int level = 0; level < THEME_LEVELS; level++)
        canvas_rect(canvas, x + level * step, area.y - 2, step + 0.3, 12, paint_of((enum ink)(INK_LEVEL + level)));
    canvas_text(canvas, x + SCALE + 8, area.y + 4, (struct text_style){.ink = INK_MUTED},
                answer_text(text, answer, 0, heat.most));
    heat_clear(&heat);
    free(terrain.ranks);
    free(terrain.keys);
}

static const char *axis_word(const struct answer *answer)
{
    static const char *const words[SEARCH_AXIS_COUNT] = {[AXIS_PROCESSES] = "by process",
                                                         [AXIS_FUNCTIONS] = "by function",
                                                         [AXIS_SITES] = "by place in the source",
                                                         [AXIS_COMMUNICATORS] = "by communicator",
                                                         [AXIS_TAGS] = "by tag",
                                                         [AXIS_STATES] = "by state of the program",
                                                         [AXIS_PHASES] = "by phase",
                                                         [AXIS_ITERATIONS] = "by iteration"};
    if (answer->by_time)
        return "over time";
    return words[answer->axis] ? words[answer->axis] : "";
}

static bool has_columns(const struct answer *answer)
{
    return answer->product || answer->by_time || answer->axis == AXIS_PROCESSES || answer->axis == AXIS_ITERATIONS;
}

/* How many rows a picture of this size shows as one: see draw_columns and terrain_of. */
static size_t fold_of(const struct answer *answer, double width, double height)
{
    size_t room = (size_t)fmax(1, (width - 2 * MARGIN - LABELS) / COLUMN_LEAST), processes = answer->row_count;
    if (answer->product) {
        room = (size_t)fmax(1, height / COLUMN_LEAST);
        processes = 0;
        for (size_t i = 0; i < answer->row_count; i++)
            processes += i == 0 || answer->rows[i].rank != answer->rows[i - 1].rank;
    } else if (!has_columns(answer)) {
        return 1;
    }
    return (processes + room - 1) / room;
}

static const char *rows_word(const struct answer *answer)
{
    if (answer->product || answer->axis == AXIS_PROCESSES)
        return "processes";
    return answer->by_time ? "parts" : "iterations";
}

static void subtitle_of(const struct answer *answer, double width, double height, char *text, size_t size)
{
    size_t fold = fold_of(answer, width, height);
    *text = '\0';
    text_append(text, size, "%s%s", answer->product ? "by process, " : "", axis_word(answer));
    if (fold > 1)
        text_append(text, size, "; what is drawn is the mean of %zu %s each", fold, rows_word(answer));
}

void answer_plot_write(struct output *output, enum canvas_kind kind, double width, double height,
                       const struct answer *answer)
{
    char title[ANSWER_TITLE_SIZE], subtitle[200];
    answer_plot_title(answer, title);
    /* Some bars do not need the whole height. */
    if (!has_columns(answer))
        height = fmin(height, HEAD + BAR * ((double)answer->row_count + 2));
    struct canvas *canvas = canvas_new(
        kind, output, width, height,
        &(struct canvas_options){.theme = THEME_LIGHT, .prefix = "query", .title = title, .description = title});
    if (!canvas)
        return;
    double y = 20;
    canvas_rect(canvas, 0, 0, width, height, paint_of(INK_BACK));
    y += canvas_paragraph(canvas, MARGIN, y, width - 2 * MARGIN, (struct text_style){.size = TEXT_TITLE, .bold = true},
                          title);
    struct area area = {MARGIN, y + 46, width - 2 * MARGIN, height - y - 46 - 20};
    subtitle_of(answer, width, area.height - TERRAIN_HEAD - BELOW, subtitle, sizeof subtitle);
    canvas_paragraph(canvas, MARGIN, y + 2, width - 2 * MARGIN,
                     (struct text_style){.size = TEXT_SUBTITLE, .ink = INK_MUTED}, subtitle);
    if (answer->row_count == 0)
        ; /* the title says so */
    else if (answer->product)
        draw_terrain(canvas, answer, area);
    else if (has_columns(answer))
        draw_column_panels(canvas, answer, area);
    else
        draw_bars(canvas, answer, area);
    canvas_free(canvas);
}
