/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/text_index.h"

#include "core/checksum.h"
#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

size_t text_index_put(struct text_index *index, const char *text, bool *added)
{
    /* Hashes that meet go to the next key. */
    uint64_t key = checksum_add(CHECKSUM_START, text, strlen(text)) >> 1;
    *added = false;
    for (const uint64_t *known; (known = map_find(&index->places, key)); key++)
        if (strcmp(index->text[*known], text) == 0)
            return (size_t)*known;
    *added = true;
    map_put(&index->places, key, index->count);
    ARRAY_PUSH(index->text, index->count, index->capacity, memory_copy_string(text));
    return index->count - 1;
}

void text_index_clear(struct text_index *index)
{
    for (size_t i = 0; i < index->count; i++)
        free(index->text[i]);
    free(index->text);
    map_clear(&index->places);
    *index = (struct text_index){0};
}
