/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_PAJE_WORDS_H
#define SIGHT_CONVERT_PAJE_WORDS_H

#include "convert/paje/paje_symbols.h"
#include "convert/text_lines.h"

#include <stdbool.h>
#include <string.h>

/* Words of a line: separated by blanks, in quotes if they have blanks themselves. Inline, as a trace is little else. */

static inline bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The end of a word: the first blank. Eight bytes at a time: a byte below 33 borrows from its highest bit. */
static inline const char *word_end(const char *at, const char *end)
{
    for (; end - at >= 8; at += 8) {
        uint64_t eight = text_eight(at), low = (eight - TEXT_EACH(33)) & ~eight & TEXT_EACH(128);
        if (low == 0)
            continue;
        at += __builtin_ctzll(low) / 8;
        if (is_blank(*at))
            return at;
        break; /* another control character, which is part of the word: byte by byte from here */
    }
    while (at < end && !is_blank(*at))
        at++;
    return at;
}

/* The next word; false: there is none. A quote that is not closed takes the rest of the line. */
static inline bool take_word(const char **at, const char *end, struct paje_word *word)
{
    const char *from = *at, *to;
    while (from < end && is_blank(*from))
        from++;
    if (from == end)
        return false;
    if (*from == '"') {
        from++;
        to = memchr(from, '"', (size_t)(end - from));
        *at = to ? to + 1 : end;
        to = to ? to : end;
    } else {
        to = word_end(from, end);
        *at = to;
    }
    *word = (struct paje_word){from, (uint32_t)(to - from)};
    return true;
}

#endif
