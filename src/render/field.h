/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_FIELD_H
#define SIGHT_RENDER_FIELD_H

#include "core/output.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers have one home: a table lists its fields once, and JSON, CSV and text print from that list. */

enum value_kind {
    VALUE_NULL,
    VALUE_COUNT,
    VALUE_INTEGER,
    VALUE_TIME,
    VALUE_BYTES,
    VALUE_RATIO,
    VALUE_TEXT,
    VALUE_BOOL
};

struct value {
    enum value_kind kind;
    bool number; /* of a text: it is a number with its unit, and stands in columns as numbers do */
    union {
        uint64_t count;  /* also bytes */
        int64_t integer; /* also time, in ns */
        double ratio;
        const char *text; /* borrowed, UTF-8 */
        bool truth;
    };
};

static inline struct value value_null(void)
{
    return (struct value){.kind = VALUE_NULL};
}
static inline struct value value_count(uint64_t count)
{
    return (struct value){.kind = VALUE_COUNT, .count = count};
}
static inline struct value value_bytes(uint64_t bytes)
{
    return (struct value){.kind = VALUE_BYTES, .count = bytes};
}
static inline struct value value_integer(int64_t integer)
{
    return (struct value){.kind = VALUE_INTEGER, .integer = integer};
}
static inline struct value value_time(int64_t ns)
{
    return (struct value){.kind = VALUE_TIME, .integer = ns};
}
static inline struct value value_ratio(double ratio)
{
    return (struct value){.kind = VALUE_RATIO, .ratio = ratio};
}
static inline struct value value_text(const char *text)
{
    return (struct value){.kind = VALUE_TEXT, .text = text};
}
/* "29 %" */
static inline struct value value_number_text(const char *text)
{
    return (struct value){.kind = VALUE_TEXT, .number = true, .text = text};
}
/* True for what stands left in a column. */
static inline bool value_is_words(struct value value)
{
    return value.kind == VALUE_TEXT && !value.number;
}
/* The value, or null where it is not known. */
static inline struct value value_if(bool known, struct value value)
{
    return known ? value : value_null();
}
/* Null for infinity and what is no number. */
struct value value_finite(double ratio);
static inline struct value value_bool(bool truth)
{
    return (struct value){.kind = VALUE_BOOL, .truth = truth};
}

/* One field of a row. `name` is its name in JSON and CSV; `title` its column in text (NULL: not in text). */
struct field {
    const char *name, *title;
    struct value (*get)(const void *context, const void *row);
};

/* Raw, as JSON wants it: seconds with exactly 9 decimals, ratios with 9, text escaped (U+FFFD for bytes that are no
   UTF-8), null. */
void value_write_json(struct output *output, struct value value);

/* Raw, as CSV wants it: null is empty, text quoted where needed. */
void value_write_csv(struct output *output, struct value value);

/* Raw, as the text of an XML attribute. */
void value_write_xml(struct output *output, struct value value);

/* For people: three digits and a unit, thousands separators, "-" for null. The result is UTF-8, NUL-terminated. */
enum { VALUE_TEXT_SIZE = 256 };
void value_text_for_people(char buffer[VALUE_TEXT_SIZE], struct value value);

/* A JSON document under construction: commas and indentation. Keys may be NULL inside arrays. */
struct json {
    struct output *output;
    int depth;
    bool first; /* the innermost brackets are still empty */
};
void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);
void json_value(struct json *json, const char *key, struct value value);
/* All fields of a row as members of the open object, in one line each. */
void json_fields(struct json *json, const struct field *fields, size_t count, const void *context, const void *row);
/* A whole row as one object in one line. */
void json_row(struct json *json, const struct field *fields, size_t count, const void *context, const void *row);

/* A list of `count` rows of `size` bytes each. */
void json_list(struct json *json, const char *key, const struct field *fields, size_t field_count, const void *context,
               const void *rows, size_t count, size_t size);

/* A row of values whose names are found as they are printed. */
void json_row_values(struct json *json, const char *const *names, const struct value *values, size_t count);

/* A whole row as an object of its own, in one line. */
void json_line(struct output *output, const struct field *fields, size_t count, const void *context, const void *row);

void csv_header(struct output *output, const struct field *fields, size_t count);
void csv_row(struct output *output, const struct field *fields, size_t count, const void *context, const void *row);

/* An attribute of an XML start tag that is being written: name="value" after a blank; nothing for null. */
void xml_attribute(struct output *output, const char *name, struct value value);

/* A row as an XML start tag: name="value" for each field that is known, then `close` (">" or "/>"). */
void xml_row(struct output *output, const char *element, const struct field *fields, size_t count, const void *context,
             const void *row, const char *close);

#endif
