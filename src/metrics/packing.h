/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_METRICS_PACKING_H
#define SIGHT_METRICS_PACKING_H

#include "core/map.h"

#include <stdbool.h>

/* Results as bytes on their way to another process of the same sight: structs and arrays as they are in memory. */

struct packing {
    char **data; /* an array of ARRAY_RESERVE, that grows */
    size_t *size, *capacity;
};

void packing_put(struct packing *packing, const void *bytes, size_t size);

/* The number of elements, and the elements. */
void packing_put_array(struct packing *packing, const void *array, size_t count, size_t element);
#define PACK_ARRAY(packing, array, count) packing_put_array(packing, array, count, sizeof *(array))

void packing_put_map(struct packing *packing, const struct map *map);

struct unpacking {
    const char *data;
    size_t left;
    bool failed; /* the data ended too early: what was taken since is 0 */
};

void unpacking_take(struct unpacking *unpacking, void *bytes, size_t size);

/* A copy of the array; NULL where it is empty. */
void *unpacking_take_array(struct unpacking *unpacking, size_t *count, size_t *capacity, size_t element);
#define UNPACK_ARRAY(unpacking, array, count, capacity)                                                                \
    ((array) = unpacking_take_array(unpacking, &(count), &(capacity), sizeof *(array)))

/* To be cleared, whether the data ended too early or not. */
void unpacking_take_map(struct unpacking *unpacking, struct map *map);

#endif
