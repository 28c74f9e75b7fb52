/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_COMMAND_H
#define SIGHT_CLI_COMMAND_H

#include "core/error.h"
#include "core/output.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A subcommand is a file cmd_X.c and a line in commands.def; its options are rows of the one table of options. */

/* X(name, code, meaning): exit codes (design: command line). */
#define EXIT_CODES(X)                                                                                                  \
    X(DONE, 0, "done; also a closed pipe")                                                                             \
    X(CONDITION, 1, "a condition of --fail-on holds")                                                                  \
    X(USAGE, 2, "wrong usage: an unknown option or an invalid value")                                                  \
    X(DAMAGED, 3, "done, but the input is damaged: standard error says how much was read")                             \
    X(INPUT, 4, "the input cannot be read")                                                                            \
    X(OUTPUT, 5, "the output cannot be written")                                                                       \
    X(INTERRUPTED, 130, "interrupted: no unfinished output is left behind")

enum exit_code {
#define EXIT_CODE_MEMBER(name, code, meaning) EXIT_##name = (code),
    EXIT_CODES(EXIT_CODE_MEMBER)
#undef EXIT_CODE_MEMBER
};

/* A member for each row of options.def, a const char * or, of options without a value, a bool. */
#define OPTION_TYPE(value) __typeof__(_Generic((value), char * : (const char *)NULL, default : (bool)false))
struct options {
#define OPTION(bit, letter, name, value, member, help) OPTION_TYPE(value) member;
#include "cli/options.def"
    char **inputs; /* arguments that are not options; points into argv */
    size_t input_count;
    char *
        *passed; /* of COMMAND_PASSES: options before "--" that are not sight's, with their values; points into argv */
    size_t passed_count;
    const char *finding; /* of explain: a place or an id; NULL: all */
    const char *file;    /* of source: a file of the program; NULL: the costliest */
    struct team *team;   /* processes that help; NULL: none */
    const struct scaling
        *scaling; /* of report: of the runs of which the input is the largest; NULL: it is the only one */
};

struct command {
    const char *name;
    const char *arguments; /* "IN..." */
    const char *summary;   /* one line of help */
    const char *formats;   /* values of --format, blank-separated, the first is the default; NULL: none */
    uint64_t options;      /* OPTION_... that it takes */
};

size_t command_count(void);
const struct command *command_at(size_t index);
const struct command *command_find(const char *name); /* NULL if there is none */

/* Reads the arguments after the command's name, and the environment's SIGHT_* for options that were not given. False
   and a fault for an option that the command does not take. */
bool options_parse(struct options *options, const struct command *command, int argc, char **argv, struct error *err);

/* A row of options.def: the source of completion and help. */
struct option_row {
    char letter;             /* 0: none */
    const char *name, *help; /* name without "--" */
    const char *value;       /* the word of its value; "a|b|c": one of these words; NULL: takes none */
    size_t at;               /* of the member in struct options: a bool, or a const char * if it has a value */
};

/* The row of bit 1 << index in struct command's options; index is below OPTION_COUNT. */
const struct option_row *option_at(size_t index);

/* The options of a command as lines of help. */
void options_write_help(struct output *output, const struct command *command);

/* The rows of options.def. */
enum {
#define OPTION(bit, ...) OPTION_BIT_##bit,
#include "cli/options.def"
    OPTION_COUNT,
    OPTION_FIRST_ALWAYS = OPTION_BIT_JOBS /* this row and those after it are of all commands */
};

/* Bits of struct command's options: one for each row but those of all commands. Beyond the 31st, enumerators are wider
   than int: C23 has that, gcc and clang have had it for long. */
enum {
#define OPTION(bit, ...) OPTION_##bit = 1LL << OPTION_BIT_##bit,
#define OPTION_ALWAYS(bit, ...)
#include "cli/options.def"
    OPTIONS_OUTPUT = OPTION_OUTPUT | OPTION_FORCE,
    OPTIONS_RECORD = OPTION_ONLY | OPTION_SKIP | OPTION_BUFFER | OPTION_MAX_EVENTS | OPTION_CLOCK | OPTION_NO_SOURCE |
                     OPTION_SAMPLES | OPTION_NO_SAMPLES,
    OPTIONS_WATCH = OPTION_TIMEOUT | OPTION_ON_HANG | OPTION_KILL,
    OPTIONS_WHAT_IF = OPTION_IDEAL | OPTION_BALANCE | OPTION_SPEED_UP | OPTION_FREE | OPTION_LATENCY |
                      OPTION_BANDWIDTH | OPTION_BUSES | OPTION_EAGER,
    OPTIONS_SELECT = OPTION_FROM | OPTION_TO | OPTION_PROCESSES,
    OPTIONS_PICTURE = OPTION_WIDTH | OPTION_HEIGHT | OPTION_DPI | OPTION_BY | OPTION_COLORS | OPTION_THEME
};

/* A further bit of struct command's options, for rarely used commands: the main help, which fits on a screen, has only
   the command's name. `sight help NAME` and completion know it. */
enum { COMMAND_UNLISTED = 1LL << 62 };

/* And one for a command that each process of `mpiexec -n N sight` runs for itself. */
enum { COMMAND_ALONE = 1LL << 61 };

/* And one for commands whose inputs are groups that "--" separates: it is one of the inputs, and options may follow. */
enum { COMMAND_GROUPS = 1LL << 60 };

/* And one for a command that starts a launcher: what stands before "--" and is no option of its own is the launcher's.
 */
enum { COMMAND_PASSES = 1LL << 59 };

/* True if the command takes the option of row `index`. */
bool command_takes(const struct command *command, size_t index);

/* "sight: " and the fault on standard error. Returns the exit code of its kind. A broken pipe is silent. */
int command_fault(const struct error *err);

/* As command_fault for a wrong use of a command: adds where to find help. */
int command_usage(const struct command *command, const char *format, ...) PRINTF_LIKE(2, 3);

/* A note on standard error, unless -q. */
void command_note(const struct options *options, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
