/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_HEAP_H
#define SIGHT_CORE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Binary heaps in arrays of any item: the item that comes before all others is at index 0. The caller owns the array
   and its count. Everything is inline and the order is a constant, so that the compiler specialises each use: sizes are
   known and `before` is inlined. */

enum { HEAP_ITEM_MAX = 64 }; /* bytes */

struct heap_order {
    size_t size; /* of an item, up to HEAP_ITEM_MAX */
    bool (*before)(const void *context, const void *left, const void *right);
    /* Called when the item moves to this index; NULL: not needed. */
    void (*moved)(void *context, const void *item, size_t place);
};

#define HEAP_INLINE static inline __attribute__((always_inline))

HEAP_INLINE char *heap_at(void *items, const struct heap_order *order, size_t place)
{
    return (char *)items + place * order->size;
}

HEAP_INLINE void heap_set(void *items, const struct heap_order *order, void *context, size_t place, const void *item)
{
    memcpy(heap_at(items, order, place), item, order->size);
    if (order->moved)
        order->moved(context, item, place);
}

/* The key of the item at `place` has decreased: moves it towards the front. */
HEAP_INLINE void heap_up(void *items, size_t place, const struct heap_order *order, void *context)
{
    _Alignas(max_align_t) char item[HEAP_ITEM_MAX];
    memcpy(item, heap_at(items, order, place), order->size);
    for (; place > 0 && order->before(context, item, heap_at(items, order, (place - 1) / 2)); place = (place - 1) / 2)
        heap_set(items, order, context, place, heap_at(items, order, (place - 1) / 2));
    heap_set(items, order, context, place, item);
}

/* The key of the item at `place` has increased: moves it away from the front. */
HEAP_INLINE void heap_down(void *items, size_t count, size_t place, const struct heap_order *order, void *context)
{
    _Alignas(max_align_t) char item[HEAP_ITEM_MAX];
    memcpy(item, heap_at(items, order, place), order->size);
    for (size_t child; (child = 2 * place + 1) < count; place = child) {
        if (child + 1 < count && order->before(context, heap_at(items, order, child + 1), heap_at(items, order, child)))
            child++;
        if (!order->before(context, heap_at(items, order, child), item))
            break;
        heap_set(items, order, context, place, heap_at(items, order, child));
    }
    heap_set(items, order, context, place, item);
}

/* Turns items in any order into a heap. */
HEAP_INLINE void heap_make(void *items, size_t count, const struct heap_order *order, void *context)
{
    for (size_t place = count / 2; place-- > 0;)
        heap_down(items, count, place, order, context);
}

/* Removes the first item, which the caller has copied; returns the new count. */
HEAP_INLINE size_t heap_drop(void *items, size_t count, const struct heap_order *order, void *context)
{
    if (--count > 0) {
        memcpy(items, heap_at(items, order, count), order->size);
        heap_down(items, count, 0, order, context);
    }
    return count;
}

#endif
