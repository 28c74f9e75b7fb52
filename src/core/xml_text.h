/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_XML_TEXT_H
#define SIGHT_CORE_XML_TEXT_H

#include "core/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Texts, numbers and words of the trace XML, written and read in one place. dtd/sight.dtd defines their meaning. */

enum {
    XML_PAYLOAD_MAX = 60000, /* bytes of a payload: a packed event must fit into a record of the sorter */
    XML_HELD_MAX = 1024      /* messages of one call that writer and reader hold back to know which one was first */
};

/* A text that grows. Zero-initialised is empty; free(text). */
struct xml_line {
    char *text;
    size_t length, capacity;
};

/* Room for n bytes at the end: write there, then add to length. */
static inline char *xml_room(struct xml_line *line, size_t n)
{
    ARRAY_RESERVE(line->text, line->capacity, line->length + n);
    return line->text + line->length;
}

static inline void xml_put_bytes(struct xml_line *line, const char *bytes, size_t n)
{
    memcpy(xml_room(line, n), bytes, n);
    line->length += n;
}

/* Appends a string literal. */
#define XML_PUT(line, literal) xml_put_bytes((line), "" literal, sizeof(literal) - 1)

void xml_put_u64(struct xml_line *line, uint64_t value);
void xml_put_i64(struct xml_line *line, int64_t value);

/* ns as µs with up to three decimals: exact. */
void xml_put_time(struct xml_line *line, int64_t ns);

/* Text inside an attribute. What XML cannot hold becomes %XX; bytes that are not UTF-8 are taken as Latin-1. */
void xml_put_utf8(struct xml_line *line, const char *text);
void xml_put_utf8_bytes(struct xml_line *line, const char *text, size_t count);
void xml_put_latin1(struct xml_line *line, const unsigned char *bytes, size_t count);
void xml_put_hex(struct xml_line *line, const unsigned char *bytes, size_t count);

/* A value as in the file: not ended by a NUL. */
struct xml_value {
    const char *at;
    size_t length;
};

static inline bool xml_value_is(struct xml_value value, const char *word)
{
    return strlen(word) == value.length && memcmp(word, value.at, value.length) == 0;
}

/* Whole numbers within the bounds; false otherwise. Blanks around them are allowed. */
bool xml_get_u64(struct xml_value value, uint64_t max, uint64_t *number);
bool xml_get_i64(struct xml_value value, int64_t min, int64_t max, int64_t *number);

/* µs as ns: exact to three decimals, further ones rounded to the nearest; false for no number, NaN and beyond ±9e9 s.
 */
bool xml_get_time(struct xml_value value, int64_t *ns);

/* Seconds as ns, likewise exact to nine decimals. */
bool xml_get_seconds(struct xml_value value, int64_t *ns);

/* Undo what the xml_put_ functions do; `to` has room for value.length + 1 bytes. They return the number of bytes.
   A %00 stays as it is in UTF-8, where NUL ends the text. A NUL is put after. */
size_t xml_get_utf8(struct xml_value value, char *to);
size_t xml_get_latin1(struct xml_value value, char *to);
bool xml_get_hex(struct xml_value value, unsigned char *to); /* value.length / 2 bytes */

/* Words for enum comm_step and enum comm_kind; NULL and false for unknown values. */
const char *xml_step_word(int64_t step);
bool xml_step_of(struct xml_value word, int64_t *step);
const char *xml_comm_kind_word(int32_t kind);
bool xml_comm_kind_of(struct xml_value word, int32_t *kind);

#endif
