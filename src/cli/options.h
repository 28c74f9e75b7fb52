/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_OPTIONS_H
#define SIGHT_CLI_OPTIONS_H

#include "cli/command.h"
#include "core/output.h"

/* From the command line to a command's struct, by the table of options.def; and the table itself, from which help, man
   pages and completion are made. */

/* The type of the member that a row fills in (option_types.h). */
enum option_kind {
    OPTION_FLAG,     /* bool; takes no value */
    OPTION_TEXT,     /* const char * */
    OPTION_CHOICE,   /* struct choice, of the words in `value` */
    OPTION_FORMAT,   /* struct choice, of the command's formats; any word where it has none */
    OPTION_NUMBER,   /* struct number_option, from `least` to `most` */
    OPTION_BYTES,    /* struct bytes_option, at least `least` */
    OPTION_TIME,     /* struct time_option in the units of people, longer than 0: "90", "10m", "2h" */
    OPTION_DURATION, /* struct time_option in the units of traces: "2us", "1.5 ms" */
    OPTION_MOMENT,   /* struct moment_option */
    OPTION_SHARE,    /* struct share_option, up to `most` */
    OPTION_LIST      /* struct list_option */
};

/* A row of options.def. */
struct option_row {
    size_t command; /* the index of the command that takes it; see option_is_common */
    enum option_kind kind;
    char letter;       /* 0: none */
    const char *name;  /* without "--" */
    const char *value; /* the word of its value; "a|b|c": one of these words; NULL: takes none */
    size_t at;         /* of the member in the command's struct, or in struct common_options */
    int64_t least, most;
    const char *fault; /* what is wrong with a value that is not of the kind: "is not a number of threads" */
    const char *help;
};

/* The rows of a command in the order of its help, one after the other; `row` NULL: the first. NULL after the last.
   Those of all commands come last. */
const struct option_row *option_next(const struct command *command, const struct option_row *row);

/* True of a row of all commands. */
bool option_is_common(const struct option_row *row);

/* Reads the arguments after the command's name, and the environment's SIGHT_* for options that were not given, into the
   command's struct, which is zero but for the team. False and a fault for an option that the command does not take,
   or a value that is not of its kind. Clear it in any case. */
bool options_parse(const struct command *command, void *options, int argc, char **argv, struct error *err);
void options_clear(const struct command *command, void *options);

/* The value of an option of text, by its name; NULL: not given, or the command has none. */
const char *options_text(const struct command *command, const void *options, const char *name);

/* The same of an option in bytes; 0: not given, or the command has none. */
double options_bytes(const struct command *command, const void *options, const char *name);

/* True if the command has an option of that name. */
bool options_have(const struct command *command, const char *name);

/* The options of a command as lines of help. */
void options_write_help(struct output *output, const struct command *command);

#endif
