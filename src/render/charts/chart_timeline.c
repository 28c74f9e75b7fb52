/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes over time. If there is room, every state and message, else a cell for each column and row of processes: the
   state with most of its time. Waiting is hatched. Below, counters, and messages over time if they are too many to be
   drawn. */
#include "core/numbers.h"
#include "metrics/functions_together.h"
#include "render/charts/chart.h"
#include "render/charts/counter_graphs.h"
#include "render/charts/scene.h"
#include "render/clock_sentence.h"

#include "core/ending.h"
#include "core/memory.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    RIGHT = 230,
    LINE_MOST = 160,
    NAME_GAP = 8,
    ROW = 22,
    LEGEND = 10,
    STRIP = 34,
    STRIP_ROOM = STRIP + 14,
    INSET_MOST = 3,
    ARROWS_MOST = 120,
    GRAPHS_GAP = 6
};

/* From this share of waiting on a cell is hatched. */
static const double WAITING = 0.5;

/* Lines of at least this height show shares, in this many steps. */
enum { LAYERS = 4, LAYER_LINE = 4 };

/* Pixels of a solo event, and how many it has of a line on average at least. */
enum { MARK_HEIGHT = 7, MARK_ROOM = 4, LEGEND_GAP = 8 };

/* Pixels of the edge of what never ends, and in how many teeth it is cut. */
enum { EDGE = 6, TEETH_MOST = 4 };

void chart_timeline_answer(const struct chart_input *input, char answer[CHART_ANSWER_SIZE])
{
    char text[SCENE_ANSWER_SIZE];
    scene_answer(input->scene, text);
    chart_say(answer, "%s", text);
}

struct drawing {
    struct canvas *canvas;
    const struct chart_input *input;
    const struct scene *scene;
    struct area plot;
    double line; /* height of a row */
};

static double x_of(const struct drawing *drawing, int64_t time_ns)
{
    const struct timeline_view *view = &drawing->scene->view;
    /* What began before the window is drawn from its edge on. */
    double share = 0;
    if (time_ns > view->from_ns)
        share = (double)time_since(view->from_ns, time_ns) / (double)time_since(view->from_ns, view->to_ns);
    return drawing->plot.x + drawing->plot.width * fmin(share, 1);
}

static struct paint paint_of_state(const struct drawing *drawing, uint32_t state)
{
    const struct defs *defs = timeline_info(drawing->scene->timeline)->defs;
    if (state == TIMELINE_OUTSIDE)
        return paint_of(INK_COMPUTE);
    return palette_paint(&defs->states[state], drawing->input->own_colours);
}

/* Cells cut into layers of one state each: their number is the state's share. */
struct layers {
    uint32_t each; /* layers of a line */
    bool waits;    /* which process waits is known: hatching means nothing else */
    uint16_t *state;
    bool *waiting;
};

/* The place of a state in every cell: functions above, computing below, so that the same state stays at the same
   height. */
static size_t first_part(const struct scene_cell *cell, const bool done[SCENE_PARTS])
{
    size_t first = SCENE_PARTS;
    for (size_t i = 0; i < SCENE_PARTS; i++)
        /* The number of a state orders them; computing has the largest, and so comes last, at the bottom. */
        if (!done[i] && cell->part[i] != TIMELINE_ABSENT && (first == SCENE_PARTS || cell->part[i] < cell->part[first]))
            first = i;
    return first;
}

static void cut_cell(const struct scene_cell *cell, struct layers *layers, size_t at, size_t columns)
{
    bool done[SCENE_PARTS] = {0};
    double sum = 0, whole = 0, waiting = 0;
    if (layers->waits)
        waiting = (double)cell->waiting * layers->each;
    uint32_t layer = 0;
    uint16_t state = cell->state;
    for (size_t i = 0; i < SCENE_PARTS; i++)
        whole += (double)cell->share[i];
    for (size_t part; (part = first_part(cell, done)) < SCENE_PARTS; done[part] = true) {
        state = cell->part[part];
        sum += (double)cell->share[part];
        /* Sums are rounded, not shares: layers add up to the whole line without a rest. */
        for (uint32_t end = (uint32_t)lround(sum / whole * layers->each); layer < end && layer < layers->each;
             layer++) {
            layers->state[at + layer * columns] = state;
            /* Waiting is shown from the top: functions are there, and computing is no waiting. */
            layers->waiting[at + layer * columns] = layer + 0.5 < waiting && state != TIMELINE_OUTSIDE;
        }
    }
    /* Rounding may leave a layer: the last state takes it. */
    for (; layer < layers->each; layer++)
        layers->state[at + layer * columns] = state;
}

/* Where lines are high enough for shares to be seen; else one layer, hatched where most of it is waiting. */
static struct layers cut_cells(const struct drawing *drawing)
{
    const struct scene *scene = drawing->scene;
    size_t columns = scene->columns, all = scene->lines * columns;
    struct layers layers = {.each = drawing->line >= LAYER_LINE ? LAYERS : 1, .waits = scene->overlay != NULL};
    layers.state = memory_new(all * layers.each * sizeof *layers.state);
    layers.waiting = memory_new(all * layers.each * sizeof *layers.waiting);
    for (size_t i = 0; i < all; i++) {
        size_t at = i / columns * columns * layers.each + i % columns;
        /* A line of a few pixels has no room for shares: one state, and it waits or not. */
        if (layers.each > 1) {
            cut_cell(&scene->cells[i], &layers, at, columns);
        } else {
            layers.state[at] = scene->cells[i].state;
            layers.waiting[at] = layers.waits && scene->cells[i].waiting >= WAITING;
        }
    }
    return layers;
}

/* Layers of one state, waiting or not, as one shape. */
static void draw_cells_of(const struct drawing *drawing, const struct layers *layers, uint16_t state, bool waiting,
                          struct run *runs)
{
    const struct scene *scene = drawing->scene;
    struct grid grid = {drawing->plot.x, drawing->plot.y, drawing->plot.width / scene->columns,
                        drawing->line / layers->each, 0};
    size_t count = 0;
    for (uint32_t line = 0; line < scene->lines * layers->each; line++)
        for (uint32_t column = 0; column < scene->columns; column++) {
            size_t at = line * (size_t)scene->columns + column;
            if (layers->state[at] != state || layers->waiting[at] != waiting)
                continue;
            struct run *last = NULL;
            if (count > 0)
                last = &runs[count - 1];
            if (last && last->row == line && last->column + last->length == column)
                last->length++;
            else
                runs[count++] = (struct run){column, line, 1};
        }
    struct paint paint = paint_of_state(drawing, state);
    paint.hatched = waiting && state != TIMELINE_OUTSIDE;
    canvas_cells(drawing->canvas, grid, runs, count, paint);
}

static void draw_cells(const struct drawing *drawing)
{
    const struct scene *scene = drawing->scene;
    struct layers layers = cut_cells(drawing);
    size_t all = (size_t)scene->lines * layers.each * scene->columns;
    /* Each state is drawn in one pass over the cells: those that do not occur are not tried. */
    bool *met = memory_new(UINT16_MAX + 1);
    struct run *runs = memory_new(all * sizeof *runs);
    for (size_t i = 0; i < all; i++)
        met[layers.state[i]] = true;
    /* Nothing is drawn where no process is. */
    met[TIMELINE_ABSENT] = false;
    for (uint32_t state = 0; state <= UINT16_MAX; state++)
        for (int waiting = 0; met[state] && waiting < 2; waiting++)
            draw_cells_of(drawing, &layers, (uint16_t)state, waiting, runs);
    free(runs);
    free(met);
    free(layers.state);
    free(layers.waiting);
}

/* Lines of the scene by row. */
static double y_of(const struct drawing *drawing, uint32_t row)
{
    for (size_t i = 0; i < drawing->scene->view.row_count; i++)
        if (drawing->scene->rows[i] == row)
            return drawing->plot.y + (double)i * drawing->line;
    return NAN;
}

static void bar(const struct drawing *drawing, uint32_t row, int64_t from_ns, int64_t to_ns, double inset,
                struct paint paint)
{
    double x = x_of(drawing, from_ns), y = y_of(drawing, row), gap = 0;
    if (drawing->line > 6)
        gap = 1;
    /* A call of a ns is to be seen, too: half a pixel at least. */
    double width = fmax(x_of(drawing, to_ns) - x, 0.5);
    if (x < drawing->plot.x + drawing->plot.width)
        canvas_rect(drawing->canvas, x, y + gap + inset, width, drawing->line - 2 * gap - 2 * inset, paint);
}

/* A call that never returned ends in a toothed edge of another colour, where the record of its process ends. */
static void draw_open_edge(const struct drawing *drawing, const struct timeline_state *state, double inset)
{
    double x = x_of(drawing, state->leave_ns), y = y_of(drawing, state->row) + inset;
    double height = drawing->line - 2 * inset, width = fmin(EDGE, x - x_of(drawing, state->enter_ns));
    int teeth = (int)fmax(1, fmin(floor(height / EDGE), TEETH_MOST));
    /* The row of a call that goes on beyond the window has no end to show. */
    if (state->leave_ns > drawing->scene->view.to_ns || width < EDGE / 2.0)
        return;
    for (int i = 0; i < teeth; i++) {
        double top = y + height * i / teeth, bottom = y + height * (i + 1) / teeth;
        struct point corners[] = {{x, top}, {x, bottom}, {x - width, (top + bottom) / 2}};
        canvas_polygon(drawing->canvas, corners, 3, paint_of(INK_ACCENT));
    }
}

/* Whether there are such edges. */
static bool has_open_edges(const struct drawing *drawing)
{
    const struct scene *scene = drawing->scene;
    for (size_t i = 0; scene->exact && i < scene->window.state_count; i++)
        if (scene->window.states[i].open && scene->window.states[i].leave_ns <= scene->view.to_ns)
            return true;
    return false;
}

static void draw_states(const struct drawing *drawing)
{
    const struct scene *scene = drawing->scene;
    const struct timeline_info *info = timeline_info(scene->timeline);
    /* Computing first, over the life of the process; states lie on it. */
    for (size_t i = 0; i < scene->view.row_count; i++) {
        const struct timeline_row *row = &info->rows[scene->rows[i]];
        if (row->end_ns > scene->view.from_ns && row->begin_ns < scene->view.to_ns)
            bar(drawing, scene->rows[i], row->begin_ns, row->end_ns, 0, paint_of(INK_COMPUTE));
    }
    for (size_t i = 0; i < scene->window.state_count; i++) {
        const struct timeline_state *state = &scene->window.states[i];
        char time[TEXT_NUMBER_SIZE];
        /* Nested states are lower, so that the one around them shows above and below; after some levels all alike. */
        double inset = fmin(state->depth, INSET_MOST) * fmin(drawing->line / 10, 3);
        canvas_tip(drawing->canvas, "process %s: %s %s%s", text_number(info->rows[state->row].process).text,
                   info->defs->states[state->state].name,
                   text_duration(time, time_since(state->enter_ns, state->leave_ns)),
                   state->open ? ", never left" : "");
        bar(drawing, state->row, state->enter_ns, state->leave_ns, inset, paint_of_state(drawing, state->state));
        if (state->open)
            draw_open_edge(drawing, state, inset);
    }
}

/* Marks closer to each other than their width would be a black line. */
static bool marks_fit(const struct drawing *drawing)
{
    const struct scene *scene = drawing->scene;
    return scene->exact && scene->window.mark_count > 0 &&
           (double)scene->window.mark_count * MARK_ROOM <= drawing->plot.width * scene->lines;
}

static void draw_wedge(const struct drawing *drawing, double x, double y, double height)
{
    struct point corners[] = {{x - height / 2, y}, {x + height / 2, y}, {x, y + height}};
    canvas_polygon(drawing->canvas, corners, 3, paint_of(INK_TEXT));
}

/* Solo events: a small wedge on the upper edge of the row, where they are not too many. */
static void draw_marks(const struct drawing *drawing)
{
    const struct timeline_window *window = &drawing->scene->window;
    const struct timeline_info *info = timeline_info(drawing->scene->timeline);
    double height = fmin(MARK_HEIGHT, drawing->line / 2);
    if (!marks_fit(drawing))
        return;
    for (size_t i = 0; i < window->mark_count; i++) {
        const struct timeline_mark *mark = &window->marks[i];
        canvas_tip(drawing->canvas, "process %s: %s%s%s", text_number(info->rows[mark->row].process).text,
                   info->defs->marks[mark->mark].name, mark->text ? " " : "", mark->text ? mark->text : "");
        draw_wedge(drawing, x_of(drawing, mark->time_ns), y_of(drawing, mark->row), height);
    }
}

/* Waiting as the light hatched tone of its function, over it. */
static void draw_waits(const struct drawing *drawing)
{
    const struct scene *scene = drawing->scene;
    for (size_t i = 0; scene->overlay && i < scene->overlay->wait_count; i++) {
        const struct overlay_wait *wait = &scene->overlay->waits[i];
        if (wait->row == TIMELINE_NONE || isnan(y_of(drawing, wait->row)) || wait->to_ns <= scene->view.from_ns ||
            wait->from_ns >= scene->view.to_ns)
            continue;
        struct paint paint = paint_of_state(drawing, wait->state);
        /* Hatching lets what is below shine through: the function in full colour would be seen between its lines. */
        bar(drawing, wait->row, wait->from_ns, wait->to_ns, 0, paint_of(INK_BACK));
        paint.hatched = true;
        bar(drawing, wait->row, wait->from_ns, wait->to_ns, 0, paint);
    }
}

/* Messages between rows that are drawn, with both ends in the window. */
static bool arrow_fits(const struct drawing *drawing, const struct timeline_message *message)
{
    const struct timeline_view *view = &drawing->scene->view;
    return message->send_row != TIMELINE_NONE && message->receive_row != TIMELINE_NONE &&
           message->send_row != message->receive_row && message->send_ns >= view->from_ns &&
           message->receive_ns < view->to_ns && !isnan(y_of(drawing, message->send_row)) &&
           !isnan(y_of(drawing, message->receive_row));
}

static bool arrows_fit(const struct drawing *drawing)
{
    return drawing->scene->exact && drawing->scene->window.message_count <= ARROWS_MOST && drawing->line >= 6;
}

static void draw_arrows(const struct drawing *drawing)
{
    for (size_t i = 0; i < drawing->scene->window.message_count; i++) {
        const struct timeline_message *message = &drawing->scene->window.messages[i];
        if (!arrow_fits(drawing, message))
            continue;
        struct point from = {x_of(drawing, message->send_ns), y_of(drawing, message->send_row) + drawing->line / 2};
        struct point to = {x_of(drawing, message->receive_ns), y_of(drawing, message->receive_row) + drawing->line / 2};
        /* The bend is on the line itself: messages are straight lines over time. */
        struct point bend = {(from.x + to.x) / 2, (from.y + to.y) / 2};
        canvas_arrow(drawing->canvas, from, bend, to, 1, 6, paint_faded(INK_TEXT, 0.75));
    }
}

/* Messages in each column, as steps under the rows. */
static void draw_message_strip(const struct drawing *drawing, double y)
{
    const struct scene *scene = drawing->scene;
    double *sums = memory_new(scene->columns * sizeof *sums), most = 0, all = 0;
    for (uint32_t line = 0; line < scene->lines; line++)
        for (uint32_t column = 0; column < scene->columns; column++)
            sums[column] += (double)scene->cells[line * (size_t)scene->columns + column].messages;
    for (uint32_t column = 0; column < scene->columns; column++) {
        most = fmax(most, sums[column]);
        all += sums[column];
    }
    if (most <= 0) {
        free(sums);
        return;
    }
    /* One shape from the left end to the right one: two points for each column, and the two ends. */
    struct point *points = memory_new((2 * (size_t)scene->columns + 2) * sizeof *points);
    double width = drawing->plot.width / scene->columns;
    size_t count = 0;
    points[count++] = (struct point){drawing->plot.x, y + STRIP};
    for (uint32_t column = 0; column < scene->columns; column++) {
        double top = y + STRIP * (1 - sums[column] / most), x = drawing->plot.x + column * width;
        points[count++] = (struct point){x, top};
        points[count++] = (struct point){x + width, top};
    }
    points[count++] = (struct point){drawing->plot.x + drawing->plot.width, y + STRIP};
    canvas_polygon(drawing->canvas, points, count, paint_of(INK_PLAIN));
    struct text_style style = {.align = ALIGN_RIGHT, .ink = INK_MUTED};
    /* Bins at the edges of the window are counted in part. */
    double digit = scene->summed ? 1 : fmax(1, pow(10, floor(log10(all)) - 2));
    if (scene->summed)
        all = (double)scene->sent_received;
    char number[TEXT_NUMBER_SIZE], text[TEXT_NUMBER_SIZE + 32];
    canvas_text(drawing->canvas, drawing->plot.x - NAME_GAP, y + STRIP / 2.0, style, "messages");
    snprintf(text, sizeof text, "%s%s sends and receives", scene->summed ? "" : "about ",
             text_thousands(number, text_whole(round(all / digit) * digit)));
    canvas_text(drawing->canvas, drawing->plot.x + drawing->plot.width, y + STRIP + 9, style, text);
    free(points);
    free(sums);
}

static void draw_time_axis(const struct drawing *drawing, double y)
{
    const struct scene *scene = drawing->scene;
    double begin = (double)time_since(timeline_info(scene->timeline)->begin_ns, scene->view.from_ns);
    double span = (double)time_since(scene->view.from_ns, scene->view.to_ns);
    char clocks[CLOCK_NOTE_SIZE];
    clock_note(clocks, timeline_info(scene->timeline), scene->overlay);
    axis_draw_time(drawing->canvas, drawing->plot.x, drawing->plot.width, y, begin, span, clocks);
}

/* The width of the names of lines on the left. */
static double names_room(struct canvas *canvas, const struct scene *scene)
{
    double width = canvas_text_width(canvas, (struct text_style){0}, "processes");
    for (uint32_t line = 0; line < scene->lines; line++) {
        char name[SCENE_NAME_SIZE];
        width = fmax(width, canvas_text_width(canvas, (struct text_style){0}, scene_line_name(scene, line, name)));
    }
    return fmax(width, counter_graphs_room(canvas, scene)) + NAME_GAP;
}

static void draw_names(const struct drawing *drawing)
{
    struct text_style style = {.align = ALIGN_RIGHT, .ink = INK_MUTED};
    uint32_t step = (uint32_t)axis_label_step(drawing->line, TEXT_SIZE + 3);
    for (uint32_t line = 0; line < drawing->scene->lines; line += step) {
        char name[SCENE_NAME_SIZE];
        scene_line_name(drawing->scene, line, name);
        canvas_text(drawing->canvas, drawing->plot.x - NAME_GAP, drawing->plot.y + (line + 0.5) * drawing->line, style,
                    name);
    }
    canvas_text(drawing->canvas, drawing->plot.x - NAME_GAP, drawing->plot.y - 14, style,
                drawing->scene->fold > 1 ? "processes" : "process");
}

/* Beside the place where it begins, over what others of the line did then. */
static void draw_ending_note(const struct drawing *drawing, double x, double y, const char *note)
{
    struct text_style style = {.ink = INK_TEXT};
    double width = canvas_text_width(drawing->canvas, style, note) + NAME_GAP, height = TEXT_SIZE + 2, left = x + 1;
    if (left + width > drawing->plot.x + drawing->plot.width)
        left = fmax(x - 1 - width, drawing->plot.x);
    canvas_rect(drawing->canvas, left, y - height / 2, width, height, paint_of(INK_BACK));
    canvas_text(drawing->canvas, left + NAME_GAP / 2.0, y, style, note);
}

/* Of the rows [first, end) of the scene: a line where the first of those that did not end by themselves ended, and
   which or how many these are. */
static void draw_endings_of(const struct drawing *drawing, size_t first, size_t end)
{
    const struct scene *scene = drawing->scene;
    struct endings endings = {0};
    int64_t end_ns = INT64_MAX;
    for (size_t i = first; i < end; i++) {
        const struct timeline_row *row = &timeline_info(scene->timeline)->rows[scene->rows[i]];
        size_t before = endings.count;
        endings_add(&endings, row->process, row->ended, row->code);
        if (endings.count > before)
            end_ns = smaller(end_ns, row->end_ns);
    }
    if (endings.count == 0 || end_ns < scene->view.from_ns || end_ns > scene->view.to_ns)
        return;
    char text[ENDING_TEXT_SIZE];
    double x = x_of(drawing, end_ns), top = drawing->plot.y + (double)first / scene->fold * drawing->line,
           height = ceil((double)(end - first) / scene->fold) * drawing->line;
    canvas_line(drawing->canvas, x, top, x, top + height, 2, paint_of(INK_ACCENT));
    draw_ending_note(drawing, x, top + height / 2, endings_text(text, &endings, end - first));
}

/* Of lines that are lower than a note those up to the next name have one together. */
static void draw_folded_endings(const struct drawing *drawing)
{
    const struct scene *scene = drawing->scene;
    size_t step = axis_label_step(drawing->line, TEXT_SIZE + 3) * scene->fold;
    for (size_t first = 0; first < scene->view.row_count; first += step)
        draw_endings_of(drawing, first, smaller(first + step, scene->view.row_count));
}

/* How a process ended, behind the end of its line; where that has no room, in a word. */
static void draw_endings(const struct drawing *drawing)
{
    const struct scene *scene = drawing->scene;
    const struct timeline_row *rows = timeline_info(scene->timeline)->rows;
    struct text_style style = {.ink = INK_MUTED};
    if (scene->fold > 1 || drawing->line < TEXT_SIZE) {
        draw_folded_endings(drawing);
        return;
    }
    for (uint32_t line = 0; line < scene->lines; line++) {
        const struct timeline_row *row = &rows[scene->rows[line]];
        char text[ENDING_TEXT_SIZE];
        double x = fmax(x_of(drawing, row->end_ns), drawing->plot.x) + NAME_GAP / 2.0,
               room = drawing->plot.x + drawing->plot.width - x;
        const char *said = ending_text(text, row->ended, row->code);
        if (canvas_text_width(drawing->canvas, style, said) > room)
            said = ending_word(row->ended, row->code);
        if (*said && canvas_text_width(drawing->canvas, style, said) <= room)
            canvas_text(drawing->canvas, x, drawing->plot.y + (line + 0.5) * drawing->line, style, said);
    }
}

static void legend_row(const struct drawing *drawing, double x, double *y, struct paint paint, const char *name,
                       double ns, double all)
{
    char share[TEXT_NUMBER_SIZE];
    const char *value = NULL;
    if (all > 0)
        value = text_share(share, ns / all);
    chart_legend(drawing->canvas, x, *y, RIGHT - 24, paint, name, value);
    *y += ROW;
}

/* How many functions and states have calls, by the metrics, but are too short to have a share of any cell. */
static size_t invisible_states(const struct drawing *drawing)
{
    const struct scene *scene = drawing->scene;
    const struct metrics *metrics = drawing->input->metrics;
    const struct defs *defs = timeline_info(scene->timeline)->defs;
    bool *seen = memory_new(defs->state_count * sizeof *seen);
    for (size_t state = 0; state < defs->state_count; state++)
        seen[defs->states[state].first_of_name] |= scene->state_ns[state] > 0;
    size_t rows = 0, count = 0;
    struct function_row *row = metrics_functions_together(metrics, &rows);
    for (size_t i = 0; i < rows; i++) {
        /* The metrics were read for themselves: their numbers of states may be others. */
        int32_t state = defs_find_state(defs, metrics->defs->states[row[i].state].name);
        count += state >= 0 && !seen[defs->states[state].first_of_name];
    }
    free(row);
    free(seen);
    return count;
}

/* What is not a colour of a state. */
static void draw_signs(const struct drawing *drawing, double x, double y)
{
    struct paint waiting = paint_of(INK_MUTED);
    waiting.hatched = true;
    if (drawing->scene->overlay && drawing->scene->overlay->wait_count > 0) {
        chart_legend(drawing->canvas, x, y, RIGHT - 24, waiting, "hatched: waiting", NULL);
        y += ROW;
    }
    if (has_open_edges(drawing)) {
        struct point tooth[] = {{x + 9, y - EDGE}, {x + 9, y + EDGE}, {x + 9 - EDGE, y}};
        canvas_polygon(drawing->canvas, tooth, 3, paint_of(INK_ACCENT));
        canvas_text(drawing->canvas, x + 20, y, (struct text_style){0}, "never returned");
        y += ROW;
    }
    if (marks_fit(drawing)) {
        draw_wedge(drawing, x + 6, y - MARK_HEIGHT / 2.0, MARK_HEIGHT);
        canvas_text(drawing->canvas, x + 20, y, (struct text_style){0}, "event");
    }
}

static void draw_legend(const struct drawing *drawing, double x, double y)
{
    const struct scene *scene = drawing->scene;
    const struct defs *defs = timeline_info(scene->timeline)->defs;
    uint32_t states[LEGEND + 1];
    size_t found = scene_states(scene, states, LEGEND + 1), shown = found;
    /* The row that would sum up a single state is that state's. */
    if (found > LEGEND + 1)
        shown = LEGEND;
    double all = scene->outside_ns, rest;
    for (size_t state = 0; state < defs->state_count; state++)
        all += scene->state_ns[state];
    /* What is left for the states without a row of the legend. */
    rest = all - scene->outside_ns;
    legend_row(drawing, x, &y, paint_of(INK_COMPUTE), "computing", scene->outside_ns, all);
    for (size_t i = 0; i < shown; i++) {
        legend_row(drawing, x, &y, paint_of_state(drawing, states[i]), defs->states[states[i]].name,
                   scene->state_ns[states[i]], all);
        rest -= scene->state_ns[states[i]];
    }
    size_t invisible = invisible_states(drawing);
    char others[64];
    snprintf(others, sizeof others, "%zu other states", found - shown + invisible);
    if (found == shown && invisible > 0)
        snprintf(others, sizeof others, "%zu other%s, too short to see", invisible, invisible == 1 ? "" : "s");
    if (found > shown)
        legend_row(drawing, x, &y, paint_of(INK_OTHER), others, fmax(rest, 0), all);
    else if (invisible > 0)
        legend_row(drawing, x, &y, paint_of(INK_OTHER), others, 0, 0);
    draw_signs(drawing, x, y + LEGEND_GAP);
}

void chart_timeline_draw(struct canvas *canvas, const struct chart_input *input, struct area area)
{
    const struct scene *scene = input->scene;
    bool side = area.width > 2.2 * RIGHT;
    double left = names_room(canvas, scene);
    struct drawing drawing = {canvas, input, scene, {area.x + left, area.y + 18, 0, 0}, 0};
    drawing.plot.width = area.width - left - 12;
    if (side)
        drawing.plot.width = area.width - left - RIGHT;
    drawing.plot.height = area.height - 18 - 44;
    /* In low charts the rows need the room. */
    double strip = drawing.plot.height - STRIP_ROOM >= 2 * CHART_PLOT_LEAST ? STRIP_ROOM : 0;
    drawing.plot.height -= strip;
    if (scene->lines == 0 || drawing.plot.width < CHART_PLOT_LEAST || drawing.plot.height < CHART_PLOT_LEAST)
        return;
    size_t counters = counter_graphs_fit(scene, drawing.plot.height);
    double graphs = 0;
    if (counters > 0)
        graphs = (double)counters * COUNTER_GRAPH_PIXELS + GRAPHS_GAP;
    /* Two processes would else be bars as high as a hand. */
    drawing.line = fmin((drawing.plot.height - graphs) / scene->lines, LINE_MOST);
    /* Where each message has an arrow the strip of messages says nothing more: its room goes to the lines. */
    bool arrows = arrows_fit(&drawing);
    if (arrows)
        drawing.line = fmin((drawing.plot.height - graphs + strip) / scene->lines, LINE_MOST);
    double bottom = drawing.plot.y + drawing.line * scene->lines;
    if (scene->exact) {
        draw_states(&drawing);
        /* Over the states, which they replace for as long as they wait. */
        draw_waits(&drawing);
        draw_marks(&drawing);
    } else {
        draw_cells(&drawing);
    }
    draw_names(&drawing);
    draw_endings(&drawing);
    counter_graphs_draw(canvas, scene, counters, drawing.plot.x, bottom + GRAPHS_GAP, drawing.plot.width, NAME_GAP);
    bottom += graphs;
    draw_time_axis(&drawing, bottom + 2);
    if (arrows)
        draw_arrows(&drawing);
    else if (strip > 0)
        draw_message_strip(&drawing, bottom + 46);
    if (side)
        draw_legend(&drawing, drawing.plot.x + drawing.plot.width + 24, drawing.plot.y + 8);
}
