/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_OPTION_TYPES_H
#define SIGHT_CLI_OPTION_TYPES_H

#include "engine/engine.h"

/* What options become: a row of options.def has one of these types, as the member of a command's struct that it fills
   in (command_options.h). `text` is the value as it was given, for messages; NULL: the option was not given, and the
   value is 0. Texts are borrowed from argv and the environment. An option without a value is a bool, one with any text
   a const char *. */

/* One of the words that the row lists, or of the command's formats; NULL: the command's usual one. */
struct choice {
    const char *word;
};
bool choice_is(struct choice choice, const char *word);

struct number_option {
    const char *text;
    int64_t value;
};

/* Bytes with a unit of powers of 1000 ("64k", "10G"), also per second. */
struct bytes_option {
    const char *text;
    double value;
};

/* A length of time: "90", "10m", "2h" or "2us", "1.5 ms". */
struct time_option {
    const char *text;
    int64_t ns;
};

/* A moment of the run: a time after its begin, or "10 %" of its duration. */
struct moment_option {
    const char *text;
    struct engine_time time;
};

/* "0.2" or "20%" of 1. */
struct share_option {
    const char *text;
    double value;
};

/* "0-7,12" as ascending numbers without repetition. */
struct list_option {
    const char *text;
    uint32_t *numbers; /* owned: options_clear */
    size_t count;
};

#endif
