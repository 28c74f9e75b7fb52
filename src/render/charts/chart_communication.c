/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes on a circle with arrows from senders to receivers; the matrix if they are too many for a circle. */
#include "render/charts/chart.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "render/charts/matrix.h"

#include <math.h>
#include <stdio.h>

enum {
    CIRCLE_MOST = 32,
    SHARED_MOST = 100 /* this many equal shares are meaningful */,
    SIDE_WIDTH = 250,
    GAP = 40,
    LABEL = 64,
    STRIP = 150
};

/* Where nothing but rounding is left. */
static const double ALL = 1 - 1e-9;

struct shares {
    double least, most, mean;
    size_t most_row;
};

static struct shares shares_of(const struct metrics *metrics)
{
    struct shares shares = {.least = 1};
    for (size_t i = 0; i < metrics->process_count; i++) {
        double index = process_communication_index(metrics, &metrics->process[i]);
        /* Every message has two ends, so the shares add up to 1, and the mean is 1 / processes. */
        shares.mean += index / (double)metrics->process_count;
        shares.least = smaller(index, shares.least);
        if (index > shares.most) {
            shares.most = index;
            shares.most_row = i;
        }
    }
    return shares;
}

/* The share of all messages that a process sends or receives: those to itself have both ends there. */
static double part_in(const struct metrics *metrics, const struct process_row *row)
{
    /* Ends of the process over messages: twice its share of the endpoints, which are two for each message. */
    double ends = (double)row->messages_sent + (double)row->messages_received;
    for (size_t i = 0; i < row->sent_count; i++)
        if (row->sent[i].partner >= 0 && (uint32_t)row->sent[i].partner == row->rank)
            ends -= (double)row->sent[i].messages;
    return fmin(1, 2 * ends / (double)metrics->messages);
}

void chart_communication_answer(const struct chart_input *input, char answer[CHART_ANSWER_SIZE])
{
    const struct metrics *metrics = input->metrics;
    struct shares shares = shares_of(metrics);
    const struct process_row *row = &metrics->process[shares.most_row];
    char share[TEXT_NUMBER_SIZE], mean[TEXT_NUMBER_SIZE];
    if (metrics->messages == 0)
        chart_say(answer, "No messages were recorded");
    else if (metrics->process_count > 2 && shares.most > 0.25 && part_in(metrics, row) >= ALL)
        chart_say(answer, "Process %s takes part in all messages", text_number(row->rank).text);
    else if (metrics->process_count > 2 && shares.most > 0.25)
        chart_say(answer, "Process %s takes part in %s of all messages", text_number(row->rank).text,
                  text_share(share, part_in(metrics, row)));
    else if (metrics->process_count == 1)
        chart_say(answer, "Process %s is the only one in this trace: it takes part in all messages",
                  text_number(row->rank).text);
    else if (shares.most <= 1.1 * shares.mean && metrics->process_count > SHARED_MOST)
        chart_say(answer, "All %s processes communicate equally", text_number(metrics->process_count).text);
    else if (shares.most <= 1.1 * shares.mean)
        chart_say(answer, "All processes communicate equally, each with %s of the message endpoints",
                  text_share(mean, shares.mean));
    else
        chart_say(answer, "Process %s communicates most: %s of the message endpoints; the mean is %s",
                  text_number(row->rank).text, text_share(share, shares.most), text_share(mean, shares.mean));
}

struct circle {
    double x, y, radius;
    size_t count;
};

static struct point place(const struct circle *circle, double index, double radius)
{
    /* The first process is at the top, and they follow clockwise. */
    double angle = 2 * M_PI * (index / (double)circle->count - 0.25);
    return (struct point){circle->x + radius * cos(angle), circle->y + radius * sin(angle)};
}

/* Left of the middle a text ends at the circle, right of it it begins there; above and below it is centred. */
static enum align side_of(double sine)
{
    if (sine < -0.05)
        return ALIGN_RIGHT;
    if (sine > 0.05)
        return ALIGN_LEFT;
    return ALIGN_CENTER;
}

static double node_size(const struct circle *circle)
{
    /* More of them stand closer to each other. */
    if (circle->count <= 8)
        return 9;
    if (circle->count <= 16)
        return 7;
    return 5;
}

/* The arrow keeps clear of the nodes and bends to the right, so that there and back are two. */
static void draw_pair(struct canvas *canvas, const struct chart_input *input, const struct circle *circle,
                      const struct traffic_pair *pair, uint64_t most)
{
    /* By the root: with widths in proportion, all but the busiest pairs would be hairlines. */
    double weight = sqrt(ratio_of((double)pair_weight(pair, input->by_bytes), (double)most));
    struct point from = place(circle, pair->from, circle->radius), to = place(circle, pair->to, circle->radius);
    double dx = to.x - from.x, dy = to.y - from.y, length = hypot(dx, dy), node = node_size(circle);
    char messages[TEXT_NUMBER_SIZE], bytes[TEXT_NUMBER_SIZE];
    canvas_tip(canvas, "%s → %s: %s messages, %s", text_number(input->metrics->process[pair->from].rank).text,
               text_number(input->metrics->process[pair->to].rank).text, text_thousands(messages, pair->messages),
               text_bytes(bytes, pair->bytes));
    struct paint paint = paint_faded(INK_MPI, 0.35 + 0.5 * weight);
    /* A message to oneself has no direction: a ring inside the circle. */
    if (pair->from == pair->to) {
        struct point loop = place(circle, pair->from, circle->radius - 2 * node);
        canvas_ring(canvas, loop.x, loop.y, node * 1.4, 1 + 3 * weight, paint);
        return;
    }
    dx /= length;
    dy /= length;
    struct point bend = {(from.x + to.x) / 2 - dy * length * 0.09, (from.y + to.y) / 2 + dx * length * 0.09};
    double in_x = to.x - bend.x, in_y = to.y - bend.y, in = hypot(in_x, in_y);
    struct point begin = {from.x + dx * (node + 1), from.y + dy * (node + 1)},
                 end = {to.x - in_x / in * (node + 2), to.y - in_y / in * (node + 2)};
    canvas_arrow(canvas, begin, bend, end, 0.8 + 4.2 * weight, 7 + 5 * weight, paint);
}

static void draw_nodes(struct canvas *canvas, const struct chart_input *input, const struct circle *circle)
{
    const struct metrics *metrics = input->metrics;
    double node = node_size(circle);
    for (size_t i = 0; i < circle->count; i++) {
        /* The number stands outside of the circle, where no arrow is. */
        struct point at = place(circle, (double)i, circle->radius),
                     beside = place(circle, (double)i, circle->radius + node + 9);
        double index = process_communication_index(metrics, &metrics->process[i]);
        /* Of two processes each has half of the ends: nothing is to be seen in that. */
        bool busy = circle->count > 2 && index >= 0.4;
        char label[TEXT_NUMBER_SIZE], number[TEXT_NUMBER_SIZE];
        snprintf(label, sizeof label, "%u", metrics->process[i].rank);
        snprintf(number, sizeof number, "%.3f", index);
        enum ink node_ink = INK_TEXT, number_ink = INK_MUTED;
        if (busy)
            node_ink = number_ink = INK_ACCENT;
        canvas_circle(canvas, at.x, at.y, node, paint_of(node_ink));
        double sine = (beside.x - circle->x) / (circle->radius + node + 9);
        struct text_style bold = {.bold = true}, muted = {.ink = number_ink};
        double width = canvas_text_width(canvas, bold, label),
               all = width + 6 + canvas_text_width(canvas, muted, number);
        /* Rank and index are aligned as one text, although they are drawn as two. */
        double x = beside.x - all * align_shift(side_of(sine));
        canvas_text(canvas, x, beside.y, bold, label);
        canvas_text(canvas, x + width + 6, beside.y, muted, number);
    }
}

static void draw_circle(struct canvas *canvas, const struct chart_input *input, struct area area,
                        const struct traffic *traffic)
{
    struct circle circle = {.count = input->metrics->process_count};
    circle.radius = fmax(10, fmin(area.width / 2 - LABEL - 24, area.height / 2 - 26));
    circle.x = area.x + area.width / 2;
    circle.y = area.y + area.height / 2;
    uint64_t most = 0;
    for (size_t i = 0; i < traffic->count; i++) {
        uint64_t weight = pair_weight(&traffic->pairs[i], input->by_bytes);
        most = larger(weight, most);
    }
    for (size_t i = 0; i < traffic->count; i++)
        /* Nodes come last: the ends of arrows lie under them. */
        draw_pair(canvas, input, &circle, &traffic->pairs[i], most);
    draw_nodes(canvas, input, &circle);
}

static void draw_index_note(struct canvas *canvas, double x, double y, double width)
{
    canvas_paragraph(canvas, x, y, width, (struct text_style){.ink = INK_MUTED},
                     "The number beside a process is its communication index: its share of all message endpoints. The "
                     "width of a line shows the amount.");
}

/* The index of each row of the matrix beside it, as one shape: the most of the processes that share the row. */
static void draw_strip(struct canvas *canvas, const struct chart_input *input, const struct heat *heat, double x)
{
    const struct metrics *metrics = input->metrics;
    struct shares shares = shares_of(metrics);
    struct text_style muted = {.ink = INK_MUTED};
    size_t per_row = (metrics->process_count + heat->rows - 1) / heat->rows;
    struct point *points = memory_new((2 * heat->rows + 2) * sizeof *points);
    char text[64];
    canvas_text(canvas, x, heat->grid.y - 14, muted, "communication index");
    for (size_t row = 0; row < heat->rows; row++) {
        double most = 0, y = heat->grid.y + (double)row * heat->grid.cell_height;
        for (size_t i = row * per_row; i < (row + 1) * per_row && i < metrics->process_count; i++)
            most = fmax(most, process_communication_index(metrics, &metrics->process[i]));
        /* The longest bar is that of the busiest process, even if it shares its row with others. */
        double width = 0;
        if (shares.most > 0)
            width = most / shares.most * (STRIP - 10);
        points[2 * row] = (struct point){x + width, y};
        points[2 * row + 1] = (struct point){x + width, y + heat->grid.cell_height};
    }
    double bottom = heat->grid.y + heat->grid.cell_height * (double)heat->rows;
    points[2 * heat->rows] = (struct point){x, bottom};
    points[2 * heat->rows + 1] = (struct point){x, heat->grid.y};
    canvas_polygon(canvas, points, 2 * heat->rows + 2, paint_of(INK_MPI));
    free(points);
    snprintf(text, sizeof text, "largest: %.1f × the mean", ratio_of(shares.most, shares.mean));
    canvas_text_cut(canvas, x, bottom + 12, STRIP, muted, text);
}

void chart_communication_draw(struct canvas *canvas, const struct chart_input *input, struct area area)
{
    struct traffic traffic = traffic_of(input->metrics);
    bool side = area.width > 2.4 * SIDE_WIDTH;
    double left = area.width;
    if (side)
        left -= SIDE_WIDTH + GAP;
    double x = area.x + left + GAP;
    double list_top = area.y + 20;
    if (input->metrics->process_count <= CIRCLE_MOST) {
        draw_circle(canvas, input, (struct area){area.x, area.y, left, area.height}, &traffic);
        if (side)
            draw_index_note(canvas, x, area.y + area.height - 60, SIDE_WIDTH);
    } else {
        struct area square = {area.x, area.y, left, area.height};
        if (side)
            square.width -= STRIP;
        struct heat heat = matrix_draw(canvas, input, square, &traffic);
        if (side) {
            draw_strip(canvas, input, &heat, heat.grid.x + heat.grid.cell_width * (double)heat.columns + 16);
            matrix_draw_scale(canvas, input, &heat, x, heat.grid.y + 8, SIDE_WIDTH);
        }
        /* The scale of the colours is above the list. */
        list_top = heat.grid.y + 84;
        heat_clear(&heat);
    }
    if (side)
        matrix_draw_pairs(canvas, input, (struct area){x, list_top, SIDE_WIDTH, area.y + area.height - list_top - 80},
                          &traffic);
    matrix_note(canvas, &traffic);
    traffic_clear(&traffic);
}
