/* SPDX-License-Identifier: BSD-3-Clause */
/* POP's efficiencies as a tree: each is the product of those to its right. The path to the largest loss is marked. */
#include "render/charts/chart.h"

#include "core/text.h"
#include "heuristics/efficiency.h"
#include "heuristics/threads.h"
#include "render/charts/factors_plot.h"

#include <math.h>
#include <stdio.h>

enum { BOX_HEIGHT = 84, BOX_LEAST = 170, GAP = 40 };

/* Of the rows that small charts have instead of boxes. */
enum { ROW_MOST = 30, ROW_LEAST = 16, ROWS_WIDTH = 200, INDENT = 12, BAR = 10, VALUE_ROOM = 52, NAMES_MOST = 220 };

/* POP's limit of what is acceptable. */
static const double ACCEPTABLE = 0.8;

struct node {
    const char *title, *meaning;
    double value;
    int column;   /* of the tree */
    double place; /* of the height, its middle */
    int parent;   /* index; -1: none */
};

/* The first two only of runs with OpenMP's parallel regions. */
enum { HYBRID, OPENMP, PARALLEL, BALANCE, COMMUNICATION, SERIALISATION, TRANSFER, NODES };

struct tree {
    struct node nodes[NODES];
    int root, columns;
};

static struct tree tree_of(const struct metrics *metrics)
{
    const struct analysis *analysis = metrics->analysis;
    struct thread_efficiency cores = thread_efficiency_of(metrics);
    struct tree tree = {.root = PARALLEL, .columns = 3};
    int first = 0, parent = -1;
    if (cores.threads > 0) {
        tree = (struct tree){.root = HYBRID, .columns = 4};
        tree.nodes[HYBRID] =
            (struct node){"hybrid efficiency", "computing / time of all cores", cores.hybrid, 0, 0.4, -1};
        tree.nodes[OPENMP] =
            (struct node){"OpenMP efficiency", "hybrid / parallel efficiency", cores.openmp, 1, 0, HYBRID};
        first = 1;
        parent = HYBRID;
    }
    /* POP: communication efficiency is serialisation times transfer, parallel efficiency that times balance. Of
       processes, as the diagnosis has them: the analysis balances threads. */
    struct efficiency efficiency = efficiency_of(metrics);
    tree.nodes[PARALLEL] =
        (struct node){"parallel efficiency", "mean computing / working time", efficiency.parallel, first, 0.5, parent};
    tree.nodes[BALANCE] =
        (struct node){"load balance", "mean / longest computing", efficiency.load_balance, first + 1, 0.2, PARALLEL};
    tree.nodes[COMMUNICATION] = (struct node){"communication efficiency",
                                              "longest computing / working time",
                                              efficiency.communication,
                                              first + 1,
                                              0.72,
                                              PARALLEL};
    tree.nodes[SERIALISATION] = (struct node){
        "serialisation", "longest computing / ideal run", analysis->serialisation, first + 2, 0.5, COMMUNICATION};
    tree.nodes[TRANSFER] =
        (struct node){"transfer", "ideal run / working time", analysis->transfer, first + 2, 0.9, COMMUNICATION};
    return tree;
}

/* The factor with the largest loss; NODES if none is that large. */
static int worst_of(const struct tree *tree)
{
    /* Leaves only: the product of two factors is always lower than either. */
    static const int leaves[] = {BALANCE, SERIALISATION, TRANSFER, OPENMP};
    size_t count = tree->root == HYBRID ? 4 : 3;
    int worst = leaves[0];
    for (size_t i = 1; i < count; i++)
        if (tree->nodes[leaves[i]].value < tree->nodes[worst].value)
            worst = leaves[i];
    /* A run that is good as a whole has no path to mark, even if one factor is a little lower than the others. */
    if (tree->nodes[tree->root].value < ACCEPTABLE)
        return worst;
    return NODES;
}

void chart_efficiency_answer(const struct chart_input *input, char answer[CHART_ANSWER_SIZE])
{
    static const char *const causes[NODES] = {[OPENMP] = "threads that have nothing to do",
                                              [BALANCE] = "uneven work",
                                              [SERIALISATION] = "processes that take turns",
                                              [TRANSFER] = "slow messages and MPI calls"};
    /* Over several runs the question is how the factors change, which a tree cannot show. */
    if (input->scaling) {
        factors_plot_answer(input->scaling, answer);
        return;
    }
    char computing[TEXT_NUMBER_SIZE], least[TEXT_NUMBER_SIZE];
    struct tree tree = tree_of(input->metrics);
    int worst = worst_of(&tree);
    const char *whose = tree.root == HYBRID ? "cores'" : "processes'";
    /* A title does not begin with a sign. */
    if (*text_share(computing, tree.nodes[tree.root].value) == '<')
        snprintf(computing, sizeof computing, "Hardly any");
    if (worst == NODES)
        chart_say(answer, "%s of the %s time is computing: good (80 %% or more)", computing, whose);
    else
        chart_say(answer, "%s of the %s time is computing; most is lost to %s (%s %s)", computing, whose, causes[worst],
                  tree.nodes[worst].title, text_share(least, tree.nodes[worst].value));
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

/* From the right side of a parent to the left one of its child. */
static void draw_edge(struct canvas *canvas, struct area from, struct area to, bool marked)
{
    double y1 = from.y + 48, y2 = to.y + 48, x1 = from.x + from.width + 6, x2 = to.x - 6;
    const struct point line[] = {{x1, y1}, {(x1 + x2) / 2, y1}, {(x1 + x2) / 2, y2}, {x2, y2}};
    if (marked)
        canvas_polyline(canvas, line, 4, 3, paint_of(INK_ACCENT));
    else
        canvas_polyline(canvas, line, 4, 1.2, paint_of(INK_AXIS));
}

/* A row for each, below its product and further in. */
static void draw_rows(struct canvas *canvas, const struct tree *tree, const bool marked[NODES], struct area area)
{
    double row = fmin(ROW_MOST, area.height / (NODES - tree->root)), y = area.y + row / 2;
    double names = fmin(area.width * 0.55, NAMES_MOST);
    struct area bar = {area.x + names, 0, area.width - names - VALUE_ROOM, BAR};
    double limit = bar.x + bar.width * ACCEPTABLE;
    if (row < ROW_LEAST || area.width < ROWS_WIDTH)
        return;
    for (int i = tree->root; i < NODES; i++, y += row) {
        const struct node *node = &tree->nodes[i];
        char value[TEXT_NUMBER_SIZE];
        enum ink ink = node->value < ACCEPTABLE ? INK_ACCENT : INK_COMPUTE;
        double left = area.x + (node->column - tree->nodes[tree->root].column) * INDENT;
        canvas_text_cut(canvas, left, y, bar.x - 8 - left, (struct text_style){.bold = marked[i]}, node->title);
        canvas_rect(canvas, bar.x, y - BAR / 2.0, bar.width, BAR, paint_of(INK_GRID));
        canvas_rect(canvas, bar.x, y - BAR / 2.0, bar.width * fmin(1, fmax(0, node->value)), BAR, paint_of(ink));
        canvas_line(canvas, limit, y - BAR / 2.0 - 2, limit, y + BAR / 2.0 + 2, 1.2, paint_of(INK_TEXT));
        canvas_text(canvas, area.x + area.width, y, (struct text_style){.align = ALIGN_RIGHT, .bold = marked[i]},
                    text_share(value, node->value));
    }
    chart_note(canvas, "Indented rows are factors; the line marks POP's 80 %.");
}

static double box_width(const struct tree *tree, struct area area)
{
    return (area.width - (tree->columns - 1) * GAP) / tree->columns;
}

/* Parents beside the middle of their children. */
static void draw_boxes(struct canvas *canvas, const struct tree *tree, const bool marked[NODES], struct area area)
{
    struct area boxes[NODES];
    const struct node *nodes = tree->nodes;
    double width = box_width(tree, area);
    for (int i = tree->root; i < NODES; i++) {
        boxes[i] = (struct area){area.x + nodes[i].column * (width + GAP),
                                 area.y + nodes[i].place * (area.height - BOX_HEIGHT), width, BOX_HEIGHT};
        /* Parents come before their children in the table: their boxes are known. */
        if (nodes[i].parent >= 0)
            draw_edge(canvas, boxes[nodes[i].parent], boxes[i], marked[i]);
        draw_node(canvas, &nodes[i], boxes[i]);
    }
    chart_note(canvas, "Each efficiency is the product of those to its right. Bars below the line, 80 %, are marked: "
                       "less is not acceptable according to POP.");
}

void chart_efficiency_draw(struct canvas *canvas, const struct chart_input *input, struct area area)
{
    if (input->scaling) {
        factors_plot_draw(canvas, input->scaling, area);
        return;
    }
    struct tree tree = tree_of(input->metrics);
    bool marked[NODES] = {false};
    /* Upwards from the leaf with the largest loss to the root. */
    for (int i = worst_of(&tree); i != NODES && i >= 0; i = tree.nodes[i].parent)
        marked[i] = true;
    /* Serialisation and transfer, 0.4 of the height apart, must not overlap. */
    if (0.4 * (area.height - BOX_HEIGHT) < BOX_HEIGHT || box_width(&tree, area) < BOX_LEAST)
        draw_rows(canvas, &tree, marked, area);
    else
        draw_boxes(canvas, &tree, marked, area);
}
