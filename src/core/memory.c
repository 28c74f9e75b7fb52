/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/memory.h"

#include <string.h>

static void (*memory_handler)(void);

void memory_set_handler(void (*out_of_memory)(void))
{
    memory_handler = out_of_memory;
}

void memory_failed(void)
{
    if (memory_handler)
        memory_handler();
    abort();
}

void *memory_new(size_t size)
{
    /* malloc(0) may be NULL, which here means that memory has run out. */
    void *block = calloc(1, size ? size : 1);
    if (!block)
        memory_failed();
    return block;
}

void *memory_resize(void *block, size_t size)
{
    void *resized = realloc(block, size ? size : 1);
    if (!resized)
        memory_failed();
    return resized;
}

char *memory_copy_string(const char *text)
{
    if (!text)
        return NULL;
    size_t size = strlen(text) + 1;
    return memcpy(memory_resize(NULL, size), text, size);
}

void *memory_grow(void *block, size_t *capacity, size_t element_size, size_t wanted)
{
    /* Doubling: growing by ones copies no more than twice what is there in the end. */
    size_t grown = *capacity ? *capacity : 8;
    while (grown < wanted) {
        if (grown > SIZE_MAX / 2)
            memory_failed();
        grown *= 2;
    }
    /* An overflow would ask for a small block that the caller takes for a large one. */
    size_t bytes;
    if (__builtin_mul_overflow(grown, element_size, &bytes))
        memory_failed();
    *capacity = grown;
    return memory_resize(block, bytes);
}
