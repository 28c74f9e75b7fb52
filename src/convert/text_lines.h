/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_TEXT_LINES_H
#define SIGHT_CONVERT_TEXT_LINES_H

#include "convert/reader.h"

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

/* Consumes one character, if it is next. */
static inline bool text_take(const char **at, const char *end, char wanted)
{
    if (*at == end || **at != wanted)
        return false;
    ++*at;
    return true;
}

#endif
