/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/paje/paje_links.h"

#include "core/memory.h"

#include <string.h>

enum { SORT_MEMORY = 16 << 20 };

static struct paje_link_key add_word(struct paje_link_key key, struct paje_word word)
{
    uint64_t hash = paje_word_hash(word, 0);
    key.key = (key.key ^ hash) * UINT64_C(0xD6E8FEB86659FD93);
    key.check = (key.check << 7 | key.check >> 57) + hash;
    return key;
}

struct paje_link_key paje_link_begin(const struct paje_record *record)
{
    static const enum paje_field fields[] = {FIELD_CONTAINER, FIELD_TYPE, FIELD_VALUE};
    struct paje_link_key key = {0};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        key = add_word(key, paje_word_of(record, fields[i]));
    return key;
}

static uint32_t end_new(struct paje_links *links, const struct paje_link_end *end)
{
    uint32_t at = links->spare;
    if (at == 0) {
        ARRAY_PUSH(links->end, links->end_count, links->end_capacity, *end);
        return (uint32_t)links->end_count;
    }
    links->spare = links->end[at - 1].next;
    links->end[at - 1] = *end;
    return at;
}

/* Ends without the other wait for ever (all receives of SimGrid with MPI_ANY_TAG): when there are too many, those
   that wait are forgotten, which costs their partners, not memory. */
static void wait_for_other(struct paje_links *links, uint64_t key, const struct paje_link_end *end)
{
    if (links->chains.count >= PAJE_WAITING_MOST || links->end_count >= 2 * PAJE_WAITING_MOST) {
        map_clear(&links->chains);
        links->end_count = 0;
        links->spare = 0;
    }
    uint32_t at = end_new(links, end);
    uint64_t *chain = map_put(&links->chains, key, 0);
    if (*chain == 0) {
        /* A chain is its first and last end: links that share a key meet in order, first in, first out. */
        *chain = map_pair(at, at);
        return;
    }
    links->end[(uint32_t)*chain - 1].next = at;
    *chain = map_pair((uint32_t)(*chain >> 32), at);
}

/* The first of those that wait, which does so no longer. The place is used again, so that memory follows the number
   of links that are under way, not of all. */
static struct paje_link_end take_first(struct paje_links *links, uint64_t key, uint64_t *chain)
{
    uint32_t first = (uint32_t)(*chain >> 32);
    struct paje_link_end end = links->end[first - 1];
    if (end.next == 0)
        map_remove(&links->chains, key);
    else
        *chain = map_pair(end.next, (uint32_t)*chain);
    links->end[first - 1].next = links->spare;
    links->spare = first;
    return end;
}

static enum status give_end(struct paje_links *links, uint64_t byte, uint32_t container, int64_t bytes,
                            struct error *err)
{
    struct paje_other_end other;
    memset(&other, 0, sizeof other);
    other.container = container;
    other.bytes = bytes;
    return sorter_add(links->sorted, (struct sort_key){.major = byte}, &other, sizeof other, err);
}

/* In the first pass: when the second meets an end, it wants to know the container of the other. */
enum status paje_links_add(struct paje_links *links, const struct paje_record *record, struct paje_link_key begin,
                           uint64_t byte, uint32_t container, int64_t bytes, struct error *err)
{
    struct paje_link_key whole = add_word(begin, paje_word_of(record, FIELD_KEY));
    uint64_t check = whole.check, key = whole.key >> 1; /* a map's key is below UINT64_MAX */
    struct paje_link_end end = {.check = check,
                                .byte = byte,
                                .bytes = bytes,
                                .container = container,
                                .starts = record->def->kind == PAJE_START_LINK};
    if (!links->sorted)
        links->sorted = sorter_new(SORT_MEMORY);
    uint64_t *chain = map_find(&links->chains, key);
    const struct paje_link_end *first = chain ? &links->end[(*chain >> 32) - 1] : NULL;
    /* Two different links with one key of 63 bits: neither is matched wrongly. */
    if (first && first->check != check)
        return STATUS_OK;
    /* A link may end in the file before it starts: clocks of processes differ. */
    if (!first || first->starts == end.starts) {
        wait_for_other(links, key, &end);
        return STATUS_OK;
    }
    struct paje_link_end other = take_first(links, key, chain);
    int64_t size = end.starts ? end.bytes : other.bytes;
    /* Sorted by where the lines stand, so that the second pass finds each as it gets there. */
    if (give_end(links, other.byte, container, size, err) != STATUS_OK)
        return STATUS_FAILED;
    return give_end(links, byte, other.container, size, err);
}

enum status paje_links_sort(struct paje_links *links, struct error *err)
{
    map_clear(&links->chains);
    free(links->end);
    links->end = NULL;
    links->end_count = links->end_capacity = 0;
    /* Without links there is no sorter. */
    links->ended = !links->sorted;
    if (links->sorted)
        return sorter_rewind(links->sorted, err);
    return STATUS_OK;
}

/* Lines that are no links are between: the sorter's head waits for its own byte. */
enum status paje_links_next(struct paje_links *links, uint64_t byte, const struct paje_other_end **other,
                            struct error *err)
{
    *other = NULL;
    while (!links->ended && (!links->has_head || links->head_byte < byte)) {
        struct sort_key key;
        const void *data;
        size_t length;
        enum status status = sorter_next(links->sorted, &key, &data, &length, err);
        if (status == STATUS_FAILED)
            return status;
        links->ended = status == STATUS_END;
        links->has_head = !links->ended;
        if (links->ended)
            break;
        memcpy(&links->head, data, sizeof links->head);
        links->head_byte = key.major;
    }
    if (links->has_head && links->head_byte == byte)
        *other = &links->head;
    return STATUS_OK;
}

void paje_links_clear(struct paje_links *links)
{
    map_clear(&links->chains);
    free(links->end);
    sorter_free(links->sorted);
    *links = (struct paje_links){0};
}
