/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/paje/paje_known.h"

#include "convert/paje/paje_words.h"
#include "core/memory.h"

/* Parts overlap where the text is shorter than they are together. */
static inline void set_parts(uint64_t part[PAJE_KNOWN_MOST / 8], struct paje_word text)
{
    const char *last = text.at + text.length;
    bool one = text.length <= 8, long_one = text.length > 16;
    part[0] = one ? paje_word_pack(text) : take_eight(text.at);
    part[1] = one ? 0 : take_eight(last - 8);
    part[2] = long_one ? take_eight(text.at + 8) : 0;
    part[3] = long_one ? take_eight(last - 16) : 0;
}

static inline uint64_t turned(uint64_t number, unsigned bits)
{
    return number << bits | number >> (64 - bits);
}

/* A product carries upwards only: on its highest bits all bytes have an influence. */
static inline struct paje_known *place_of(struct paje_known_lines *lines, const struct paje_known *wanted)
{
    const uint64_t *part = wanted->part;
    uint64_t hash = part[0] ^ turned(part[1], 29) ^ turned(part[2], 13) ^ turned(part[3], 47);
    hash = (hash ^ (wanted->def->id + (uint64_t)wanted->length)) * UINT64_C(0x9E3779B97F4A7C15);
    return &lines->line[hash >> (64 - PAJE_KNOWN_BITS)];
}

static inline bool is_same(const struct paje_known *a, const struct paje_known *b)
{
    uint64_t differ = 0;
    for (size_t i = 0; i < PAJE_KNOWN_MOST / 8; i++)
        differ |= a->part[i] ^ b->part[i];
    return differ == 0 && a->length == b->length && a->def == b->def && a->age == b->age;
}

/* Only states: links have keys of their own, variables values. */
static bool can_be_known(const struct paje_event_def *def)
{
    return def->kind >= PAJE_SET_STATE && def->kind <= PAJE_RESET_STATE && def->field_count > 0 &&
           def->field[0] == FIELD_TIME;
}

const struct paje_known *paje_known_find(struct paje_known_lines *lines, struct paje_record *record, const char *at,
                                         const char *end)
{
    struct paje_known *wanted = &lines->wanted;
    struct paje_word time;
    wanted->length = 0;
    if (!can_be_known(record->def) || !take_word(&at, end, &time) || end - at > PAJE_KNOWN_MOST || end == at)
        return NULL;
    if (!lines->line)
        lines->line = memory_new(PAJE_KNOWN_LINES * sizeof *lines->line);
    wanted->def = record->def;
    wanted->length = (uint32_t)(end - at);
    wanted->age = lines->age;
    set_parts(wanted->part, (struct paje_word){at, wanted->length});
    const struct paje_known *known = place_of(lines, wanted);
    if (!is_same(known, wanted))
        return NULL;
    record->word[FIELD_TIME] = time;
    record->has = 1u << FIELD_TIME;
    return known;
}

void paje_known_keep(struct paje_known_lines *lines, uint32_t lane, uint32_t state)
{
    struct paje_known *wanted = &lines->wanted;
    if (wanted->length == 0)
        return;
    wanted->lane = lane;
    wanted->state = state;
    *place_of(lines, wanted) = *wanted;
}
