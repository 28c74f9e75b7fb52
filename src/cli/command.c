/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/command.h"

#include <stdarg.h>
#include <stdio.h>

/* The reader of our output has gone (sight ... | head): it has what it wanted, and nothing is wrong. */
int command_fault(const struct error *err)
{
    static const int codes[] = {
        [ERROR_NONE] = EXIT_DONE, [ERROR_USAGE] = EXIT_USAGE, [ERROR_INPUT] = EXIT_INPUT, [ERROR_OUTPUT] = EXIT_OUTPUT};
    if (err->broken_pipe)
        return EXIT_DONE;
    fprintf(stderr, "sight: %s\n", err->text);
    return codes[err->kind];
}

int command_usage(const struct command *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("sight: ", stderr);
    vfprintf(stderr, format, args);
    fprintf(stderr, " (try 'sight help %s')\n", command->name);
    va_end(args);
    return EXIT_USAGE;
}

/* On standard error, as everything that is not the result: standard output may be a pipe or a file. */
void command_note(const struct common_options *common, const char *format, ...)
{
    if (common->quiet)
        return;
    va_list args;
    va_start(args, format);
    fputs("sight: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}
