/* SPDX-License-Identifier: BSD-3-Clause */
#include "phases/loop_name.h"

#include "core/map.h"

#include <string.h>

enum { NAME_FUNCTIONS = 24 };

struct naming {
    const struct graph *graph;
    const struct loop_tree *tree;
    uint32_t location;
    char *text;                    /* LOOP_NAME_SIZE bytes */
    uint32_t said[NAME_FUNCTIONS]; /* states: each appears once */
    size_t said_count;
    uint64_t body;
};

static const char more[] = " …";

static bool is_cut(const struct naming *naming)
{
    size_t used = strlen(naming->text);
    return used >= sizeof more && strcmp(naming->text + used - sizeof more + 1, more) == 0;
}

static void name_put(struct naming *naming, const char *text)
{
    size_t used = strlen(naming->text), length = strlen(text);
    /* Nothing may follow the dots. */
    if (is_cut(naming))
        return;
    if (used + length + sizeof more <= LOOP_NAME_SIZE)
        memcpy(naming->text + used, text, length + 1);
    else
        memcpy(naming->text + used, more, sizeof more);
}

static bool is_said(struct naming *naming, uint32_t state)
{
    for (size_t i = 0; i < naming->said_count; i++)
        if (naming->said[i] == state)
            return true;
    if (naming->said_count < NAME_FUNCTIONS)
        naming->said[naming->said_count++] = state;
    return naming->said_count == NAME_FUNCTIONS;
}

static void name_body(struct naming *naming, uint32_t loop);

/* A loop inside, in brackets; without a function that is not said yet it is left out. */
static void name_inner(struct naming *naming, uint32_t loop, bool *first)
{
    size_t before = strlen(naming->text);
    name_put(naming, *first ? "(" : ", (");
    size_t begin = strlen(naming->text);
    name_body(naming, loop);
    if (strlen(naming->text) == begin && !is_cut(naming)) {
        naming->text[before] = '\0';
        return;
    }
    name_put(naming, ")");
    *first = false;
}

/* The functions of a body, each once, those of loops inside in brackets; and a hash of all. Depth is that of loops. */
static void name_body(struct naming *naming, uint32_t loop)
{
    const struct loop_tree *tree = naming->tree;
    bool first = true;
    /* Begin and end of a body are part of the hash: (a b) c and a (b c) differ. */
    naming->body = map_hash(naming->body + 1);
    for (uint32_t i = 0; i < tree->loops[loop].item_count; i++) {
        const struct loop_item *item = &tree->items[tree->loops[loop].item + i];
        if (item->loop != LOOP_NONE) {
            name_inner(naming, item->loop, &first);
            continue;
        }
        struct call call = graph_call(naming->graph, naming->location, item->at);
        const struct state_def *state = graph_state(naming->graph, &call);
        naming->body = map_hash(naming->body + state->first_of_name);
        if (is_said(naming, state->first_of_name))
            continue;
        if (!first)
            name_put(naming, ", ");
        name_put(naming, state->name);
        first = false;
    }
    naming->body = map_hash(naming->body + 2);
}

uint64_t loop_name(const struct graph *graph, uint32_t location, const struct loop_tree *tree, uint32_t loop,
                   char name[LOOP_NAME_SIZE])
{
    struct naming naming = {.graph = graph, .tree = tree, .location = location, .text = name};
    name[0] = '\0';
    name_body(&naming, loop);
    return naming.body;
}
