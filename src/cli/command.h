/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_COMMAND_H
#define SIGHT_CLI_COMMAND_H

#include "cli/command_options.h"
#include "core/error.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* A subcommand is a file cmd_X.c, a line in commands.def, a struct in command_options.h and its rows of options.def. */

/* X(name, code, meaning): exit codes (design: command line). */
#define EXIT_CODES(X)                                                                                                  \
    X(DONE, 0, "done; also a closed pipe")                                                                             \
    X(CONDITION, 1, "a condition of --fail-on holds")                                                                  \
    X(USAGE, 2, "wrong usage: an unknown option or an invalid value")                                                  \
    X(DAMAGED, 3, "done, but the input is damaged: standard error says how much was read")                             \
    X(INPUT, 4, "the input cannot be read")                                                                            \
    X(OUTPUT, 5, "the output cannot be written")                                                                       \
    X(TIMEOUT, 124, "sight ended the program: --timeout, or --on-hang with --kill")                                    \
    X(INTERRUPTED, 130, "interrupted (143 by SIGTERM, 129 by SIGHUP): no unfinished output is left")

enum exit_code {
#define EXIT_CODE_MEMBER(name, code, meaning) EXIT_##name = (code),
    EXIT_CODES(EXIT_CODE_MEMBER)
#undef EXIT_CODE_MEMBER
        EXIT_SIGNAL = 128, /* plus the number of the signal that ended the command, as a shell has it */
};
_Static_assert(EXIT_INTERRUPTED == EXIT_SIGNAL + SIGINT, "interrupted is Ctrl-C");

struct command {
    const char *name;
    const char *arguments; /* "IN..." */
    const char *summary;   /* one line of help */
    const char *formats;   /* values of --format, blank-separated, the first is the default; NULL: none */
    unsigned kind;         /* of enum command_kind */
    size_t options_size;   /* of its struct NAME_options */
};

/* What is special about a command. */
enum command_kind {
    COMMAND_LISTED = 0,
    COMMAND_UNLISTED = 1 << 0, /* rarely used: the main help, which fits on a screen, has only its name */
    COMMAND_ALONE = 1 << 1,    /* each process of `mpiexec -n N sight` runs it for itself */
    COMMAND_GROUPS = 1 << 2,   /* "--" separates groups of inputs: it is one of them, and options may follow */
    COMMAND_PASSES = 1 << 3,   /* starts a launcher: what stands before "--" and is no option of its own is for that */
    COMMAND_STARTS = 1 << 4,   /* starts a program: without "--" the first word that is no option, and all after it */
    COMMAND_MAY_START = 1 << 5 /* starts the program that follows "--", and is alone if there is one */
};

size_t command_count(void);
const struct command *command_at(size_t index);
const struct command *command_find(const char *name); /* NULL if there is none */

/* "sight: " and the fault on standard error. Returns the exit code of its kind. A broken pipe is silent. */
int command_fault(const struct error *err);

/* As command_fault for a wrong use of a command: adds where to find help. */
int command_usage(const struct command *command, const char *format, ...) PRINTF_LIKE(2, 3);

/* A note on standard error, unless -q. */
void command_note(const struct common_options *common, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
