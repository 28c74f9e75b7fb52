/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/sort_entries.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <string.h>

enum {
    MAJORS_MAX = 8192, /* majors that are counted instead of compared */
    SHORT_RUN = 24     /* runs shorter than this are lengthened by insertion before merging */
};

static void insertion_sort(struct sort_entry *entries, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct sort_entry entry = entries[i];
        size_t to = i;
        for (; to > 0 && sort_key_less(entry.key, entries[to - 1].key); to--)
            entries[to] = entries[to - 1];
        entries[to] = entry;
    }
}

static void merge_neighbours(struct sort_entry *to, const struct sort_entry *left, const struct sort_entry *middle,
                             const struct sort_entry *end)
{
    const struct sort_entry *right = middle;
    /* Where the pieces follow each other in order already, both copies below are all there is to do. */
    if (right < end && sort_key_less(right->key, middle[-1].key))
        while (left < middle && right < end) {
            /* Only a smaller key of the right piece goes first: equal keys keep the order in which they were added. */
            bool take_right = sort_key_less(right->key, left->key);
            *to++ = *(take_right ? right : left);
            right += take_right;
            left += !take_right;
        }
    memcpy(to, left, (size_t)(middle - left) * sizeof *to);
    to += middle - left;
    memcpy(to, right, (size_t)(end - right) * sizeof *to);
}

static size_t ordered_length(const struct sort_entry *entries, size_t count)
{
    size_t length = 1;
    while (length < count && !sort_key_less(entries[length].key, entries[length - 1].key))
        length++;
    return length;
}

/* Merges the pieces that are already in order. Traces come as long ordered pieces, one per process. Returns where the
   result is: `entries` or `scratch`. */
static struct sort_entry *merge_sort(struct sort_entry *entries, struct sort_entry *scratch, size_t count)
{
    size_t *ends = NULL, pieces = 0, capacity = 0;
    for (size_t at = 0; at < count;) {
        size_t length = ordered_length(entries + at, count - at);
        if (length < SHORT_RUN) {
            length = smaller(count - at, (size_t)SHORT_RUN);
            insertion_sort(entries + at, length);
        }
        at += length;
        ARRAY_PUSH(ends, pieces, capacity, at);
    }
    while (pieces > 1) {
        size_t merged = 0, begin = 0;
        for (size_t i = 0; i < pieces; i += 2) {
            size_t end = i + 1 < pieces ? ends[i + 1] : ends[i];
            merge_neighbours(scratch + begin, entries + begin, entries + ends[i], entries + end);
            begin = ends[merged++] = end;
        }
        pieces = merged;
        struct sort_entry *swap = entries;
        entries = scratch;
        scratch = swap;
    }
    free(ends);
    return entries;
}

/* Distributes by major if these are few small numbers (processes), and sorts only the majors whose entries did not
   arrive in order. The result is in `scratch`. False: the majors are too many or too large. */
static bool distribute(struct sort_entry *entries, struct sort_entry *scratch, size_t count)
{
    uint64_t low = UINT64_MAX, high = 0;
    for (size_t i = 0; i < count; i++) {
        low = smaller(low, entries[i].key.major);
        high = larger(high, entries[i].key.major);
    }
    /* One major only: nothing to distribute. More majors than entries: counting would cost more than comparing. */
    bool one_or_none = low >= high;
    if (one_or_none || high - low >= MAJORS_MAX || high - low > count)
        return false;
    size_t majors = (size_t)(high - low) + 1;
    uint32_t *ends = memory_new(majors * sizeof *ends);
    for (size_t i = 0; i < count; i++)
        ends[entries[i].key.major - low]++;
    /* From here on, ends[i] is where the next entry of major i goes; after the last one, it is where the major ends. */
    uint32_t sum = 0;
    for (size_t i = 0; i < majors; i++) {
        uint32_t here = ends[i];
        ends[i] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++)
        scratch[ends[entries[i].key.major - low]++] = entries[i];
    for (size_t i = 0, begin = 0; i < majors; begin = ends[i++]) {
        size_t length = ends[i] - begin;
        if (!length || ordered_length(scratch + begin, length) == length)
            continue;
        struct sort_entry *result = merge_sort(scratch + begin, entries + begin, length);
        if (result != scratch + begin)
            memcpy(scratch + begin, result, length * sizeof *result);
    }
    free(ends);
    return true;
}

struct sort_entry *sort_entries(struct sort_entry *entries, struct sort_entry *scratch, size_t count)
{
    if (distribute(entries, scratch, count))
        return scratch;
    return merge_sort(entries, scratch, count);
}
