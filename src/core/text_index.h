/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_TEXT_INDEX_H
#define SIGHT_CORE_TEXT_INDEX_H

#include "core/map.h"

#include <stdbool.h>

/* Numbers for distinct texts, in the order in which they come. A zero-initialised one is empty. */
struct text_index {
    char **text; /* owned */
    size_t count, capacity;
    struct map places; /* internal: hash -> number */
};

/* The number of a text; *added: it is new, and has the next one. */
size_t text_index_put(struct text_index *index, const char *text, bool *added);
void text_index_clear(struct text_index *index);

#endif
