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

static const struct memory_store *_Atomic store;
static void (*_Atomic watch)(void);

/* Blocks that are worth a look at how much memory there is. */
enum { WATCHED = 1 << 20 };

void memory_set_store(const struct memory_store *place)
{
    atomic_store(&store, place);
}

bool memory_has_store(void)
{
    return atomic_load_explicit(&store, memory_order_acquire) != NULL;
}

void memory_set_watch(void (*called)(void))
{
    atomic_store(&watch, called);
}

static const struct memory_store *store_of(const void *address)
{
    const struct memory_store *place = atomic_load_explicit(&store, memory_order_acquire);
    bool within = place && (uintptr_t)address >= place->begin && (uintptr_t)address < place->end;
    return within ? place : NULL;
}

bool memory_is_stored(const void *address)
{
    return store_of(address) != NULL;
}

/* Where a block of so many bytes goes; NULL: into the heap. */
static const struct memory_store *store_for(size_t size)
{
    const struct memory_store *place = atomic_load_explicit(&store, memory_order_acquire);
    if (!place && size >= WATCHED) {
        void (*look)(void) = atomic_load_explicit(&watch, memory_order_acquire);
        if (look)
            look();
        place = atomic_load_explicit(&store, memory_order_acquire);
    }
    return place && size >= place->least ? place : NULL;
}

void memory_free(void *block)
{
    const struct memory_store *place = store_of(block);
    if (place)
        place->give(block);
    else
        (free)(block);
}

static void *heap_resize(void *block, size_t size)
{
    void *resized = realloc(block, size ? size : 1);
    if (!resized)
        memory_failed();
    want_large_pages(resized, size);
    return resized;
}

void *memory_new(size_t size)
{
    const struct memory_store *place = store_for(size);
    void *stored = place ? place->get(size) : NULL;
    if (stored)
        return stored;
    /* malloc(0) may be NULL, which here means that memory has run out. */
    void *block = calloc(1, size ? size : 1);
    if (!block)
        memory_failed();
    want_large_pages(block, size);
    return block;
}

/* NULL: the block stays in the heap. */
static void *move_to_store(const struct memory_store *place, void *block, size_t size)
{
    void *moved = place->get(size);
    if (!moved)
        return NULL;
    if (block)
        memcpy(moved, block, smaller(size, malloc_usable_size(block)));
    (free)(block);
    return moved;
}

static void *resize_stored(const struct memory_store *place, void *block, size_t size)
{
    void *resized = place->resize(block, size);
    if (resized)
        return resized;
    resized = heap_resize(NULL, size);
    memcpy(resized, block, smaller(size, place->size(block)));
    place->give(block);
    return resized;
}

void *memory_resize(void *block, size_t size)
{
    const struct memory_store *place = store_of(block);
    if (place)
        return resize_stored(place, block, size);
    place = store_for(size);
    void *moved = place ? move_to_store(place, block, size) : NULL;
    return moved ? moved : heap_resize(block, size);
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
