/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/paje/paje_record.h"

#include "convert/paje/paje_words.h"
#include "convert/text_lines.h"
#include "core/event.h"
#include "core/memory.h"

#include <stdio.h>
#include <string.h>

#define NEEDS(field) 1u << FIELD_##field
static const struct {
    const char *name;
    uint32_t needs;
} kinds[] = {
#define PAJE_KIND_ROW(name, spelling, needs) {spelling, needs},
    PAJE_KINDS(PAJE_KIND_ROW)
#undef PAJE_KIND_ROW
};

/* Fields by name, those of today and those of Pajé's first specification. */
static const struct {
    const char *name;
    enum paje_field role;
} fields[] = {{"Time", FIELD_TIME},
              {"Date", FIELD_TIME},
              {"Alias", FIELD_ALIAS},
              {"NewType", FIELD_ALIAS},
              {"NewContainer", FIELD_ALIAS},
              {"NewValue", FIELD_ALIAS},
              {"Type", FIELD_TYPE},
              {"ContainerType", FIELD_TYPE},
              {"EntityType", FIELD_TYPE},
              {"NewContainerType", FIELD_TYPE},
              {"Name", FIELD_NAME},
              {"NewName", FIELD_NAME},
              {"Container", FIELD_CONTAINER},
              {"Value", FIELD_VALUE},
              {"StartContainer", FIELD_END},
              {"EndContainer", FIELD_END},
              {"SourceContainer", FIELD_END},
              {"DestContainer", FIELD_END},
              {"Key", FIELD_KEY},
              {"Size", FIELD_SIZE}};

static bool word_is(struct paje_word word, const char *text)
{
    return word.length == strlen(text) && memcmp(word.at, text, word.length) == 0;
}

static inline bool word_id(struct paje_word word, uint32_t *id)
{
    uint64_t number;
    const char *at = word.at, *end = word.at + word.length;
    if (!text_take_u64(&at, end, &number) || at != end || number >= PAJE_NONE)
        return false;
    *id = (uint32_t)number;
    return true;
}

/* A number of one or two digits, without anything before it: those of nearly all lines. False: it is something else,
   and nothing has been taken. */
static inline bool take_id(const char **at, const char *end, uint32_t *id)
{
    const char *digit = *at;
    if (end - digit < 3 || *digit < '0' || *digit > '9')
        return false;
    *id = (uint32_t)(*digit++ - '0');
    if (*digit >= '0' && *digit <= '9')
        *id = *id * 10 + (uint32_t)(*digit++ - '0');
    if (!is_blank(*digit))
        return false;
    *at = digit;
    return true;
}

static const struct paje_event_def *def_of(const struct paje_schema *schema, uint32_t id)
{
    if (id < PAJE_EVENTS_MOST)
        return schema->by_id && schema->by_id[id] ? &schema->event[schema->by_id[id] - 1] : NULL;
    for (size_t i = 0; i < schema->count; i++)
        if (schema->event[i].id == id)
            return &schema->event[i];
    return NULL;
}

/* "EventDef Name id", in any order of the two. */
static const char *begin_event(struct paje_schema *schema, const char *at, const char *end, uint64_t byte)
{
    struct paje_word name, other;
    struct paje_event_def def = {.byte = byte};
    schema->inside = schema->skipped = true;
    if (!take_word(&at, end, &name) || !take_word(&at, end, &other))
        return "an event definition without name and number";
    /* Some writers put the number before the name. */
    if (!word_id(other, &def.id)) {
        if (!word_id(name, &def.id))
            return "an event definition without number";
        name = other;
    }
    const struct paje_event_def *known = def_of(schema, def.id);
    /* The definitions are read twice: at the same byte it is the same one. */
    if (known)
        return known->byte == byte ? NULL : "an event definition whose number another one has";
    if (schema->count >= PAJE_EVENTS_MOST)
        return "more event definitions than 4096";
    /* Kinds that are not known are read over: the format allows writers their own. */
    while (def.kind < PAJE_OTHER && !word_is(name, kinds[def.kind].name))
        def.kind++;
    def.needs = kinds[def.kind].needs;
    ARRAY_PUSH(schema->event, schema->count, schema->capacity, def);
    if (!schema->by_id)
        schema->by_id = memory_new(PAJE_EVENTS_MOST * sizeof *schema->by_id);
    if (def.id < PAJE_EVENTS_MOST)
        schema->by_id[def.id] = (uint32_t)schema->count;
    schema->skipped = false;
    return NULL;
}

/* A field's name says its role; the type that follows does not matter, since roles know what they are. */
static const char *take_field(struct paje_schema *schema, struct paje_word name)
{
    if (!schema->inside)
        return "a field outside of an event definition";
    if (schema->skipped)
        return NULL;
    struct paje_event_def *def = &schema->event[schema->count - 1];
    if (def->field_count >= PAJE_FIELDS_MOST)
        return "an event definition with more than 64 fields";
    uint8_t role = FIELD_NOTHING;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (word_is(name, fields[i].name))
            role = (uint8_t)fields[i].role;
    /* Pajé's first specification calls what is destroyed Container, later ones Name. */
    if (def->kind == PAJE_DESTROY && role == FIELD_CONTAINER)
        role = FIELD_NAME;
    for (size_t i = 0; i < def->field_count; i++)
        if (def->field[i] == role)
            role = FIELD_NOTHING; /* the first one is it */
    bool has_size = false;
    for (size_t i = 0; i < def->field_count; i++)
        has_size |= def->field[i] == FIELD_SIZE;
    /* What stands before the key is not read again where it is known: a size is another each time. */
    if (role == FIELD_KEY && !has_size)
        def->key_at = def->field_count;
    else if (role != FIELD_SIZE && role != FIELD_NOTHING)
        def->key_at = 0;
    def->field[def->field_count++] = role;
    return NULL;
}

/* Definitions may stand anywhere before their first use, though all known writers put them first. */
const char *paje_schema_line(struct paje_schema *schema, const char *at, const char *end, uint64_t byte)
{
    struct paje_word word;
    at++;
    if (!take_word(&at, end, &word))
        return NULL;
    if (word_is(word, "EventDef"))
        return begin_event(schema, at, end, byte);
    if (word_is(word, "EndEventDef")) {
        schema->inside = false;
        return NULL;
    }
    return take_field(schema, word);
}

void paje_schema_clear(struct paje_schema *schema)
{
    free(schema->event);
    free(schema->by_id);
    *schema = (struct paje_schema){0};
}

const char *paje_record_begin(struct paje_record *record, const struct paje_schema *schema, const char **at,
                              const char *end)
{
    struct paje_word word;
    uint32_t id;
    if (!take_id(at, end, &id) && (!take_word(at, end, &word) || !word_id(word, &id)))
        return "a line that does not begin with an event's number";
    record->def = def_of(schema, id);
    record->has = 0;
    return record->def ? NULL : "an event whose number no definition has";
}

/* Words are only found, not understood: most of a line is needed by one of the passes at most. */
const char *paje_record_words(struct paje_record *record, const char *at, const char *end)
{
    const struct paje_event_def *def = record->def;
    struct paje_word word;
    uint32_t has = 0;
    for (size_t i = 0; i < def->field_count && take_word(&at, end, &word); i++) {
        record->word[def->field[i]] = word;
        has |= 1u << def->field[i];
    }
    record->has = has;
    if (def->needs & ~has)
        return "an event that lacks fields of its definition";
    return NULL;
}

void paje_record_rest(struct paje_record *record, uint8_t first, const char *at, const char *end)
{
    const struct paje_event_def *def = record->def;
    struct paje_word word;
    for (size_t i = first; i < def->field_count && take_word(&at, end, &word); i++) {
        record->word[def->field[i]] = word;
        record->has |= 1u << def->field[i];
    }
}

enum { NUMBER_MOST = 64 };

/* strtod wants the text ended by a zero byte, which a mapped file does not have. It would take hexadecimal numbers as
   well, which Pajé does not have. */
bool paje_number(struct paje_word word, double *number)
{
    char text[NUMBER_MOST + 1], *end;
    if (word.length == 0 || word.length > NUMBER_MOST || memchr(word.at, 'x', word.length) ||
        memchr(word.at, 'X', word.length))
        return false;
    memcpy(text, word.at, word.length);
    text[word.length] = '\0';
    *number = strtod(text, &end);
    return *end == '\0' && isfinite(*number);
}

/* A time with nine decimals, as nearly all are in SimGrid's files and ours; false: it is another. */
static inline bool nine_decimals(struct paje_word word, int64_t *time_ns)
{
    if (word.length < 11 || word.length > 18)
        return false;
    const char *at = word.at, *point = word.at + word.length - 10;
    int64_t seconds = 0;
    uint64_t part;
    if (*point != '.' || !text_eight_digits(point + 1, &part))
        return false;
    for (; at < point && *at >= '0' && *at <= '9'; at++)
        seconds = seconds * 10 + (*at - '0');
    if (at < point || point[9] < '0' || point[9] > '9')
        return false;
    *time_ns = seconds * 1000000000 + (int64_t)part * 10 + (point[9] - '0');
    return true;
}

/* Not through a double: ns of a date since 1970 need 61 bits, doubles have 53. */
bool paje_time(struct paje_word word, int64_t *time_ns)
{
    static const int64_t scale[] = {1000000000, 100000000, 10000000, 1000000, 100000, 10000, 1000, 100, 10, 1};
    if (nine_decimals(word, time_ns))
        return true;
    const char *at = word.at, *end = word.at + word.length;
    bool negative = at < end && *at == '-';
    int64_t seconds = 0, part = 0;
    size_t digits = 0, decimals = 0;
    at += negative;
    for (; at < end && *at >= '0' && *at <= '9' && digits < 10; at++, digits++)
        seconds = seconds * 10 + (*at - '0');
    if (at < end && *at == '.') {
        uint64_t eight;
        if (end - ++at >= 8 && text_eight_digits(at, &eight)) {
            part = (int64_t)eight;
            at += 8;
            decimals = 8;
        }
        for (; at < end && *at >= '0' && *at <= '9' && decimals < 9; at++, decimals++)
            part = part * 10 + (*at - '0');
    }
    part *= scale[decimals];
    if (decimals == 9 && at < end && *at >= '0' && *at <= '9') {
        /* Rounded by the tenth decimal, whatever follows. */
        part += *at >= '5';
        while (at < end && *at >= '0' && *at <= '9')
            at++;
    }
    if (at != end || digits + decimals == 0) { /* "1e-05", or no number */
        double number;
        return paje_number(word, &number) && time_from_seconds(number, time_ns);
    }
    /* What ns in 63 bits can hold. */
    if (seconds >= INT64_C(9000000000))
        return false;
    *time_ns = seconds * 1000000000 + part;
    if (negative)
        *time_ns = -*time_ns;
    return true;
}

int64_t paje_link_bytes(const struct paje_record *record)
{
    struct paje_word size = paje_word_of(record, FIELD_SIZE);
    const char *at = size.at, *end = size.at + size.length;
    uint64_t bytes;
    if (text_take_u64(&at, end, &bytes) && at == end && bytes <= INT64_MAX)
        return (int64_t)bytes;
    return BYTES_UNKNOWN;
}
