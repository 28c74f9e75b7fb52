/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/xml_text.h"

#include "core/defs.h"
#include "core/event.h"
#include "core/numbers.h"
#include "core/text.h"

#include <stdlib.h>

enum { NUMBER_SIZE = 24 };

void xml_put_u64(struct xml_line *line, uint64_t value)
{
    char *at = xml_room(line, NUMBER_SIZE);
    line->length += (size_t)(text_put_u64(at, value) - at);
}

void xml_put_i64(struct xml_line *line, int64_t value)
{
    /* INT64_MIN has no positive counterpart; its magnitude fits without sign. */
    if (value < 0)
        XML_PUT(line, "-");
    /* Through unsigned: negating INT64_MIN would overflow. */
    xml_put_u64(line, magnitude_of(value));
}

void xml_put_time(struct xml_line *line, int64_t ns)
{
    char *start = xml_room(line, NUMBER_SIZE + 4), *at = start;
    uint64_t magnitude = magnitude_of(ns);
    if (ns < 0)
        *at++ = '-';
    /* Times are in µs; what is below is written with as few digits as hold it, so that reading gives the same ns. */
    at = text_put_u64(at, magnitude / 1000);
    unsigned rest = (unsigned)(magnitude % 1000);
    if (rest) {
        *at++ = '.';
        for (unsigned unit = 100; rest; unit /= 10) {
            *at++ = (char)('0' + rest / unit);
            rest %= unit;
        }
    }
    line->length += (size_t)(at - start);
}

static const char hex_digits[] = "0123456789ABCDEF";

/* A character of Latin-1, escaped where it must be. */
static void put_latin1_character(struct xml_line *line, unsigned char byte)
{
    char *at = xml_room(line, 8), *start = at;
    /* XML 1.0, section 2.2, has no characters below 0x20 but tab and line ends, and these are changed in attributes
       (section 3.3.3). '%' itself, as it begins our escapes. */
    if (byte == '&')
        at = memcpy(at, "&amp;", 5), at += 5;
    else if (byte == '<')
        at = memcpy(at, "&lt;", 4), at += 4;
    else if (byte == '"')
        at = memcpy(at, "&quot;", 6), at += 6;
    else if (byte < 0x20 || byte == '%' || (byte >= 0x7F && byte < 0xA0)) {
        *at++ = '%';
        *at++ = hex_digits[byte >> 4];
        *at++ = hex_digits[byte & 15];
    } else if (byte >= 0xA0) {
        *at++ = (char)(0xC0 | byte >> 6);
        *at++ = (char)(0x80 | (byte & 0x3F));
    } else {
        *at++ = (char)byte;
    }
    line->length += (size_t)(at - start);
}

void xml_put_latin1(struct xml_line *line, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_latin1_character(line, bytes[i]);
}

void xml_put_utf8_bytes(struct xml_line *line, const char *text, size_t count)
{
    const char *at = text, *end = text + count;
    while (at < end) {
        size_t length = text_character(at, (size_t)(end - at));
        unsigned char lead = (unsigned char)*at;
        if (length < 2)
            /* Bytes that are no UTF-8 are taken for Latin-1, and none is lost. */
            put_latin1_character(line, lead);
        else if (lead < 0xC4)
            put_latin1_character(line, (unsigned char)((lead & 3) << 6 | (at[1] & 0x3F)));
        else if (length == 3 && (memcmp(at, "\xEF\xBF\xBE", 3) == 0 || memcmp(at, "\xEF\xBF\xBF", 3) == 0))
            /* U+FFFE and U+FFFF are not allowed in XML (section 2.2): U+FFFD stands for them. */
            XML_PUT(line, "\xEF\xBF\xBD");
        else
            xml_put_bytes(line, at, length);
        at += length > 0 ? length : 1;
    }
}

void xml_put_utf8(struct xml_line *line, const char *text)
{
    xml_put_utf8_bytes(line, text, strlen(text));
}

void xml_put_hex(struct xml_line *line, const unsigned char *bytes, size_t count)
{
    char *at = xml_room(line, 2 * count);
    for (size_t i = 0; i < count; i++) {
        *at++ = hex_digits[bytes[i] >> 4];
        *at++ = hex_digits[bytes[i] & 15];
    }
    line->length += 2 * count;
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

static struct xml_value trim(struct xml_value value)
{
    while (value.length && is_blank(*value.at)) {
        value.at++;
        value.length--;
    }
    while (value.length && is_blank(value.at[value.length - 1]))
        value.length--;
    return value;
}

bool xml_get_u64(struct xml_value value, uint64_t max, uint64_t *number)
{
    value = trim(value);
    uint64_t sum = 0;
    for (size_t i = 0; i < value.length; i++) {
        unsigned digit = (unsigned)(unsigned char)value.at[i] - '0';
        /* Both tests, as the product would be cut to 64 bits without a trace. */
        if (digit > 9 || sum > UINT64_MAX / 10 || sum * 10 > UINT64_MAX - digit)
            return false;
        sum = sum * 10 + digit;
    }
    *number = sum;
    return value.length > 0 && sum <= max;
}

bool xml_get_i64(struct xml_value value, int64_t min, int64_t max, int64_t *number)
{
    value = trim(value);
    bool negative = value.length && *value.at == '-';
    if (negative || (value.length && *value.at == '+'))
        value = (struct xml_value){value.at + 1, value.length - 1};
    uint64_t magnitude;
    /* "- 1" is no number, but xml_get_u64 would skip the blank. */
    if ((value.length && is_blank(*value.at)) ||
        !xml_get_u64(value, (uint64_t)INT64_MAX + (negative ? 1 : 0), &magnitude))
        return false;
    *number = (int64_t)(negative ? 0 - magnitude : magnitude);
    return *number >= min && *number <= max;
}

/* Numbers with an exponent. `unit`: units per second. */
static bool get_time_by_strtod(struct xml_value value, double unit, int64_t *ns)
{
    char copy[64], *end;
    if (value.length == 0 || value.length >= sizeof copy)
        return false;
    memcpy(copy, value.at, value.length);
    copy[value.length] = '\0';
    /* strtod also takes "nan", "inf" and hexadecimal numbers. */
    if (copy[strspn(copy, "+-.0123456789eE")] != '\0')
        return false;
    double number = strtod(copy, &end);
    return end == copy + value.length && time_from_seconds(number / unit, ns);
}

/* A decimal number as a whole number of 10^-decimals; further decimals are rounded to the nearest. */
static bool get_decimal(struct xml_value value, unsigned decimals, double unit, int64_t *ns)
{
    /* Below INT64_MAX by enough that the rounding cannot go beyond it. */
    static const uint64_t limit = UINT64_C(9000000000000000000);
    value = trim(value);
    const char *at = value.at, *end = value.at + value.length;
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    uint64_t scale = 1;
    for (unsigned i = 0; i < decimals; i++)
        scale *= 10;
    uint64_t sum = 0;
    const char *digits = at;
    for (; at < end && (unsigned char)(*at - '0') <= 9; at++) {
        if (sum > limit / 10)
            return false;
        sum = sum * 10 + (unsigned char)(*at - '0');
    }
    size_t count = (size_t)(at - digits);
    if (sum > limit / scale)
        return false;
    sum *= scale;
    if (at < end && *at == '.') {
        at++;
        /* Only the first digit below the unit decides the rounding. */
        for (bool rounded = false; at < end && (unsigned char)(*at - '0') <= 9; at++, count++) {
            unsigned digit = (unsigned char)(*at - '0');
            scale /= 10;
            sum += scale > 0 ? digit * scale : !rounded && digit >= 5;
            rounded |= scale == 0;
        }
    }
    if (count == 0 || at != end)
        return get_time_by_strtod(value, unit, ns);
    *ns = negative ? -(int64_t)sum : (int64_t)sum;
    return sum <= limit;
}

bool xml_get_time(struct xml_value value, int64_t *ns)
{
    return get_decimal(value, 3, 1e6, ns);
}

bool xml_get_seconds(struct xml_value value, int64_t *ns)
{
    return get_decimal(value, 9, 1, ns);
}

static int hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    return -1;
}

/* The code of the %XX at `at`, or -1. */
static int escape_at(const char *at, const char *end)
{
    if (end - at < 3 || *at != '%' || hex_value(at[1]) < 0 || hex_value(at[2]) < 0)
        return -1;
    return hex_value(at[1]) << 4 | hex_value(at[2]);
}

size_t xml_get_utf8(struct xml_value value, char *to)
{
    char *start = to;
    const char *end = value.at + value.length;
    for (const char *at = value.at; at < end;) {
        int code = escape_at(at, end);
        /* "%00" stays as it is: a C string cannot hold it. */
        if (code <= 0) {
            *to++ = *at++;
            continue;
        }
        at += 3;
        if (code >= 0x80) {
            *to++ = (char)(0xC0 | code >> 6);
            code = 0x80 | (code & 0x3F);
        }
        *to++ = (char)code;
    }
    *to = '\0';
    return (size_t)(to - start);
}

size_t xml_get_latin1(struct xml_value value, char *to)
{
    char *start = to;
    const char *at = value.at, *end = value.at + value.length;
    while (at < end) {
        int escaped = escape_at(at, end);
        unsigned char lead = (unsigned char)*at;
        if (escaped >= 0) {
            *to++ = (char)escaped;
            at += 3;
            continue;
        }
        at++;
        if (lead < 0x80) {
            *to++ = (char)lead;
            continue;
        }
        bool fits = (lead & 0xFC) == 0xC0 && at < end;
        /* Only two bytes with leads 0xC0 … 0xC3 have a code that Latin-1 has. */
        *to++ = fits ? (char)(unsigned char)((lead & 3u) << 6 | ((unsigned char)*at & 0x3Fu)) : '?';
        while (at < end && ((unsigned char)*at & 0xC0) == 0x80)
            at++;
    }
    *to = '\0';
    return (size_t)(to - start);
}

bool xml_get_hex(struct xml_value value, unsigned char *to)
{
    for (size_t i = 0; i + 1 < value.length; i += 2) {
        int high = hex_value(value.at[i]), low = hex_value(value.at[i + 1]);
        if (high < 0 || low < 0)
            return false;
        to[i / 2] = (unsigned char)(high << 4 | low);
    }
    return value.length % 2 == 0;
}

static const struct {
    const char *word;
    int64_t step;
} steps[] = {
    {"world", COMM_STEP_WORLD}, {"self", COMM_STEP_SELF},     {"free", COMM_STEP_FREE},   {"intra", COMM_STEP_INTRA},
    {"local", COMM_STEP_LOCAL}, {"remote", COMM_STEP_REMOTE}, {"inter", COMM_STEP_INTER},
};

const char *xml_step_word(int64_t step)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i].step == step)
            return steps[i].word;
    return NULL;
}

bool xml_step_of(struct xml_value word, int64_t *step)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (xml_value_is(word, steps[i].word)) {
            *step = steps[i].step;
            return true;
        }
    return false;
}

/* By kind + 1. */
static const char *const comm_kinds[] = {"unknown", "inter", "intra", "local", "remote"};
enum { COMM_KIND_WORDS = sizeof comm_kinds / sizeof *comm_kinds };

const char *xml_comm_kind_word(int32_t kind)
{
    if (kind >= COMM_KIND_UNKNOWN && kind < COMM_KIND_WORDS - 1)
        return comm_kinds[kind + 1];
    return NULL;
}

bool xml_comm_kind_of(struct xml_value word, int32_t *kind)
{
    for (int32_t i = 0; i < COMM_KIND_WORDS; i++)
        if (xml_value_is(word, comm_kinds[i])) {
            *kind = i - 1;
            return true;
        }
    return false;
}
