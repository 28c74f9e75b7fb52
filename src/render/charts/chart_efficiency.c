/* SPDX-License-Identifier: BSD-3-Clause */
/* POP's efficiencies as a tree: each is the product of those to its right. The path to the largest loss is marked. */
#include "render/charts/chart.h"

#include "core/text.h"
#include "render/charts/factors_plot.h"

#include <math.h>
#include <stdio.h>

enum { BOX_HEIGHT = 84, GAP = 40 };

/* POP's limit of what is acceptable. */
static const double ACCEPTABLE = 0.8;

struct node {
    const char *title, *meaning;
    double value;
    int column;   /* of the tree */
    double place; /* of the height, its middle */
    int parent;   /* index; -1: none */
};

enum { PARALLEL, BALANCE, COMMUNICATION, SERIALISATION, TRANSFER, NODES };

static void nodes_of(const struct analysis *analysis, struct node nodes[NODES])
{
    /* POP: communication efficiency is serialisation times transfer, parallel efficiency that times balance. */
    double communication = analysis->serialisation * analysis->transfer;
    nodes[PARALLEL] = (struct node){
        "parallel efficiency", "mean computing / working time", analysis->load_balance * communication, 0, 0.5, -1};
    nodes[BALANCE] =
        (struct node){"load balance", "mean / longest computing", analysis->load_balance, 1, 0.2, PARALLEL};
    nodes[COMMUNICATION] =
        (struct node){"communication efficiency", "longest computing / working time", communication, 1, 0.72, PARALLEL};
    nodes[SERIALISATION] =
        (struct node){"serialisation", "longest computing / ideal run", analysis->serialisation, 2, 0.5, COMMUNICATION};
    nodes[TRANSFER] = (struct node){"transfer", "ideal run / working time", analysis->transfer, 2, 0.9, COMMUNICATION};
}

/* The factor with the largest loss; NODES if none is that large. */
static int worst_of(const struct node nodes[NODES])
{
    int worst = BALANCE;
    /* Leaves only: the product of two factors is always lower than either. */
    for (int i = SERIALISATION; i <= TRANSFER; i++)
        if (nodes[i].value < nodes[worst].value)
            worst = i;
    /* A run that is good as a whole has no path to mark, even if one factor is a little lower than the others. */
    if (nodes[PARALLEL].value < ACCEPTABLE)
        return worst;
    return NODES;
}

void chart_efficiency_answer(const struct chart_input *input, char answer[CHART_ANSWER_SIZE])
{
    static const char *const causes[NODES] = {[BALANCE] = "uneven work",
                                              [SERIALISATION] = "processes that take turns",
                                              [TRANSFER] = "slow messages and MPI calls"};
    /* Over several runs the question is how the factors change, which a tree cannot show. */
    if (input->scaling) {
        factors_plot_answer(input->scaling, answer);
        return;
    }
    struct node nodes[NODES];
    char parallel[TEXT_NUMBER_SIZE], least[TEXT_NUMBER_SIZE];
    nodes_of(input->metrics->analysis, nodes);
    int worst = worst_of(nodes);
    text_share(parallel, nodes[PARALLEL].value);
    if (worst == NODES)
        chart_say(answer, "%s of the processes' time is computing: good (80 %% or more)", parallel);
    else
        chart_say(answer, "%s of the processes' time is computing; most is lost to %s (%s %s)", parallel, causes[worst],
                  nodes[worst].title, text_share(least, nodes[worst].value));
}

/* The colour says on which side of the limit a value is; the way to the largest loss is marked by its lines. */
static void draw_node(struct canvas *canvas, const struct node *node, struct area box)
{
    char value[TEXT_NUMBER_SIZE];
    double limit = box.x + box.width * ACCEPTABLE;
    canvas_text_cut(canvas, box.x, box.y + 10, box.width, (struct text_style){.bold = true}, node->title);
    canvas_text_cut(canvas, box.x, box.y + 28, box.width, (struct text_style){.ink = INK_MUTED}, node->meaning);
    canvas_rect(canvas, box.x, box.y + 42, box.width, 12, paint_of(INK_GRID));
    enum ink ink = INK_COMPUTE;
    if (node->value < ACCEPTABLE)
        ink = INK_ACCENT;
    /* Transfer may be a little above 1 by rounding, and the bar is not to leave its box. */
    canvas_rect(canvas, box.x, box.y + 42, box.width * fmin(1, fmax(0, node->value)), 12, paint_of(ink));
    canvas_line(canvas, limit, box.y + 39, limit, box.y + 57, 1.2, paint_of(INK_TEXT));
    canvas_text(canvas, box.x, box.y + 72, (struct text_style){.size = 17, .bold = true},
                text_share(value, node->value));
}

void chart_efficiency_draw(struct canvas *canvas, const struct chart_input *input, struct area area)
{
    if (input->scaling) {
        factors_plot_draw(canvas, input->scaling, area);
        return;
    }
    struct node nodes[NODES];
    struct area boxes[NODES];
    /* Three columns of boxes do not fit into less: the title says the most important. */
    if (area.height < 2.6 * BOX_HEIGHT || area.width < 420)
        return;
    bool marked[NODES] = {false};
    nodes_of(input->metrics->analysis, nodes);
    int worst = worst_of(nodes);
    /* Upwards from the leaf with the largest loss to the root. */
    for (int i = worst; i != NODES && i >= 0; i = nodes[i].parent)
        marked[i] = true;
    double width = (area.width - 2 * GAP) / 3;
    for (int i = 0; i < NODES; i++) {
        boxes[i] = (struct area){area.x + nodes[i].column * (width + GAP),
                                 area.y + nodes[i].place * (area.height - BOX_HEIGHT), width, BOX_HEIGHT};
        /* Parents come before their children in the table: their boxes are known. */
        if (nodes[i].parent >= 0) {
            const struct area *from = &boxes[nodes[i].parent];
            double y1 = from->y + 48, y2 = boxes[i].y + 48, x1 = from->x + width + 6, x2 = boxes[i].x - 6;
            const struct point line[] = {{x1, y1}, {(x1 + x2) / 2, y1}, {(x1 + x2) / 2, y2}, {x2, y2}};
            double thick = 1.2;
            enum ink ink = INK_AXIS;
            if (marked[i]) {
                thick = 3;
                ink = INK_ACCENT;
            }
            canvas_polyline(canvas, line, 4, thick, paint_of(ink));
        }
        draw_node(canvas, &nodes[i], boxes[i]);
    }
    chart_note(canvas, "Each efficiency is the product of those to its right. Bars below the line, 80 %, are marked: "
                       "less is not acceptable according to POP.");
}
