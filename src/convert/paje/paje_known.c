/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/paje/paje_known.h"

#include "convert/paje/paje_words.h"
#include "core/memory.h"

/* By value: what is stored to memory in pieces of 8 bytes and loaded at once in larger ones takes long. */
struct parts {
    uint64_t a, b, c, d;
};

/* Parts overlap where the text is shorter than they are together. */
static inline struct parts parts_of(struct paje_word text)
{
    const char *last = text.at + text.length;
    struct parts parts = {0};
    if (text.length <= 8) {
        parts.a = paje_word_pack(text);
        return parts;
    }
    parts.a = text_eight(text.at);
    parts.b = text_eight(last - 8);
    if (text.length > 16) {
        parts.c = text_eight(text.at + 8);
        parts.d = text_eight(last - 16);
    }
    return parts;
}

static inline uint64_t turned(uint64_t number, unsigned bits)
{
    return number << bits | number >> (64 - bits);
}

/* A product carries upwards only: on its highest bits all bytes have an influence. */
static inline size_t place_of(const struct parts *parts, const struct paje_event_def *def, uint32_t length)
{
    uint64_t hash = parts->a ^ turned(parts->b, 29) ^ turned(parts->c, 13) ^ turned(parts->d, 47);
    hash = (hash ^ (def->id + (uint64_t)length)) * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(hash >> (64 - PAJE_KNOWN_BITS));
}

static inline bool has_parts(const struct paje_known *known, const struct parts *parts)
{
    return ((known->part[0] ^ parts->a) | (known->part[1] ^ parts->b) | (known->part[2] ^ parts->c) |
            (known->part[3] ^ parts->d)) == 0;
}

/* States and links: variables have values. */
static bool can_be_known(const struct paje_event_def *def)
{
    return def->kind >= PAJE_SET_STATE && def->kind <= PAJE_END_LINK && def->field_count > 0 &&
           def->field[0] == FIELD_TIME;
}

static bool is_link(const struct paje_event_def *def)
{
    return def->kind > PAJE_RESET_STATE;
}

/* What of a link is like other links: all before its key, which all writers give in quotes. */
static const char *end_of_known(const struct paje_event_def *def, const char *at, const char *end)
{
    if (!is_link(def))
        return end;
    if (def->key_at == 0)
        return at;
    const char *quote = memchr(at, '"', (size_t)(end - at));
    return quote ? quote : at;
}

const struct paje_known *paje_known_find(struct paje_known_lines *lines, struct paje_record *record, const char *at,
                                         const char *end)
{
    struct paje_known *wanted = &lines->wanted;
    struct paje_word time;
    const char *line_end = end;
    wanted->length = 0;
    if (!can_be_known(record->def) || !take_word(&at, end, &time))
        return NULL;
    lines->rest = end = end_of_known(record->def, at, end);
    if (end - at > PAJE_KNOWN_MOST || end == at)
        return NULL;
    if (!lines->line)
        lines->line = memory_new(PAJE_KNOWN_LINES * sizeof *lines->line);
    uint32_t length = (uint32_t)(end - at);
    struct parts parts = parts_of((struct paje_word){at, length});
    size_t place = place_of(&parts, record->def, length);
    const struct paje_known *known = &lines->line[place];
    if (!has_parts(known, &parts) || known->length != length || known->def != record->def || known->age != lines->age) {
        lines->place = place;
        *wanted = (struct paje_known){
            .part = {parts.a, parts.b, parts.c, parts.d}, .def = record->def, .length = length, .age = lines->age};
        return NULL;
    }
    record->word[FIELD_TIME] = time;
    record->has = 1u << FIELD_TIME;
    if (is_link(record->def))
        paje_record_rest(record, record->def->key_at, end, line_end);
    return known;
}

void paje_known_keep(struct paje_known_lines *lines, uint32_t lane, uint32_t state)
{
    struct paje_known *wanted = &lines->wanted;
    if (wanted->length == 0)
        return;
    wanted->lane = lane;
    wanted->state = state;
    lines->line[lines->place] = *wanted;
}

void paje_known_keep_link(struct paje_known_lines *lines, const struct paje_record *record, uint32_t container,
                          struct paje_link_key begin)
{
    /* A quote before that of the key belongs to another word. */
    if (lines->wanted.length == 0 || record->word[FIELD_KEY].at != lines->rest + 1)
        return;
    lines->wanted.begin = begin;
    paje_known_keep(lines, container, PAJE_NONE);
}
