/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/packing.h"

#include "core/memory.h"

#include <stdint.h>
#include <string.h>

void packing_put(struct packing *packing, const void *bytes, size_t size)
{
    ARRAY_RESERVE(*packing->data, *packing->capacity, *packing->size + size);
    /* memcpy must not get NULL, even for no bytes. */
    if (size > 0)
        memcpy(*packing->data + *packing->size, bytes, size);
    *packing->size += size;
}

void packing_put_array(struct packing *packing, const void *array, size_t count, size_t element)
{
    uint64_t number = count;
    packing_put(packing, &number, sizeof number);
    packing_put(packing, array, count * element);
}

void packing_put_map(struct packing *packing, const struct map *map)
{
    PACK_ARRAY(packing, map->entries, map->capacity);
    packing_put(packing, &map->count, sizeof map->count);
}

void unpacking_take(struct unpacking *unpacking, void *bytes, size_t size)
{
    if (unpacking->failed || size > unpacking->left) {
        unpacking->failed = true;
        /* Zeros, so that whatever is read after the end of the data is a valid number; the caller looks at `failed`. */
        memset(bytes, 0, size);
        return;
    }
    memcpy(bytes, unpacking->data, size);
    unpacking->data += size;
    unpacking->left -= size;
}

void *unpacking_take_array(struct unpacking *unpacking, size_t *count, size_t *capacity, size_t element)
{
    uint64_t number;
    unpacking_take(unpacking, &number, sizeof number);
    /* Before anything is allocated: a count must fit into the data that are left. */
    if (number > unpacking->left / element) {
        unpacking->failed = true;
        number = 0;
    }
    *count = *capacity = (size_t)number;
    if (number == 0)
        return NULL;
    void *array = memory_new((size_t)number * element);
    unpacking_take(unpacking, array, (size_t)number * element);
    return array;
}

void unpacking_take_map(struct unpacking *unpacking, struct map *map)
{
    size_t count;
    UNPACK_ARRAY(unpacking, map->entries, count, map->capacity);
    unpacking_take(unpacking, &map->count, sizeof map->count);
}
