/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/profile_rows.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <stdlib.h>
#include <string.h>

/* What makes paths one row: parts that do not matter to the kind of row are left empty, so that one order serves all
   kinds. */
struct key {
    const char *name, *file;
    int32_t line;
    uint32_t path;
};

/* The path whose place counts. */
static uint32_t path_by(const struct defs *defs, uint32_t path, enum profile_by by)
{
    return by == PROFILE_BY_OWN_FUNCTION || by == PROFILE_BY_OWN_LINE ? profile_own_path(defs, path) : path;
}

static struct key key_of(const struct defs *defs, uint32_t path, enum profile_by by)
{
    uint32_t place = path_by(defs, path, by);
    const struct site_def *site = profile_site(defs, place);
    struct key key = {.name = profile_function(defs, place), .file = site ? site->file : "", .path = path};
    if ((by == PROFILE_BY_LINE || by == PROFILE_BY_OWN_LINE) && site)
        key.line = site->line;
    /* What has no file keeps its function's name: else all such functions would be one row. */
    if (by == PROFILE_BY_FILE && *key.file)
        key.name = "";
    return key;
}

static int by_key(const void *left_key, const void *right_key)
{
    const struct key *left = left_key, *right = right_key;
    int order = strcmp(left->name, right->name);
    if (order == 0)
        order = strcmp(left->file, right->file);
    if (order == 0)
        order = order_by(left->line, right->line);
    return order;
}

/* Rows of all paths that samples were taken in, or that lead there, in the order of their keys. */
static void number_rows(const struct profile *profile, enum profile_by by, struct profile_rows *rows)
{
    const struct defs *defs = profile->defs;
    size_t count = 0;
    struct key *keys = memory_new((defs->path_count + 1) * sizeof *keys);
    bool *used = memory_new((defs->path_count + 1) * sizeof *used);
    /* Each path once: from a used one on all above it are used, too, so that deep stacks cost no square. */
    for (size_t i = 0; i < profile->cell_count; i++)
        for (uint32_t path = profile->cells[i].path + 1; path && !used[path - 1]; path = defs->paths[path - 1].parent) {
            used[path - 1] = true;
            keys[count++] = key_of(defs, path - 1, by);
        }
    qsort(keys, count, sizeof *keys, by_key);
    rows->row = memory_new((count + 1) * sizeof *rows->row);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || by_key(&keys[i - 1], &keys[i]) != 0)
            rows->row[rows->count++] =
                (struct profile_row){.name = keys[i].name, .file = keys[i].file, .line = keys[i].line};
        rows->row_of[keys[i].path] = (uint32_t)rows->count - 1;
    }
    free(used);
    free(keys);
}

static int share_by_rank(const void *left_share, const void *right_share)
{
    const struct profile_share *left = left_share, *right = right_share;
    return order_by(left->rank, right->rank);
}

static void add_share(struct profile_row *row, size_t *capacity, struct map *known, uint32_t number,
                      const struct profile_cell *cell)
{
    uint64_t *index = map_put(known, map_pair(number, cell->rank), 0);
    if (*index == 0) {
        ARRAY_PUSH(row->processes, row->process_count, *capacity, (struct profile_share){.rank = cell->rank});
        *index = row->process_count;
    }
    row->processes[*index - 1].samples += cell->samples;
    time_add(&row->processes[*index - 1].self_ns, cell->ns);
}

static void add_cells(const struct profile *profile, struct profile_rows *rows)
{
    struct map known = {0};
    size_t *capacities = memory_new((rows->count + 1) * sizeof *capacities);
    size_t *seen = memory_new((rows->count + 1) * sizeof *seen); /* the last cell that added to its total, + 1 */
    for (size_t i = 0; i < profile->cell_count; i++) {
        const struct profile_cell *cell = &profile->cells[i];
        uint32_t number = rows->row_of[cell->path];
        struct profile_row *row = &rows->row[number];
        row->samples += cell->samples;
        time_add(&row->self_ns, cell->ns);
        add_share(row, &capacities[number], &known, number, cell);
        for (uint32_t path = cell->path + 1; path; path = profile->defs->paths[path - 1].parent) {
            uint32_t above = rows->row_of[path - 1];
            /* A recursive function is on the path more than once; its time is there once. */
            if (seen[above] == i + 1)
                continue;
            seen[above] = i + 1;
            time_add(&rows->row[above].total_ns, cell->ns);
        }
    }
    /* Cells are by path, so the ranks of a row with more than one path came in more than one turn. */
    for (size_t i = 0; i < rows->count; i++)
        if (rows->row[i].process_count > 1)
            qsort(rows->row[i].processes, rows->row[i].process_count, sizeof *rows->row[i].processes, share_by_rank);
    map_clear(&known);
    free(capacities);
    free(seen);
}

const struct site_def *profile_rows_site(const struct profile *profile, const struct profile_rows *rows, uint32_t path)
{
    return profile_site(profile->defs, path_by(profile->defs, path, rows->by));
}

uint32_t profile_caller(const struct profile *profile, const struct profile_rows *rows, uint32_t path)
{
    uint32_t row = rows->row_of[path - 1];
    do
        path = profile->defs->paths[path - 1].parent;
    while (path && rows->row_of[path - 1] == row);
    return path;
}

/* A function stands at the line with most of its samples; one in which none was taken, where it calls. */
static void find_lines(const struct profile *profile, struct profile_rows *rows)
{
    struct map samples = {0};
    uint64_t *most = memory_new((rows->count + 1) * sizeof *most);
    for (size_t i = 0; i < profile->cell_count; i++) {
        const struct site_def *site = profile_rows_site(profile, rows, profile->cells[i].path);
        uint32_t row = rows->row_of[profile->cells[i].path];
        if (!site || site->line <= 0)
            continue;
        uint64_t *count = map_put(&samples, map_pair(row, (uint32_t)site->line), 0);
        *count += profile->cells[i].samples;
        /* Of lines with equally many the first stays: cells are sorted, so it is the same every time. */
        if (*count > most[row]) {
            most[row] = *count;
            rows->row[row].line = site->line;
        }
    }
    for (uint32_t path = 0; path < profile->defs->path_count; path++) {
        const struct site_def *site = profile_rows_site(profile, rows, path);
        uint32_t row = rows->row_of[path];
        if (row != UINT32_MAX && rows->row[row].line == 0 && site)
            rows->row[row].line = site->line;
    }
    map_clear(&samples);
    free(most);
}

/* Indices of rows, hottest first. At last by number, which is by name: equal rows stand in the same order every time.
 */
static int by_heat(const void *left_row, const void *right_row, void *context)
{
    const struct profile_row *rows = context;
    uint32_t a = *(const uint32_t *)left_row, b = *(const uint32_t *)right_row;
    const struct profile_row *left = &rows[a], *right = &rows[b];
    if (left->self_ns != right->self_ns)
        return order_by(right->self_ns, left->self_ns);
    if (left->samples != right->samples)
        return order_by(right->samples, left->samples);
    if (left->total_ns != right->total_ns)
        return order_by(right->total_ns, left->total_ns);
    return order_by(a, b);
}

static void sort_rows(struct profile_rows *rows)
{
    uint32_t *order = memory_new((rows->count + 1) * sizeof *order),
             *place = memory_new((rows->count + 1) * sizeof *place);
    struct profile_row *sorted = memory_new((rows->count + 1) * sizeof *sorted);
    for (uint32_t i = 0; i < rows->count; i++)
        order[i] = i;
    qsort_r(order, rows->count, sizeof *order, by_heat, rows->row);
    for (uint32_t i = 0; i < rows->count; i++) {
        sorted[i] = rows->row[order[i]];
        place[order[i]] = i;
    }
    /* Rows moved: what refers to them by number follows. */
    for (size_t path = 0; path < rows->path_count; path++)
        if (rows->row_of[path] != UINT32_MAX)
            rows->row_of[path] = place[rows->row_of[path]];
    free(rows->row);
    free(order);
    free(place);
    rows->row = sorted;
}

struct profile_rows profile_rows_of(const struct profile *profile, enum profile_by by)
{
    struct profile_rows rows = {.by = by};
    /* A trace that was not read as far as its first event has no definitions. */
    if (profile->defs)
        rows.path_count = profile->defs->path_count;
    rows.row_of = memory_new((rows.path_count + 1) * sizeof *rows.row_of);
    memset(rows.row_of, 0xff, (rows.path_count + 1) * sizeof *rows.row_of);
    if (!profile->defs)
        return rows;
    number_rows(profile, by, &rows);
    add_cells(profile, &rows);
    if (by == PROFILE_BY_FUNCTION || by == PROFILE_BY_OWN_FUNCTION)
        find_lines(profile, &rows);
    sort_rows(&rows);
    return rows;
}

void profile_rows_clear(struct profile_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        free(rows->row[i].processes);
    free(rows->row);
    free(rows->row_of);
    *rows = (struct profile_rows){0};
}

/* The tree: first in the order in which nodes are met, with their parents; then in the order of the answer. */
struct growing {
    struct profile_node node;
    uint32_t parent, first, next; /* 1 + index; 0: none */
};

struct tree {
    struct growing *nodes;
    size_t count, capacity;
    struct map known; /* parent and row -> index + 1 */
};

static uint32_t tree_node(struct tree *tree, uint32_t parent, uint32_t row)
{
    uint64_t *known = map_put(&tree->known, map_pair(parent, row), 0);
    if (*known == 0) {
        struct growing node = {.node = {.row = row}, .parent = parent};
        if (parent)
            node.node.depth = tree->nodes[parent - 1].node.depth + 1;
        ARRAY_PUSH(tree->nodes, tree->count, tree->capacity, node);
        *known = tree->count;
    }
    return (uint32_t)*known;
}

static int by_total(const void *left_node, const void *right_node, void *context)
{
    const struct tree *tree = context;
    uint32_t a = *(const uint32_t *)left_node, b = *(const uint32_t *)right_node;
    const struct growing *left = &tree->nodes[a], *right = &tree->nodes[b];
    if (left->node.total_ns != right->node.total_ns)
        return order_by(left->node.total_ns, right->node.total_ns);
    return order_by(b, a);
}

/* Children become lists with the largest first: those with least time are put in front of the others first. */
static void link_children(struct tree *tree, uint32_t *roots)
{
    uint32_t *order = memory_new((tree->count + 1) * sizeof *order);
    for (uint32_t i = 0; i < tree->count; i++)
        order[i] = i;
    qsort_r(order, tree->count, sizeof *order, by_total, tree);
    for (size_t i = 0; i < tree->count; i++) {
        struct growing *node = &tree->nodes[order[i]];
        uint32_t *first = node->parent ? &tree->nodes[node->parent - 1].first : roots;
        node->next = *first;
        *first = order[i] + 1;
    }
    free(order);
}

static struct profile_tree walk(const struct tree *tree, uint32_t roots)
{
    struct profile_tree done = {.node = memory_new((tree->count + 1) * sizeof *done.node)};
    uint32_t at = roots;
    while (at) {
        const struct growing *node = &tree->nodes[at - 1];
        done.node[done.count++] = node->node;
        at = node->first;
        /* No child: the next sibling, or else the next sibling of the nearest ancestor that has one. Not recursive, as
           stacks of recursive programs are deep. */
        for (uint32_t up = at ? 0 : (uint32_t)(node - tree->nodes) + 1; up && !at; up = tree->nodes[up - 1].parent)
            at = tree->nodes[up - 1].next;
    }
    return done;
}

struct profile_tree profile_tree_of(const struct profile *profile, const struct profile_rows *rows)
{
    struct tree tree = {0};
    uint32_t roots = 0, *node_of = memory_new((rows->path_count + 1) * sizeof *node_of); /* by path + 1 */
    /* Parents stand before their children, so node_of has the parent already; of those without it is node_of[0]: none.
     */
    for (uint32_t path = 0; path < rows->path_count; path++)
        if (rows->row_of[path] != UINT32_MAX)
            node_of[path + 1] = tree_node(&tree, node_of[profile->defs->paths[path].parent], rows->row_of[path]);
    for (size_t i = 0; i < profile->cell_count; i++) {
        const struct profile_cell *cell = &profile->cells[i];
        /* Paths of one row under one node are one node: of the same function from two lines, say. */
        struct profile_node *own = &tree.nodes[node_of[cell->path + 1] - 1].node;
        own->samples += cell->samples;
        time_add(&own->self_ns, cell->ns);
        for (uint32_t at = node_of[cell->path + 1]; at; at = tree.nodes[at - 1].parent)
            time_add(&tree.nodes[at - 1].node.total_ns, cell->ns);
    }
    link_children(&tree, &roots);
    struct profile_tree done = walk(&tree, roots);
    free(tree.nodes);
    free(node_of);
    map_clear(&tree.known);
    return done;
}

void profile_tree_clear(struct profile_tree *tree)
{
    free(tree->node);
    *tree = (struct profile_tree){0};
}
