/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/search.h"

#include "core/memory.h"

#include <string.h>

static const char *const state_names[SEARCH_STATE_COUNT] = {
#define SEARCH_STATE_NAME(name, id) id,
    SEARCH_STATES(SEARCH_STATE_NAME)
#undef SEARCH_STATE_NAME
};

static const char *const axis_names[SEARCH_AXIS_COUNT] = {"why",
#define SEARCH_AXIS_NAME(name, id) id,
                                                          SEARCH_AXES(SEARCH_AXIS_NAME)
#undef SEARCH_AXIS_NAME
};

/* Names come from files, not terminated: their length is given. */
static size_t name_find(const char *const *names, size_t count, const char *name, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
            return i;
    return count;
}

const char *search_state_name(enum search_state state)
{
    return state_names[state];
}

/* A name that there is not gives the count of states, which is none. */
enum search_state search_state_find(const char *name, size_t length)
{
    return (enum search_state)name_find(state_names, SEARCH_STATE_COUNT, name, length);
}

const char *search_axis_name(enum search_axis axis)
{
    return axis_names[axis];
}

enum search_axis search_axis_find(const char *name, size_t length)
{
    return (enum search_axis)name_find(axis_names, SEARCH_AXIS_COUNT, name, length);
}

struct search *search_new(void)
{
    return memory_new(sizeof(struct search));
}

void search_free(struct search *search)
{
    /* Metrics without a search have none to be freed. */
    if (!search)
        return;
    for (size_t i = 0; i < search->count; i++) {
        free(search->nodes[i].hypothesis);
        free(search->nodes[i].title);
        free(search->nodes[i].also_explains);
        free(search->nodes[i].advice);
        free(search->nodes[i].reason);
    }
    free(search->nodes);
    free(search->source);
    free(search);
}

/* Numbers of nodes never change: children refer to their parent by its number. */
uint32_t search_add(struct search *search, struct search_node node)
{
    ARRAY_PUSH(search->nodes, search->count, search->capacity, node);
    return (uint32_t)search->count - 1;
}

/* Counted anew each time: trees of a search are shallow. */
size_t search_depth(const struct search *search, size_t node)
{
    /* Parents come before their children, so that the walk ends. */
    size_t depth = 0;
    for (uint32_t at = search->nodes[node].parent; at != SEARCH_ROOT; at = search->nodes[at].parent)
        depth++;
    return depth;
}

size_t search_behind(const struct search *search, size_t node)
{
    /* Nodes are in depth-first order: what belongs to `node` follows it, and its parents are at or after it. */
    size_t behind = node + 1;
    while (behind < search->count && search->nodes[behind].parent != SEARCH_ROOT &&
           search->nodes[behind].parent >= node)
        behind++;
    return behind;
}

uint64_t search_state_count(const struct search *search, enum search_state state)
{
    uint64_t count = 0;
    for (size_t i = 0; i < search->count; i++) {
        const struct search_node *node = &search->nodes[i];
        count += node->state == state;
        /* Nodes that the search counted without keeping them are in the numbers of their parent. */
        if (state == SEARCH_TRUE)
            count += node->more_true;
        else if (state == SEARCH_FALSE)
            count += node->more_false;
        else if (state == SEARCH_UNKNOWN)
            count += node->more_unknown;
    }
    return count;
}
