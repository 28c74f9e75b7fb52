/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_PAJE_SYMBOLS_H
#define SIGHT_CONVERT_PAJE_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/* The texts by which a trace calls its types, containers and values, each once, and what they stand for. */

enum { PAJE_NONE = UINT32_MAX, PAJE_SYMBOLS_MOST = 1 << 22 };

/* A word of a line: borrowed, without quotes. */
struct paje_word {
    const char *at;
    uint32_t length;
};

struct paje_symbol {
    char *text;
    uint32_t length;
    uint32_t container, container_named; /* the one of this alias, and of this name; PAJE_NONE */
    uint32_t type, type_named;           /* the same of types */
};

/* Words of up to 8 bytes stand in the slot themselves, of others their hash. */
struct paje_slot {
    uint64_t packed;
    uint32_t length, index; /* index: 1 + that of the symbol; 0: the slot is free */
};

struct paje_symbols {
    struct paje_symbol *symbol;
    size_t count, capacity;
    struct paje_slot *slots;
    size_t slot_count;
};

/* Index of the word; PAJE_NONE if it has never been put there, or (put) if there are too many. */
uint32_t paje_symbol_find(const struct paje_symbols *symbols, struct paje_word word);
uint32_t paje_symbol_put(struct paje_symbols *symbols, struct paje_word word);
void paje_symbols_clear(struct paje_symbols *symbols);

/* A word of up to 8 bytes as a number, which together with its length says all of it; a hash of a longer one. */
uint64_t paje_word_pack(struct paje_word word);

uint64_t paje_word_hash(struct paje_word word, uint64_t seed);

#endif
