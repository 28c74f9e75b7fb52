/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cli/commands.h"

#include "cli/help.h"
#include "cli/options.h"
#include "cli/output_check.h"
#include "cli/run.h"
#include "cli/teamwork.h"
#include "core/guess.h"
#include "core/input.h"
#include "core/memory.h"
#include "core/memory_file.h"
#include "core/memory_room.h"
#include "core/unfinished.h"
#include "team/team.h"

#include <errno.h>
#include <libxml/xmlversion.h>
#include <pango/pangocairo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Functions of different types cannot be called through one pointer (C17, 6.3.2.3): a row of the table is a function
   that knows the type. Each command's function takes its own struct: the one that command->options_size is of. */
#define COMMAND(function, ...)                                                                                         \
    static int start_##function(const struct command *command, const void *options)                                    \
    {                                                                                                                  \
        return cmd_##function(command, options);                                                                       \
    }
#define COMMAND_NAMED COMMAND
#include "cli/commands.def"

/* In the order of the table. */
static int (*const runs[])(const struct command *command, const void *options) = {
#define COMMAND(function, ...) start_##function,
#define COMMAND_NAMED COMMAND
#include "cli/commands.def"
};

static void print_version(void)
{
    printf("sight %s\n  libxml2 %s, Cairo %s, Pango %s\n  %s\n", PACKAGE_VERSION, LIBXML_DOTTED_VERSION,
           cairo_version_string(), pango_version_string(), SIGHT_FEATURES);
}

/* A word that is no command: a trace, unless nothing of that name is there and it looks like a mistyped command. */
static bool looks_like_trace(const char *word)
{
    return strcmp(word, "-") == 0 || strpbrk(word, "./") || access(word, F_OK) == 0;
}

/* A missing trace with a plain name looks the same: the message speaks of both. */
static int unknown_command(const char *name)
{
    char text[GUESS_TEXT];
    struct guess guess = guess_of(name, strlen(name));
    for (size_t i = 0; i < command_count(); i++)
        guess_try(&guess, command_at(i)->name);
    guess_try(&guess, "help");
    char *shown = input_escape_name(name);
    fprintf(stderr, "sight: unknown command '%s', and no file of that name%s\n", shown,
            guess_text(text, &guess, "", " (try 'sight help')"));
    free(shown);
    return EXIT_USAGE;
}

/* Allocates nothing, and leaves at once: destructors could ask for memory, too. */
static void out_of_memory(void)
{
    static const char text[] = "sight: out of memory\n";
    unfinished_remove();
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(EXIT_INPUT);
    _exit(EXIT_INPUT);
}

/* The same where --memory has no more room; `text` is one line. */
static void out_of_disk(const char *text)
{
    const char *parts[] = {"sight: ", text, "\n"};
    unfinished_remove();
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (write(STDERR_FILENO, parts[i], strlen(parts[i])) < 0)
            break;
    _exit(EXIT_OUTPUT);
}

/* Processes that help another one have no options, and say nothing. */
static bool quiet = true;

/* Where --memory was not given, and more is needed than there is. */
static void on_disk(const char *directory)
{
    if (quiet)
        return;
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr); /* what shows the progress */
    fprintf(stderr, "sight: this needs more memory than is free: the rest goes to a file in %s\n", directory);
}

static void watch_memory(void)
{
    const char *as_if = getenv("SIGHT_TEST_ROOM");
    uint64_t room = as_if ? strtoull(as_if, NULL, 10) : memory_room();
    memory_file_watch(room, out_of_disk, on_disk);
}

/* Only commands with the option: others hand blocks to libraries that free them with the C library's free(). */
static enum status limit_memory(const struct command *command, const void *options, struct error *err)
{
    double memory = options_bytes(command, options, "memory");
    if (memory > 0)
        return memory_file_begin((uint64_t)memory, out_of_disk, err);
    if (options_have(command, "memory"))
        watch_memory();
    else
        memory_set_watch(NULL);
    return STATUS_OK;
}

/* Its first argument is a trace, which may not be left out. */
static bool needs_trace(const struct command *command)
{
    return strncmp(command->arguments, "IN...", 5) == 0 || strncmp(command->arguments, "TRACE", 5) == 0;
}

static int run_command(struct team *team, int argc, char **argv)
{
    const struct command *command = command_find(argv[0]);
    if (command) {
        argc--;
        argv++;
    } else if ((argv[0][0] == '-' && argv[0][1] != '\0') || looks_like_trace(argv[0])) {
        command = command_find("diagnose");
    } else {
        return unknown_command(argv[0]);
    }
    struct error err = {0};
    /* as large as the command's struct, which begins with what is common to all */
    struct common_options *options = memory_new(command->options_size);
    int code;
    options->team = team;
    bool parsed = options_parse(command, options, argc, argv, &err);
    quiet = options->quiet;
    if (!parsed || !output_check(options_text(command, options, "output"), options, &err) ||
        teamwork_gather(options, &err) != STATUS_OK)
        code = command_fault(&err);
    else if (options->help)
        code = help_on_command(command);
    else if (options->input_count == 0 && needs_trace(command))
        code = command_usage(command, "no trace given");
    else if (limit_memory(command, options, &err) != STATUS_OK)
        code = command_fault(&err);
    else
        code = runs[command - command_at(0)](command, options);
    options_clear(command, options);
    free(options);
    return code;
}

static int dispatch(struct team *team, int argc, char **argv)
{
    if (argc == 0)
        return help(0, argv);
    if (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0)
        return help(0, argv);
    if (strcmp(argv[0], "help") == 0)
        return help(argc - 1, argv + 1);
    if (strcmp(argv[0], "--version") == 0 || strcmp(argv[0], "-V") == 0) {
        print_version();
        return EXIT_DONE;
    }
    return run_command(team, argc, argv);
}

/* A pipe without a reader (sight help | head) ends the work silently. */
static int finish_output(int code)
{
    if (fflush(stdout) == 0 || code != EXIT_DONE || errno == EPIPE)
        return code;
    perror("sight: standard output: cannot write");
    return EXIT_OUTPUT;
}

int main(int argc, char **argv)
{
    memory_map_large();
    memory_set_handler(out_of_memory);
    run_ignore_signals();
    /* For the parts of a diagnosis that another process asks for. */
    if (team_launcher())
        watch_memory();
    struct team *team;
    int code;
    if (!teamwork_join(argc - 1, argv + 1, &team, &code))
        return code;
    /* Not before: of a process that has not joined yet, MPICH's launcher ends the others only when a signal killed it.
     */
    run_catch_signals();
    if (team_rank(team) > 0)
        return teamwork_serve(team);
    code = finish_output(dispatch(team, argc - 1, argv + 1));
    teamwork_end(team, code);
    return code;
}
