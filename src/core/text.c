/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/text.h"

#include "core/memory.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Bytes of a UTF-8 character by its first one. */
static size_t length_by_lead(unsigned char lead)
{
    if (lead >= 0xF0)
        return 4;
    if (lead >= 0xE0)
        return 3;
    if (lead >= 0xC0)
        return 2;
    return 1;
}

void text_end_whole(char *utf8)
{
    size_t length = strlen(utf8), begin = length;
    /* Four bytes are the longest character (RFC 3629): more of these belong to no character and need no search. */
    while (begin > 0 && length - begin < 4 && ((unsigned char)utf8[begin - 1] & 0xC0) == 0x80)
        begin--;
    if (begin == 0)
        return;
    unsigned char lead = (unsigned char)utf8[begin - 1];
    if (length - (begin - 1) < length_by_lead(lead))
        utf8[begin - 1] = '\0';
}

void text_append(char *buffer, size_t size, const char *format, ...)
{
    size_t used = strlen(buffer);
    va_list args;
    va_start(args, format);
    vsnprintf(buffer + used, size - used, format, args);
    va_end(args);
    text_end_whole(buffer);
}

int text_beginning(const char *utf8, int most)
{
    /* A byte 10xxxxxx continues a character, so a cut before it would leave a broken one. */
    int length = (int)strnlen(utf8, (size_t)most);
    while (length == most && length > 0 && ((unsigned char)utf8[length] & 0xC0) == 0x80)
        most = --length;
    return length;
}

uint64_t text_whole(double value)
{
    /* 2^64 itself does not fit, and the largest number below it that a double can be is 2,048 less. */
    if (value >= 18446744073709549568.0)
        return UINT64_MAX;
    if (value > 0)
        return (uint64_t)(value + 0.5);
    return 0;
}

static size_t digits_of(uint64_t value)
{
    static const uint64_t powers[] = {0,
                                      10,
                                      100,
                                      1000,
                                      10000,
                                      100000,
                                      1000000,
                                      10000000,
                                      100000000,
                                      1000000000,
                                      10000000000,
                                      100000000000,
                                      1000000000000,
                                      10000000000000,
                                      100000000000000,
                                      1000000000000000,
                                      10000000000000000,
                                      100000000000000000,
                                      1000000000000000000,
                                      UINT64_C(10000000000000000000)};
    /* 1233 / 4096 is the logarithm of 2: the digits of the largest power of two below, which may be one too few. */
    size_t digits = (64 - (size_t)__builtin_clzll(value | 1)) * 1233 >> 12;
    return digits + (value >= powers[digits]);
}

/* Numbers are most of the text that writers make: their length first, then two digits for each division. */
char *text_put_u64(char *at, uint64_t value)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    char *end = at + digits_of(value), *digit = end;
    for (; value >= 100; value /= 100)
        memcpy(digit -= 2, pairs + 2 * (value % 100), 2);
    if (value >= 10)
        memcpy(digit - 2, pairs + 2 * value, 2);
    else
        digit[-1] = (char)('0' + value);
    return end;
}

char *text_thousands(char buffer[TEXT_NUMBER_SIZE], uint64_t value)
{
    char digits[21];
    *text_put_u64(digits, value) = '\0';
    size_t length = strlen(digits);
    char *at = buffer;
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *at++ = ',';
        *at++ = digits[i];
    }
    *at = '\0';
    return buffer;
}

struct number_text text_number(uint64_t value)
{
    struct number_text number;
    text_thousands(number.text, value);
    return number;
}

bool text_ends_with(const char *text, size_t length, const char *end)
{
    size_t size = strlen(end);
    return length >= size && strncmp(text + length - size, end, size) == 0;
}

const char *text_plural(uint64_t count, const char *one, const char *many)
{
    if (count == 1)
        return one;
    return many;
}

/* Three significant digits of value, which is in [0, 1000). The limits are those of rounding: 9.996 with two decimals
   would be "10.00", four digits. */
static void text_three_digits(char *buffer, double value, const char *unit)
{
    int decimals = 0;
    if (value < 9.995)
        decimals = 2;
    else if (value < 99.95)
        decimals = 1;
    snprintf(buffer, TEXT_NUMBER_SIZE - 1, "%.*f %s", decimals, value, unit);
}

char *text_duration(char buffer[TEXT_NUMBER_SIZE], int64_t ns)
{
    double magnitude = fabs((double)ns);
    char *at = buffer;
    if (ns < 0)
        *at++ = '-';
    char number[TEXT_NUMBER_SIZE - 1]; /* room for the sign */
    /* The same for whole units: 999.5 would be printed as "1000 ns". */
    if (ns == 0)
        memcpy(number, "0 s", sizeof "0 s");
    else if (magnitude < 999.5)
        snprintf(number, sizeof number, "%.0f ns", magnitude);
    else if (magnitude < 999.5e3)
        text_three_digits(number, magnitude / 1e3, "µs");
    else if (magnitude < 999.5e6)
        text_three_digits(number, magnitude / 1e6, "ms");
    else if (magnitude < 999.5e9)
        text_three_digits(number, magnitude / 1e9, "s");
    else if (magnitude < TEXT_HOURS_FROM_NS)
        snprintf(number, sizeof number, "%.28s s", text_thousands(buffer, (uint64_t)(magnitude / 1e9 + 0.5)));
    else if (magnitude < TEXT_DAYS_FROM_NS)
        text_three_digits(number, magnitude / TEXT_HOUR_NS, "h");
    else if (magnitude < 999.5 * TEXT_DAY_NS)
        text_three_digits(number, magnitude / TEXT_DAY_NS, "d");
    else
        snprintf(number, sizeof number, "%.28s d", text_thousands(buffer, (uint64_t)(magnitude / TEXT_DAY_NS + 0.5)));
    if (ns < 0)
        *buffer = '-';
    memcpy(at, number, strlen(number) + 1);
    return buffer;
}

char *text_bytes(char buffer[TEXT_NUMBER_SIZE], uint64_t bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    double value = (double)bytes;
    size_t unit = 0;
    /* As in text_three_digits. */
    while (value >= 999.5 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1000;
        unit++;
    }
    snprintf(buffer, TEXT_NUMBER_SIZE, unit > 0 && value < 9.95 ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return buffer;
}

char *text_share(char buffer[TEXT_NUMBER_SIZE], double share)
{
    double percent = share * 100;
    /* "100 %" would say that nothing is missing. */
    bool nearly_all = percent >= 99.5 && percent < 99.95;
    if (percent == 0)
        memcpy(buffer, "0 %", sizeof "0 %");
    else if (percent > 0 && percent < 0.05)
        snprintf(buffer, TEXT_NUMBER_SIZE, "< 0.1 %%");
    else
        snprintf(buffer, TEXT_NUMBER_SIZE, percent < 9.95 || nearly_all ? "%.1f %%" : "%.0f %%", percent);
    return buffer;
}

char *text_times(char buffer[TEXT_NUMBER_SIZE], double ratio)
{
    snprintf(buffer, TEXT_NUMBER_SIZE, "%.*f", ratio < 9.95 ? 1 : 0, ratio);
    return buffer;
}

char *text_from_latin1(const char *bytes, size_t length)
{
    char *text = memory_resize(NULL, length * 2 + 1);
    char *at = text;
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        /* The code points of Latin-1 are the first 256 of Unicode; two bytes of UTF-8 hold 11 bits. */
        if (byte >= 0x80) {
            *at++ = (char)(0xC0 | byte >> 6);
            *at++ = (char)(0x80 | (byte & 0x3F));
        } else {
            *at++ = (char)byte;
        }
    }
    *at = '\0';
    return text;
}

size_t text_character(const char *bytes, size_t left)
{
    const unsigned char *at = (const unsigned char *)bytes;
    /* Unicode, table 3-7: no surrogates, nothing too long. */
    static const struct {
        unsigned char first, last, low, high; /* of the first byte; of the second */
        size_t length;
    } forms[] = {{0x01, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
                 {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
                 {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4}};
    for (size_t i = 0; left > 0 && i < sizeof forms / sizeof *forms; i++) {
        if (*at < forms[i].first || *at > forms[i].last || left < forms[i].length)
            continue;
        if (forms[i].length > 1 && (at[1] < forms[i].low || at[1] > forms[i].high))
            return 0;
        for (size_t k = 2; k < forms[i].length; k++)
            if ((at[k] & 0xC0) != 0x80)
                return 0;
        return forms[i].length;
    }
    return 0;
}

char *text_from_bytes(const char *bytes, size_t length)
{
    size_t at = 0, one = 1;
    /* One fault is enough: a name that is not UTF-8 throughout was written in an encoding of one byte each. */
    while (at < length && (one = text_character(bytes + at, length - at)) > 0)
        at += one;
    if (at < length)
        return text_from_latin1(bytes, length);
    char *text = memory_new(length + 1);
    memcpy(text, bytes, length);
    return text;
}

bool text_fits_latin1(const char *utf8, size_t length)
{
    bool fits = true;
    /* U+0100 and what is above it begins with 0xC4 at least; bytes that continue a character are smaller. */
    for (size_t i = 0; i < length; i++)
        fits &= (unsigned char)utf8[i] < 0xC4;
    return fits;
}

char *text_to_latin1(const char *utf8)
{
    char *text = memory_resize(NULL, strlen(utf8) + 1);
    char *at = text;
    const unsigned char *from = (const unsigned char *)utf8;
    while (*from) {
        unsigned char lead = *from++;
        /* Leads 0xC2 and 0xC3 begin U+0080 … U+00FF, all of Latin-1 above ASCII. One '?' stands for any other
           character. */
        if (lead < 0x80) {
            *at++ = (char)lead;
        } else if ((lead & 0xFC) == 0xC0 && (*from & 0xC0) == 0x80) {
            *at++ = (char)((lead & 3) << 6 | (*from++ & 0x3F));
        } else {
            while ((*from & 0xC0) == 0x80)
                from++;
            *at++ = '?';
        }
    }
    *at = '\0';
    return text;
}

bool text_parse_i64(const char *text, int64_t min, int64_t max, int64_t *value)
{
    char *end;
    errno = 0;
    long long parsed = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno == ERANGE || parsed < min || parsed > max)
        return false;
    *value = parsed;
    return true;
}

bool text_parse_bytes(const char *text, double *bytes)
{
    static const char units[] = "kMGT";
    char *end;
    *bytes = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    for (const char *at = units; unit && at <= unit; at++)
        *bytes *= 1000;
    /* 9e18: callers store it in 63 bits. */
    return end != text && !end[unit != NULL] && isfinite(*bytes) && *bytes >= 0 && *bytes <= 9e18;
}

bool text_parse_time(const char *text, int64_t *ns)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86400}};
    char *end;
    double number = strtod(text, &end);
    while (*end == ' ')
        end++;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        /* 1e9 seconds in ns fit into 63 bits with room for sums. */
        if (end != text && strcmp(end, units[i].unit) == 0 && number > 0 && number * units[i].seconds < 1e9) {
            *ns = (int64_t)(number * units[i].seconds * 1e9);
            return *ns > 0;
        }
    return false;
}

const char *text_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash && slash[1])
        return slash + 1;
    return path;
}

void text_date(char *buffer, size_t size, const char *format)
{
    /* Two runs then give the same bytes (reproducible-builds.org); 253402300799 is the end of the year 9999, as
       years have four digits. */
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    int64_t seconds;
    if (!epoch || !text_parse_i64(epoch, 0, INT64_C(253402300799), &seconds))
        seconds = (int64_t)time(NULL);
    time_t when = (time_t)seconds;
    struct tm utc;
    gmtime_r(&when, &utc);
    strftime(buffer, size, format, &utc);
}
