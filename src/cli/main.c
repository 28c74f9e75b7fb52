/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cli/commands.h"

#include "cli/help.h"
#include "cli/run.h"
#include "convert/source_lines.h"
#include "core/memory.h"

#include <libxml/xmlversion.h>
#include <malloc.h>
#include <pango/pangocairo.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct command commands[] = {
#define COMMAND_NAMED(function, name, arguments, summary, formats, options)                                            \
    {name, arguments, summary, formats, (options) | OPTIONS_ALWAYS, cmd_##function},
#define COMMAND(name, ...) COMMAND_NAMED(name, #name, __VA_ARGS__)
#include "cli/commands.def"
};

size_t command_count(void)
{
    return sizeof commands / sizeof *commands;
}

const struct command *command_at(size_t index)
{
    return &commands[index];
}

const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < command_count(); i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

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

void command_note(const struct options *options, const char *format, ...)
{
    if (options->quiet)
        return;
    va_list args;
    va_start(args, format);
    fputs("sight: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

static void print_version(void)
{
#ifdef HAVE_MICROHTTPD
    const bool has_server = true;
#else
    const bool has_server = false;
#endif
    printf("sight %s\n  libxml2 %s, Cairo %s, Pango %s, gzip %s, zstd %s, libdw %s, server %s\n", PACKAGE_VERSION,
           LIBXML_DOTTED_VERSION, cairo_version_string(), pango_version_string(), input_has_gzip() ? "yes" : "no",
           input_has_zstd() ? "yes" : "no", source_lines_there() ? "yes" : "no", has_server ? "yes" : "no");
}

/* A word that is no command: a trace, unless nothing of that name is there and it looks like a mistyped command. */
static bool looks_like_trace(const char *word)
{
    return strcmp(word, "-") == 0 || strpbrk(word, "./") || access(word, F_OK) == 0;
}

static int run_command(int argc, char **argv)
{
    const struct command *command = command_find(argv[0]);
    if (command) {
        argc--;
        argv++;
    } else if ((argv[0][0] == '-' && argv[0][1] != '\0') || looks_like_trace(argv[0])) {
        command = command_find("diagnose");
    } else {
        fprintf(stderr, "sight: unknown command '%s', and no file of that name (try 'sight help')\n", argv[0]);
        return EXIT_USAGE;
    }
    struct options options = {0};
    struct error err = {0};
    if (!options_parse(&options, command, argc, argv, &err))
        return command_fault(&err);
    return options.help ? help_on_command(command) : command->run(command, &options);
}

static void out_of_memory(void)
{
    static const char text[] = "sight: out of memory\n";
    output_remove_unfinished();
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(EXIT_INPUT);
    _exit(EXIT_INPUT);
}

static int dispatch(int argc, char **argv)
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
    return run_command(argc, argv);
}

/* Large arrays are mapped, each by itself: they grow without a copy, what they do not use is not there, and when freed
   they are gone. Else the C library takes them from its heap after a while, which keeps the holes. */
static void map_large_arrays(void)
{
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

int main(int argc, char **argv)
{
    map_large_arrays();
    memory_set_handler(out_of_memory);
    run_catch_signals();
    int code = dispatch(argc - 1, argv + 1);
    if (fflush(stdout) != 0 && code == EXIT_DONE) {
        perror("sight: standard output: cannot write");
        code = EXIT_OUTPUT;
    }
    return code;
}
