/* SPDX-License-Identifier: BSD-3-Clause */
/* Heaps against the smallest of a plain array, with items that are added, taken and moved at random. */
#include "core/heap.h"

#include "unit/random.h"
#include "unit/tap.h"

#include <stdint.h>

enum { KEYS = 300, STEPS = 50000 };

struct item {
    int64_t key;
    uint32_t name;
};

static bool item_before(const void *context, const void *left_item, const void *right_item)
{
    const struct item *left = left_item, *right = right_item;
    (void)context;
    return left->key != right->key ? left->key < right->key : left->name < right->name;
}

static void note_place(void *context, const void *item, size_t place)
{
    ((size_t *)context)[((const struct item *)item)->name] = place;
}

static const struct heap_order BY_KEY = {sizeof(struct item), item_before, note_place};

/* How many items are not at the place that was noted for them, or come before the item above them. */
static uint64_t disorder(const struct item *heap, size_t count, const size_t *places)
{
    uint64_t wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += places[heap[i].name] != i || (i > 0 && item_before(NULL, &heap[i], &heap[(i - 1) / 2]));
    return wrong;
}

/* The name that comes first among those that are in; KEYS: none. */
static uint32_t first_of(const bool *in, const int64_t *keys)
{
    uint32_t first = KEYS;
    for (uint32_t name = 0; name < KEYS; name++)
        if (in[name] && (first == KEYS || keys[name] < keys[first]))
            first = name;
    return first;
}

static void test_steps(void)
{
    static struct item heap[KEYS];
    static size_t places[KEYS];
    static bool in[KEYS];
    static int64_t keys[KEYS];
    uint64_t wrong = 0;
    size_t count = 0;
    for (int step = 0; step < STEPS; step++) {
        uint64_t choice = random_number();
        uint32_t name = (uint32_t)(choice >> 32) % KEYS;
        if (choice % 8 < 3 && count > 0) {
            wrong += heap[0].name != first_of(in, keys);
            in[heap[0].name] = false;
            count = heap_drop(heap, count, &BY_KEY, places);
        } else if (!in[name]) {
            keys[name] = (int64_t)(choice >> 8 & 63);
            heap[count] = (struct item){keys[name], name};
            in[name] = true;
            heap_up(heap, count++, &BY_KEY, places);
        } else {
            int64_t before = keys[name];
            heap[places[name]].key = keys[name] = (int64_t)(choice >> 8 & 63);
            if (keys[name] < before)
                heap_up(heap, places[name], &BY_KEY, places);
            else
                heap_down(heap, count, places[name], &BY_KEY, places);
        }
        wrong += step % 64 == 0 ? disorder(heap, count, places) : 0;
    }
    tap_equal_int((long long)wrong, 0, "the first item is the smallest, and all places are noted");
}

static void test_make(void)
{
    struct item heap[] = {{5, 0}, {3, 1}, {3, 2}, {9, 3}, {1, 4}, {4, 5}, {1, 6}};
    size_t count = sizeof heap / sizeof *heap, places[sizeof heap / sizeof *heap], at = 0;
    static const uint32_t sorted[] = {4, 6, 1, 2, 5, 0, 3};
    for (size_t i = 0; i < count; i++)
        places[i] = i;
    heap_make(heap, count, &BY_KEY, places);
    uint64_t wrong = disorder(heap, count, places);
    for (; count > 0; count = heap_drop(heap, count, &BY_KEY, places))
        wrong += heap[0].name != sorted[at++];
    tap_equal_int((long long)wrong, 0, "an array becomes a heap, and is taken in order");
    heap_make(heap, 0, &BY_KEY, places);
    tap_equal_int((long long)heap[0].name, 3, "nothing happens to an empty heap");
}

int main(void)
{
    test_steps();
    test_make();
    return tap_done();
}
