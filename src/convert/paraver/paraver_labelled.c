/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/paraver/paraver_labelled.h"

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What Extrae says of itself and of the whole run: application, initialization and flushing of the trace. */
enum { TYPE_APPLICATION = 40000001, TYPE_FLUSHING = 40000003 };

/* Of a thread: values that have begun and not ended, and whether the last one was not 0. */
enum { OPEN_NOW = 1, OPEN_ONE = 2 };

/* "CUDA kernel line" beside "CUDA kernel". */
static bool names_lines(const struct paraver_labels *labels, uint64_t type)
{
    enum { LINE_OF = 100 };
    const char *label = paraver_type_label(labels, type);
    return label && strcasestr(label, "line") && type > LINE_OF && paraver_type_label(labels, type - LINE_OF);
}

static size_t index_of(struct paraver_labelled *labelled, const struct paraver_labels *labels, uint64_t type)
{
    uint64_t *index = map_put(&labelled->types, type, UINT64_MAX);
    if (*index != UINT64_MAX)
        return *index;
    bool itself = type >= TYPE_APPLICATION && type <= TYPE_FLUSHING;
    *index = 0;
    if (itself || !paraver_value_label(labels, type, 0) || names_lines(labels, type))
        return 0;
    ARRAY_PUSH(labelled->type, labelled->count, labelled->capacity, (struct paraver_labelled_type){0});
    return *index = labelled->count;
}

bool paraver_labelled_take(struct paraver_labelled *labelled, const struct paraver_labels *labels,
                           const struct paraver_pair *pair, const struct paraver_place *place)
{
    if (!labels->has_pcf || pair->type >= UINT32_MAX)
        return false;
    size_t index = index_of(labelled, labels, pair->type);
    if (index == 0)
        return false;
    struct paraver_labelled_type *type = &labelled->type[index - 1];
    type->plain |= !paraver_value_label(labels, pair->type, pair->value);
    uint64_t thread =
        *map_put(&labelled->threads, map_pair(place->process, place->thread), (uint64_t)labelled->threads.count);
    uint64_t *open = map_put(&labelled->open, map_pair((uint32_t)index, (uint32_t)thread), 0);
    if (pair->value != 0) {
        *open = (*open + OPEN_ONE) | OPEN_NOW;
    } else {
        /* If each value ended the one before, there would be nothing to end. */
        type->nests |= !(*open & OPEN_NOW) && *open >= OPEN_ONE;
        *open = (*open >= OPEN_ONE ? *open - OPEN_ONE : 0) & ~(uint64_t)OPEN_NOW;
    }
    return !type->plain;
}

static const struct paraver_labelled_type *type_of(const struct paraver_labelled *labelled, uint64_t type)
{
    /* In most traces there is none. */
    const uint64_t *index = labelled->count > 0 ? map_find(&labelled->types, type) : NULL;
    return index && *index > 0 ? &labelled->type[*index - 1] : NULL;
}

bool paraver_labelled_is(const struct paraver_labelled *labelled, const struct paraver_pair *pair)
{
    const struct paraver_labelled_type *type = type_of(labelled, pair->type);
    return type && !type->plain;
}

bool paraver_labelled_replaces(const struct paraver_labelled *labelled, uint64_t type)
{
    const struct paraver_labelled_type *found = type_of(labelled, type);
    return found && !found->nests;
}

void paraver_labelled_clear(struct paraver_labelled *labelled)
{
    free(labelled->type);
    map_clear(&labelled->types);
    map_clear(&labelled->threads);
    map_clear(&labelled->open);
    *labelled = (struct paraver_labelled){0};
}
