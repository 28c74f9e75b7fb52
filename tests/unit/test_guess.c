/* SPDX-License-Identifier: BSD-3-Clause */
/* Mistyped words, and what they must be taken for. */
#include "core/guess.h"

#include "tap.h"

#include <string.h>

static const char *const commands[] = {"run", "record", "report", "explain", "metrics", "merge", "view", "what-if"};

static void expect(const char *word, const char *best)
{
    struct guess guess = guess_of(word, strlen(word));
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        guess_try(&guess, commands[i]);
    tap_equal_string(guess.best, best, "'%s'", word);
}

int main(void)
{
    char text[GUESS_TEXT];
    expect("reprot", "report"); /* neighbours exchanged: 1 */
    expect("repotr", "report");
    expect("recod", "record");
    expect("metric", "metrics");
    expect("Metrics", "metrics");
    expect("whatif", "what-if");
    expect("viwe", "view");
    expect("rnu", "run");
    expect("ru", "run");
    expect("merg", "merge");
    expect("explainn", "explain");
    expect("xyz", NULL);
    expect("", NULL);
    expect("performance", NULL);
    expect("a-word-that-is-longer-than-any-that-there-is-and-longer-than-the-table-of-distances", NULL);
    struct guess guess = guess_of(&"--formt=json"[2], 5);
    guess_try(&guess, "force");
    guess_try(&guess, "format");
    tap_equal_string(guess_text(text, &guess, "--", ""), " (did you mean '--format'?)", "as a sentence, of a part");
    guess = guess_of("pie", 3);
    guess_try(&guess, "balance");
    tap_equal_string(guess_text(text, &guess, "", " (try help)"), " (try help)", "no guess");
    return tap_done();
}
