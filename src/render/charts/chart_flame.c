/* SPDX-License-Identifier: BSD-3-Clause */
/* What is computed between the calls, by call path: a flame graph (Gregg, "The Flame Graph", CACM 59(6), 2016), with
   the largest of each function's callees first. */
#include "render/charts/chart.h"

#include "core/text.h"
#include "profile/profile_rows.h"
#include "render/terminal_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROW_LEAST = 18, ROW_MOST = 40, GAP = 1, LABEL_LEAST = 26, LABEL_MARGIN = 4, SHARE_LEAST = 110, DEPTH_MOST = 64 };

/* Thinner than this a function is not drawn: it would be no more than a line. */
static const double THINNEST = 0.4;

static const char *last_of_path(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash && slash[1] ? slash + 1 : file;
}

/* "sift (sort.c:42)" */
static void place(char *text, size_t size, const struct profile_row *row)
{
    char name[200];
    text_for_terminal(name, sizeof name, row->name, 60);
    if (*row->file && row->line > 0)
        snprintf(text, size, "%s (%.60s:%d)", name, last_of_path(row->file), (int)row->line);
    else
        snprintf(text, size, "%s", name);
}

void chart_flame_answer(const struct chart_input *input, char answer[CHART_ANSWER_SIZE])
{
    const struct profile *profile = input->metrics->profile;
    struct profile_rows rows = profile_rows_of(profile, PROFILE_BY_FUNCTION);
    char share[TEXT_NUMBER_SIZE], text[300];
    place(text, sizeof text, &rows.row[0]); /* the hottest: there are samples */
    chart_say(answer, "%s of the computing is in %s",
              text_share(share, (double)rows.row[0].self_ns / (double)profile->ns), text);
    profile_rows_clear(&rows);
}

struct flame {
    struct canvas *canvas;
    struct area area;
    const struct profile_rows *rows;
    const struct profile_tree *tree;
    double all_ns;         /* the whole width */
    uint32_t base, levels; /* depth of the lowest row that is drawn, and so many rows */
    double row;            /* height */
};

static double share_of(const struct flame *flame, const struct profile_node *node)
{
    return (double)node->total_ns / flame->all_ns;
}

/* What all samples have in common, such as main's caller, would fill rows without saying anything. Where the first
   child has all the time, there is no other. */
static uint32_t common_depth(const struct profile_tree *tree, int64_t all_ns)
{
    size_t node = 0;
    while (node + 1 < tree->count && tree->node[node].self_ns == 0 &&
           tree->node[node + 1].depth > tree->node[node].depth && tree->node[node + 1].total_ns == all_ns && all_ns > 0)
        node++;
    return tree->count > 0 ? tree->node[node].depth : 0;
}

/* From the base on, up to the deepest function that is wide enough. */
static uint32_t count_levels(const struct flame *flame)
{
    uint32_t most = 1;
    for (size_t i = 0; i < flame->tree->count; i++) {
        const struct profile_node *node = &flame->tree->node[i];
        if (node->depth >= flame->base && share_of(flame, node) * flame->area.width >= THINNEST &&
            node->depth - flame->base + 1 > most)
            most = node->depth - flame->base + 1;
    }
    return most < DEPTH_MOST ? most : DEPTH_MOST;
}

static void draw_node(const struct flame *flame, const struct profile_node *node, double x, double width)
{
    const struct profile_row *row = &flame->rows->row[node->row];
    uint32_t level = node->depth - flame->base;
    double y = flame->area.y + (flame->levels - level - 1) * flame->row, middle = y + (flame->row - GAP) / 2;
    char text[300], total[TEXT_NUMBER_SIZE], self[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE];
    place(text, sizeof text, row);
    text_share(share, share_of(flame, node));
    canvas_tip(flame->canvas, "%s: %s (%s), %s of it in its own code", text, text_duration(total, node->total_ns),
               share, text_duration(self, node->self_ns));
    struct paint paint = paint_faded(INK_COMPUTE, level % 2 ? 0.55 : 0.8);
    /* The hottest, which the title names. */
    if (node->row == 0)
        paint = paint_faded(INK_ACCENT, 0.55);
    canvas_rect(flame->canvas, x, y, width - (width > 3 * GAP ? GAP : 0), flame->row - GAP, paint);
    if (width < LABEL_LEAST)
        return;
    double room = width - 2 * LABEL_MARGIN;
    if (width >= SHARE_LEAST) {
        room -= 44;
        canvas_text(flame->canvas, x + width - LABEL_MARGIN - GAP, middle,
                    (struct text_style){.size = 11, .align = ALIGN_RIGHT}, share);
    }
    text_for_terminal(text, sizeof text, row->name, 60);
    canvas_text_cut(flame->canvas, x + LABEL_MARGIN, middle, room, (struct text_style){.size = 11}, text);
}

/* Nodes come with their parents first, siblings in order: each stands to the right of what its parent has placed. */
static void draw_tree(const struct flame *flame)
{
    double next[DEPTH_MOST + 1];
    for (size_t i = 0; i <= DEPTH_MOST; i++)
        next[i] = flame->area.x;
    for (size_t i = 0; i < flame->tree->count; i++) {
        const struct profile_node *node = &flame->tree->node[i];
        if (node->depth < flame->base || node->depth - flame->base >= flame->levels)
            continue;
        uint32_t level = node->depth - flame->base;
        double x = next[level], width = share_of(flame, node) * flame->area.width;
        next[level] = x + width;
        next[level + 1] = x;
        if (width >= THINNEST)
            draw_node(flame, node, x, width);
    }
}

void chart_flame_draw(struct canvas *canvas, const struct chart_input *input, struct area area)
{
    const struct profile *profile = input->metrics->profile;
    struct profile_rows rows = profile_rows_of(profile, PROFILE_BY_FUNCTION);
    struct profile_tree tree = profile_tree_of(profile, &rows);
    char note[300], samples[TEXT_NUMBER_SIZE], time[TEXT_NUMBER_SIZE];
    struct flame flame = {
        canvas, {area.x, area.y, area.width, area.height - 30}, &rows, &tree, (double)profile->ns, 0, 0, 0};
    flame.base = common_depth(&tree, profile->ns);
    flame.levels = count_levels(&flame);
    flame.row = fmax(ROW_LEAST, fmin(ROW_MOST, flame.area.height / flame.levels));
    /* Too deep for the picture: the callees farthest from the base are left out. */
    if (flame.row * flame.levels > flame.area.height)
        flame.levels = (uint32_t)(flame.area.height / flame.row);
    draw_tree(&flame);
    snprintf(note, sizeof note,
             "width: part of the %s%s that %s samples of all processes stand for; each function stands on its caller",
             profile->is_estimated ? "about " : "", text_duration(time, profile->ns),
             text_thousands(samples, profile->samples));
    canvas_text_cut(canvas, area.x, area.y + flame.levels * flame.row + 18, area.width,
                    (struct text_style){.ink = INK_MUTED}, note);
    profile_tree_clear(&tree);
    profile_rows_clear(&rows);
}
