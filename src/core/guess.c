/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/guess.h"

#include "core/numbers.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int letter(const char *text, size_t at)
{
    return tolower((unsigned char)text[at]);
}

/* Edit distance of two words, both shorter than GUESS_WORD. Keeps three rows of the usual table: this one, and two
   before it because neighbours may be swapped. */
static size_t distance_of(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][GUESS_WORD + 1];
    for (size_t k = 0; k <= b_length; k++)
        rows[0][k] = k;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        row[0] = i;
        /* Optimal string alignment: deletion, insertion, replacement and the swap of neighbours cost 1 each. */
        for (size_t k = 1; k <= b_length; k++) {
            bool same = letter(a, i - 1) == letter(b, k - 1);
            row[k] = smaller(smaller(last[k], row[k - 1]) + 1, last[k - 1] + !same);
            if (i > 1 && k > 1 && letter(a, i - 1) == letter(b, k - 2) && letter(a, i - 2) == letter(b, k - 1))
                row[k] = smaller(row[k], before[k - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

struct guess guess_of(const char *word, size_t length)
{
    return (struct guess){.word = word, .length = length, .distance = SIZE_MAX};
}

void guess_try(struct guess *guess, const char *candidate)
{
    size_t length = strlen(candidate);
    if (guess->length == 0 || guess->length >= GUESS_WORD || length >= GUESS_WORD)
        return;
    size_t distance = distance_of(guess->word, guess->length, candidate, length);
    /* More than a third of the letters wrong is another word. */
    size_t most = guess->length < 3 ? 1 : (guess->length + 1) / 3;
    /* As many changes as the candidate has letters: nothing of it is left. */
    if (distance > most || distance >= length || distance >= guess->distance)
        return;
    guess->best = candidate;
    guess->distance = distance;
}

const char *guess_text(char buffer[GUESS_TEXT], const struct guess *guess, const char *prefix, const char *otherwise)
{
    if (!guess->best)
        return otherwise;
    snprintf(buffer, GUESS_TEXT, " (did you mean '%s%s'?)", prefix, guess->best);
    return buffer;
}
