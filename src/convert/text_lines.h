/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_TEXT_LINES_H
#define SIGHT_CONVERT_TEXT_LINES_H

#include "convert/reader.h"

#include <string.h>

/* The lines of text formats, and the numbers in them. */

struct text_line {
    const char *at, *end; /* without the line end; valid until the next line is read */
    uint64_t byte;        /* where it begins */
    bool whole;           /* it has a line end and is no longer than the limit */
};

/* The next line, which is consumed. One longer than `most` comes in parts that are not whole. STATUS_END: no more. */
enum status text_line_next(struct input *input, size_t most, struct text_line *line, struct error *err) MUST_CHECK;

/* The next line that is whole; one that is not is damage of the reader's input. *inside belongs to this function:
   whether the rest of a line that is too long comes next, false at the beginning. `most` is a power of two, of MiB. */
enum status text_line_whole(struct reader *reader, size_t most, bool *inside, struct text_line *line,
                            struct error *err) MUST_CHECK;

/* The digits of a number from the 20th on. False: it exceeds 64 bits. */
bool text_take_long(const char **at, const char *end, uint64_t *value) MUST_CHECK;

/* Consumes a whole decimal number without sign. False: there is none, or it exceeds 64 bits. Inline, as text formats
   are little else than numbers. */
static inline bool text_take_u64(const char **at, const char *end, uint64_t *value)
{
    enum { SURE = 19 }; /* so many digits fit */
    const char *digit = *at, *begin = digit, *sure = end - digit > SURE ? digit + SURE : end;
    uint64_t number = 0;
    for (unsigned one; digit < sure && (one = (unsigned)(unsigned char)*digit - '0') < 10; digit++)
        number = number * 10 + one;
    *value = number;
    *at = digit;
    if (__builtin_expect(digit - begin == SURE && digit < end, 0))
        return text_take_long(at, end, value);
    return digit > begin;
}

/* One byte eight times. */
#define TEXT_EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Eight bytes as a number, the first one lowest. */
static inline uint64_t text_eight(const char *at)
{
    uint64_t eight;
    memcpy(&eight, at, sizeof eight);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? eight : __builtin_bswap64(eight);
}

/* The number of eight decimal digits, each step joining neighbours; false: they are none. For times, which are most
   digits of a line: shorter numbers are quicker one by one. */
static inline bool text_eight_digits(const char *at, uint64_t *number)
{
    uint64_t eight = text_eight(at);
    if ((eight & TEXT_EACH(0xF0)) != TEXT_EACH(0x30) || ((eight + TEXT_EACH(6)) & TEXT_EACH(0xF0)) != TEXT_EACH(0x30))
        return false;
    eight = (eight & TEXT_EACH(0x0F)) * 2561 >> 8;
    eight = (eight & UINT64_C(0x00FF00FF00FF00FF)) * 6553601 >> 16;
    *number = (eight & UINT64_C(0x0000FFFF0000FFFF)) * UINT64_C(42949672960001) >> 32;
    return true;
}

/* Consumes one character, if it is next. */
static inline bool text_take(const char **at, const char *end, char wanted)
{
    if (*at == end || **at != wanted)
        return false;
    ++*at;
    return true;
}

#endif
