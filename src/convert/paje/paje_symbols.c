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

static uint32_t *slot_of(const struct paje_symbols *symbols, struct paje_word word, uint32_t hash)
{
    for (size_t at = hash;; at++) {
        uint32_t *slot = &symbols->slots[at & (symbols->slot_count - 1)];
        if (*slot == 0)
            return slot;
        const struct paje_symbol *symbol = &symbols->symbol[*slot - 1];
        if (symbol->hash == hash && symbol->length == word.length && memcmp(symbol->text, word.at, word.length) == 0)
            return slot;
    }
}

uint32_t paje_symbol_find(const struct paje_symbols *symbols, struct paje_word word)
{
    if (symbols->slot_count == 0)
        return PAJE_NONE;
    uint32_t slot = *slot_of(symbols, word, (uint32_t)paje_word_hash(word, 0));
    return slot == 0 ? PAJE_NONE : slot - 1;
}

static void grow_slots(struct paje_symbols *symbols)
{
    free(symbols->slots);
    symbols->slot_count = symbols->slot_count ? symbols->slot_count * 2 : 64;
    symbols->slots = memory_new(symbols->slot_count * sizeof *symbols->slots);
    for (size_t i = 0; i < symbols->count; i++) {
        size_t at = symbols->symbol[i].hash;
        while (symbols->slots[at & (symbols->slot_count - 1)] != 0)
            at++;
        symbols->slots[at & (symbols->slot_count - 1)] = (uint32_t)i + 1;
    }
}

uint32_t paje_symbol_put(struct paje_symbols *symbols, struct paje_word word)
{
    if ((symbols->count + 1) * 2 > symbols->slot_count)
        grow_slots(symbols);
    uint32_t hash = (uint32_t)paje_word_hash(word, 0), *slot = slot_of(symbols, word, hash);
    if (*slot != 0)
        return *slot - 1;
    if (symbols->count >= PAJE_SYMBOLS_MOST)
        return PAJE_NONE;
    struct paje_symbol symbol = {.text = memory_new((size_t)word.length + 1),
                                 .length = word.length,
                                 .hash = hash,
                                 .container = PAJE_NONE,
                                 .container_named = PAJE_NONE,
                                 .type = PAJE_NONE,
                                 .type_named = PAJE_NONE};
    memcpy(symbol.text, word.at, word.length);
    ARRAY_PUSH(symbols->symbol, symbols->count, symbols->capacity, symbol);
    *slot = (uint32_t)symbols->count;
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
