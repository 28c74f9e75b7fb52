/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/memory.h"

#include "core/numbers.h"

#include <malloc.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

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

#ifdef M_MMAP_THRESHOLD
static bool map_large;
static atomic_uint keepers;

static void set_limits(int mapped_from, int kept)
{
    mallopt(M_MMAP_THRESHOLD, mapped_from);
    mallopt(M_TRIM_THRESHOLD, kept);
}

void memory_map_large(void)
{
    map_large = true;
    set_limits(1 << 20, 128 << 10);
}

void memory_keep_freed(bool keep)
{
    /* The first keeper sets the limits, the last one resets them. */
    bool changes = keep ? atomic_fetch_add(&keepers, 1) == 0 : atomic_fetch_sub(&keepers, 1) == 1;
    if (!map_large || !changes)
        return;
    if (keep)
        set_limits(8 << 20, 16 << 20);
    else
        set_limits(1 << 20, 128 << 10);
}

/* Whole pages: the head of a mapped block is before it, and only what is one mapping can grow. */
static void want_large_pages(void *block, size_t size)
{
    enum { LEAST = 4 << 20, PAGE = 4096 };
    if (!map_large || size < LEAST)
        return;
    uintptr_t begin = (uintptr_t)block / PAGE * PAGE, end = ((uintptr_t)block + size + PAGE - 1) / PAGE * PAGE;
    (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE); /* a hint: nothing is lost without */
}
#else
static void want_large_pages(void *block, size_t size)
{
    (void)block;
    (void)size;
}

void memory_map_large(void)
{
}

void memory_keep_freed(bool keep)
{
    (void)keep;
}
#endif

static const struct memory_store *store;

void memory_set_store(const struct memory_store *place)
{
    store = place;
}

bool memory_has_store(void)
{
    return store != NULL;
}

bool memory_is_stored(const void *address)
{
    return store && (uintptr_t)address >= store->begin && (uintptr_t)address < store->end;
}

void memory_free(void *block)
{
    if (memory_is_stored(block))
        store->give(block);
    else
        (free)(block);
}

void *memory_new(size_t size)
{
    if (store && size >= store->least)
        return store->get(size);
    /* malloc(0) may be NULL, which here means that memory has run out. */
    void *block = calloc(1, size ? size : 1);
    if (!block)
        memory_failed();
    want_large_pages(block, size);
    return block;
}

static void *move_to_store(void *block, size_t size)
{
    void *moved = store->get(size);
    if (block)
        memcpy(moved, block, smaller(size, malloc_usable_size(block)));
    (free)(block);
    return moved;
}

void *memory_resize(void *block, size_t size)
{
    if (memory_is_stored(block))
        return store->resize(block, size);
    if (store && size >= store->least)
        return move_to_store(block, size);
    void *resized = realloc(block, size ? size : 1);
    if (!resized)
        memory_failed();
    want_large_pages(resized, size);
    return resized;
}

void *memory_copy(const void *from, size_t size)
{
    void *copy = memory_resize(NULL, size);
    if (size > 0)
        memcpy(copy, from, size);
    return copy;
}

char *memory_copy_string(const char *text)
{
    if (!text)
        return NULL;
    return memory_copy(text, strlen(text) + 1);
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
