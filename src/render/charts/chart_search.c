/* SPDX-License-Identifier: BSD-3-Clause */
/* The search history graph as a tree: a row for each test, below it those that narrow it, with its value as a bar.
   States differ in shape, not only in colour; nodes without room are represented by a [+]. */
#include "render/charts/chart.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "render/reports/search_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    ROW = 23,
    STEP = 24,
    MARK = 5,
    BAR = 10,
    VALUE_ROOM = 74,
    TIME_ROOM = 78,
    KEY_ROOM = 30,
    WIDE = 600,
    NARROW = 280,
    TITLE_SIZE = 500
};

void chart_search_answer(const struct chart_input *input, char answer[CHART_ANSWER_SIZE])
{
    char sentence[SEARCH_SENTENCE_SIZE];
    chart_say(answer, "%s", search_sentence(sentence, input->metrics->search));
}

/* Which nodes find room */

struct layout {
    const struct search *search;
    bool *shown; /* by node */
    /* Nodes are in the order of the tree, so that all below a node stand between it and this place. */
    size_t *behind; /* by node: search_behind */
    size_t shown_count;
    bool *on_path; /* by node: named in the title */
};

/* The order in which nodes get room: true before unknown before false before never tested; hypotheses without parent;
   the longer first, but never before their parents; the shallower. */
struct wish {
    size_t node;
    unsigned order, depth;
    int64_t ns;
};

static int by_wish(const void *a, const void *b)
{
    const struct wish *left = a, *right = b;
    if (left->order != right->order)
        return order_by(left->order, right->order);
    if ((left->depth == 0) != (right->depth == 0))
        return order_by(right->depth == 0, left->depth == 0);
    if (left->ns != right->ns)
        return order_by(right->ns, left->ns);
    if (left->depth != right->depth)
        return order_by(left->depth, right->depth);
    return order_by(left->node, right->node);
}

/* Nodes below one that is not shown get no room either. */
static void choose(struct layout *layout, size_t rows)
{
    static const unsigned orders[SEARCH_STATE_COUNT] = {
        [SEARCH_TRUE] = 0, [SEARCH_UNKNOWN] = 1, [SEARCH_FALSE] = 2, [SEARCH_NEVER] = 3};
    size_t count = layout->search->count;
    struct wish *wishes = memory_new(count * sizeof *wishes);
    for (size_t i = 0; i < count; i++) {
        const struct search_node *node = &layout->search->nodes[i];
        wishes[i] = (struct wish){i, orders[node->state], (unsigned)search_depth(layout->search, i), node->ns};
        /* A child has at most its parent's time, so that it does not come before it. */
        if (node->parent != SEARCH_ROOT)
            wishes[i].ns = smaller(node->ns, wishes[node->parent].ns);
    }
    if (count > 0)
        qsort(wishes, count, sizeof *wishes, by_wish);
    for (size_t i = 0; i < count && layout->shown_count < rows; i++) {
        uint32_t parent = layout->search->nodes[wishes[i].node].parent;
        if (parent != SEARCH_ROOT && !layout->shown[parent])
            /* Its parent came before it in the order and got no room: a branch would begin nowhere. */
            continue;
        layout->shown[wishes[i].node] = true;
        layout->shown_count++;
    }
    free(wishes);
}

/* Drawing */

static void draw_mark(struct canvas *canvas, double x, double y, enum search_state state, bool on_path)
{
    switch (state) {
    case SEARCH_TRUE:
        /* Filled, a ring, a question mark, a dot: states can be told apart in grey print. */
        canvas_circle(canvas, x, y, MARK, paint_of(on_path ? INK_ACCENT : INK_MUTED));
        break;
    case SEARCH_FALSE:
        canvas_ring(canvas, x, y, MARK - 0.7, 1.4, paint_of(INK_AXIS));
        break;
    case SEARCH_UNKNOWN:
        canvas_text(canvas, x, y, (struct text_style){.bold = true, .align = ALIGN_CENTER, .ink = INK_MUTED}, "?");
        break;
    default:
        canvas_circle(canvas, x, y, 1.6, paint_of(INK_AXIS));
    }
}

/* A plus sign in a square, of true nodes that hide some below them (Boccardo et al. 2005, 3.8). */
static void draw_plus(struct canvas *canvas, double x, double y)
{
    const struct point square[] = {{x - 5, y - 5}, {x + 5, y - 5}, {x + 5, y + 5}, {x - 5, y + 5}, {x - 5, y - 5}};
    canvas_polyline(canvas, square, 5, 1, paint_of(INK_AXIS));
    canvas_line(canvas, x - 2.5, y, x + 2.5, y, 1.2, paint_of(INK_MUTED));
    canvas_line(canvas, x, y - 2.5, x, y + 2.5, 1.2, paint_of(INK_MUTED));
}

static bool hides_some(const struct layout *layout, size_t at)
{
    const struct search_node *node = &layout->search->nodes[at];
    for (size_t i = at + 1; i < layout->behind[at]; i++)
        if (!layout->shown[i] && layout->search->nodes[i].state == SEARCH_TRUE)
            return true;
    /* The search itself keeps only so many nodes: what it cut is hidden as well. */
    return node->more_true > 0 || node->cut;
}

/* Whether it is drawn with a plus sign. */
static bool has_plus(const struct layout *layout, size_t at)
{
    return layout->shown[at] && layout->search->nodes[at].state == SEARCH_TRUE && hides_some(layout, at);
}

/* One path is the answer; other true hypotheses stay in the background. */
static enum ink bar_ink(bool on_path, bool is_true)
{
    if (on_path)
        return INK_ACCENT;
    return is_true ? INK_MUTED : INK_PLAIN;
}

/* Shares as bars, up to 100 %; the threshold is a line across. */
static void draw_value(struct canvas *canvas, const struct search_node *node, bool on_path, bool has_times,
                       struct area bar, double y)
{
    char value[TEXT_NUMBER_SIZE], time[TEXT_NUMBER_SIZE];
    bool is_true = node->state == SEARCH_TRUE;
    struct text_style style = {.align = ALIGN_RIGHT, .ink = INK_MUTED};
    if (is_true) {
        style.bold = true;
        style.ink = INK_TEXT;
    }
    double right = bar.x + bar.width + VALUE_ROOM;
    /* Nothing of what is not known is no zero. */
    if (node->state == SEARCH_NEVER || (node->state == SEARCH_UNKNOWN && !(node->value > 0)))
        return;
    /* Seconds, bytes and counts have no whole of which a bar could be a part. */
    bool is_share = node->unit.seconds == 0 && node->unit.bytes == 0 && node->unit.counts == 0;
    if (node->has_value && is_share && isfinite(node->value)) {
        canvas_rect(canvas, bar.x, y - BAR / 2.0, bar.width, BAR, paint_of(INK_GRID));
        canvas_rect(canvas, bar.x, y - BAR / 2.0, bar.width * fmin(1, fmax(0, node->value)), BAR,
                    paint_of(bar_ink(on_path, is_true)));
        /* A threshold at an end would be drawn over the edge of the bar. */
        if (node->threshold > 0 && node->threshold < 1)
            canvas_line(canvas, bar.x + bar.width * node->threshold, y - BAR / 2.0 - 2,
                        bar.x + bar.width * node->threshold, y + BAR / 2.0 + 2, 1, paint_of(INK_TEXT));
    }
    canvas_text(canvas, right, y, style, search_value_text(value, node));
    if (node->has_time && has_times)
        canvas_text(canvas, right + TIME_ROOM, y, (struct text_style){.align = ALIGN_RIGHT, .ink = INK_MUTED},
                    text_duration(time, node->ns));
}

/* The text of the row: the title, and other hypotheses that it would explain. */
static const char *title_of(char text[TITLE_SIZE], const struct search_node *node)
{
    const char *title = node->title ? node->title : "";
    if (!node->also_explains)
        return title;
    snprintf(text, TITLE_SIZE, "%.300s (also explains %.180s)", title, node->also_explains);
    text_end_whole(text);
    return text;
}

/* From the mark of the parent down, and across to this. */
static void draw_branch(struct canvas *canvas, double x, double parent_y, double y)
{
    const struct point line[] = {{x - STEP, parent_y + MARK + 2}, {x - STEP, y}, {x - MARK - 3, y}};
    canvas_polyline(canvas, line, 3, 1, paint_of(INK_AXIS));
}

static void draw_nodes(struct canvas *canvas, const struct layout *layout, struct area area, struct area bar)
{
    const struct search *search = layout->search;
    double *places = memory_new(search->count * sizeof *places), y = area.y + ROW / 2.0;
    for (size_t i = 0; i < search->count; i++) {
        const struct search_node *node = &search->nodes[i];
        if (!layout->shown[i])
            continue;
        char title[TITLE_SIZE];
        double x = area.x + MARK + 2 + STEP * (double)search_depth(search, i);
        bool is_true = node->state == SEARCH_TRUE, plus = has_plus(layout, i);
        /* Parents come before their children: their places are known. */
        places[i] = y;
        if (node->parent != SEARCH_ROOT)
            draw_branch(canvas, x, places[node->parent], y);
        if (node->reason)
            canvas_tip(canvas, "%.120s: %.160s", node->title ? node->title : "", node->reason);
        draw_mark(canvas, x, y, node->state, layout->on_path[i]);
        struct text_style style = {.bold = is_true && node->axis == AXIS_WHY, .ink = is_true ? INK_TEXT : INK_MUTED};
        canvas_text_cut(canvas, x + MARK + 7, y, bar.x - 16 - (plus ? 18 : 0) - (x + MARK + 7), style,
                        title_of(title, node));
        if (plus)
            draw_plus(canvas, bar.x - 16, y);
        draw_value(canvas, node, layout->on_path[i], area.width > WIDE, bar, y);
        y += ROW;
    }
    free(places);
}

/* The legend: the meaning of the marks, with counts. */
static void draw_key(struct canvas *canvas, const struct layout *layout, struct area area)
{
    static const struct {
        enum search_state state;
        const char *words;
    } keys[] = {
        {SEARCH_TRUE, "true"}, {SEARCH_FALSE, "not true"}, {SEARCH_UNKNOWN, "not known"}, {SEARCH_NEVER, "not tested"}};
    double x = area.x + MARK + 2, y = area.y + area.height - 8;
    char text[100], number[TEXT_NUMBER_SIZE];
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        snprintf(text, sizeof text, "%s %s", text_thousands(number, search_state_count(layout->search, keys[i].state)),
                 keys[i].words);
        double width = MARK + 7 + canvas_text_width(canvas, (struct text_style){0}, text);
        if (x + width > area.x + area.width)
            break;
        draw_mark(canvas, x, y, keys[i].state, false);
        canvas_text(canvas, x + MARK + 7, y, (struct text_style){.ink = INK_MUTED}, text);
        x += width + 26;
    }
    const char *words = "more below:  sight search --all";
    /* The hint is worth room only if something is hidden; short words are better than none. */
    double room = area.x + area.width - (x + 12);
    bool plus = false;
    if (canvas_text_width(canvas, (struct text_style){0}, words) > room)
        words = "more below";
    for (size_t i = 0; i < layout->search->count && !plus; i++)
        plus = has_plus(layout, i);
    if (plus && canvas_text_width(canvas, (struct text_style){0}, words) <= room) {
        draw_plus(canvas, x, y);
        canvas_text(canvas, x + 12, y, (struct text_style){.ink = INK_MUTED}, words);
    }
}

void chart_search_draw(struct canvas *canvas, const struct chart_input *input, struct area area)
{
    const struct search *search = input->metrics->search;
    struct layout layout = {.search = search};
    double rows = floor((area.height - KEY_ROOM) / ROW);
    /* Titles would have no room beside the bars. */
    if (rows < 1 || area.width < NARROW || search->count == 0)
        return;
    layout.shown = memory_new(search->count * sizeof *layout.shown);
    layout.behind = memory_new(search->count * sizeof *layout.behind);
    for (size_t i = 0; i < search->count; i++)
        layout.behind[i] = search_behind(search, i);
    layout.on_path = memory_new(search->count * sizeof *layout.on_path);
    /* From the hypothesis of the title up to the root, whose number is beyond the last node. */
    for (size_t at = search_main_node(search); at < search->count; at = search->nodes[at].parent)
        layout.on_path[at] = true;
    choose(&layout, (size_t)rows);
    double time_room = area.width > WIDE ? TIME_ROOM : 0, width = fmin(220, area.width / 6);
    struct area bar = {area.x + area.width - VALUE_ROOM - time_room - width, area.y, width, area.height};
    draw_nodes(canvas, &layout, area, bar);
    draw_key(canvas, &layout, area);
    chart_note(canvas,
               "Each hypothesis is tested where the one above it holds; the line across each bar marks its threshold.");
    free(layout.shown);
    free(layout.behind);
    free(layout.on_path);
}
