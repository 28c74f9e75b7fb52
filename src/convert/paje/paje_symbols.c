/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/paje/paje_symbols.h"

#include "core/memory.h"

#include <string.h>

uint64_t paje_word_hash(struct paje_word word, uint64_t seed)
{
    uint64_t hash = seed ^ word.length, piece;
    size_t left = word.length;
    const char *at = word.at;
    for (; left >= 8; at += 8, left -= 8) {
        memcpy(&piece, at, 8);
        hash = (hash ^ piece) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
    }
    piece = 0;
    for (size_t i = 0; i < left; i++)
        piece = piece << 8 | (unsigned char)at[i];
    hash = (hash ^ piece) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

/* Words of up to eight bytes as one number, which is all that they are compared by: nearly all aliases are that short.
   Their two ends overlap where they are shorter; together with the length they say all. */
static inline uint64_t pack(struct paje_word word)
{
    uint32_t first = 0, last = 0;
    uint16_t two = 0, end = 0;
    if (word.length > 2 * sizeof first)
        return paje_word_hash(word, 0);
    if (word.length >= sizeof first) {
        memcpy(&first, word.at, sizeof first);
        memcpy(&last, word.at + word.length - sizeof last, sizeof last);
        return (uint64_t)last << 32 | first;
    }
    if (word.length >= sizeof two) {
        memcpy(&two, word.at, sizeof two);
        memcpy(&end, word.at + word.length - sizeof end, sizeof end);
        return (uint64_t)end << 32 | two;
    }
    if (word.length > 0)
        return (unsigned char)*word.at;
    return 0;
}

uint64_t paje_word_pack(struct paje_word word)
{
    return pack(word);
}

static inline size_t place_of(uint64_t packed, uint32_t length)
{
    return (size_t)(((packed + length) * UINT64_C(0x9E3779B97F4A7C15)) >> 32);
}

/* The slot of a word, or the free one where it would be. */
static inline struct paje_slot *slot_of(const struct paje_symbols *symbols, struct paje_word word, uint64_t packed)
{
    for (size_t at = place_of(packed, word.length);; at++) {
        struct paje_slot *slot = &symbols->slots[at & (symbols->slot_count - 1)];
        /* Less than half of the slots are in use (paje_symbol_put): a free one always comes. */
        if (slot->index == 0)
            return slot;
        if (slot->packed == packed && slot->length == word.length &&
            (word.length <= sizeof packed || memcmp(symbols->symbol[slot->index - 1].text, word.at, word.length) == 0))
            return slot;
    }
}

uint32_t paje_symbol_find(const struct paje_symbols *symbols, struct paje_word word)
{
    if (symbols->slot_count == 0)
        return PAJE_NONE;
    return slot_of(symbols, word, pack(word))->index - 1; /* PAJE_NONE of a free one */
}

/* Slots hold what is needed to move them: no text is looked at. */
static void grow_slots(struct paje_symbols *symbols)
{
    struct paje_slot *old = symbols->slots;
    size_t old_count = symbols->slot_count;
    symbols->slot_count = old_count ? old_count * 2 : 64;
    symbols->slots = memory_new(symbols->slot_count * sizeof *symbols->slots);
    for (size_t i = 0; i < old_count; i++) {
        if (old[i].index == 0)
            continue;
        size_t at = place_of(old[i].packed, old[i].length);
        while (symbols->slots[at & (symbols->slot_count - 1)].index != 0)
            at++;
        symbols->slots[at & (symbols->slot_count - 1)] = old[i];
    }
    free(old);
}

uint32_t paje_symbol_put(struct paje_symbols *symbols, struct paje_word word)
{
    if ((symbols->count + 1) * 2 > symbols->slot_count)
        grow_slots(symbols);
    uint64_t packed = pack(word);
    struct paje_slot *slot = slot_of(symbols, word, packed);
    if (slot->index != 0)
        return slot->index - 1;
    if (symbols->count >= PAJE_SYMBOLS_MOST)
        return PAJE_NONE;
    struct paje_symbol symbol = {.text = memory_new((size_t)word.length + 1),
                                 .length = word.length,
                                 .container = PAJE_NONE,
                                 .container_named = PAJE_NONE,
                                 .type = PAJE_NONE,
                                 .type_named = PAJE_NONE};
    memcpy(symbol.text, word.at, word.length);
    ARRAY_PUSH(symbols->symbol, symbols->count, symbols->capacity, symbol);
    *slot = (struct paje_slot){.packed = packed, .length = word.length, .index = (uint32_t)symbols->count};
    return (uint32_t)symbols->count - 1;
}

void paje_symbols_clear(struct paje_symbols *symbols)
{
    for (size_t i = 0; i < symbols->count; i++)
        free(symbols->symbol[i].text);
    free(symbols->symbol);
    free(symbols->slots);
    *symbols = (struct paje_symbols){0};
}
