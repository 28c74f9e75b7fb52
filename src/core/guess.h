/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_GUESS_H
#define SIGHT_CORE_GUESS_H

#include <stddef.h>

/* Finds the existing word that a mistyped one most likely means: the nearest by letters inserted, left out, replaced or
   swapped (Damerau-Levenshtein distance), if that is at most a third of its letters. */
struct guess {
    const char *word; /* as typed */
    size_t length;    /* of it */
    const char *best; /* NULL: none is near enough; borrowed */
    size_t distance;
};

struct guess guess_of(const char *word, size_t length);

/* Offers one of the existing words, which must live as long as the guess. */
void guess_try(struct guess *guess, const char *candidate);

/* Longer words are never guessed. */
enum { GUESS_WORD = 64, GUESS_TEXT = GUESS_WORD + 32 };

/* " (did you mean 'report'?)", or `otherwise`, which may be "". `prefix` stands before the word: "--". */
const char *guess_text(char buffer[GUESS_TEXT], const struct guess *guess, const char *prefix, const char *otherwise);

#endif
