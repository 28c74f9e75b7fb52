/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight run -n 4 -- ./app`: starts a program under its MPI, records it, and prints the short diagnosis. */
#include "cli/commands.h"

#include "cli/program.h"
#include "cli/recording.h"
#include "cli/run_check.h"
#include "core/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* mpiexec of the MPI that the program is linked to, with what was given for it. */
struct words {
    char **word;
    size_t count, capacity;
};

/* Words are only passed on to exec, which takes them without const but leaves them as they are. */
static void add(struct words *words, const char *word)
{
    ARRAY_PUSH(words->word, words->count, words->capacity, (char *)(uintptr_t)word);
}

/* Words between blanks; '...' and "..." hold blanks. Cuts the text in place. */
static void add_each(struct words *words, char *text)
{
    for (char *at = text + strspn(text, " \t\n"); *at; at += strspn(at, " \t\n")) {
        char *from = at, *to = at;
        for (char quote = '\0'; *at && (quote || !strchr(" \t\n", *at)); at++) {
            if (quote ? *at == quote : *at == '\'' || *at == '"')
                quote = quote ? '\0' : *at;
            else
                *to++ = *at;
        }
        at += *at != '\0';
        *to = '\0';
        add(words, from);
    }
}

static void add_launcher(struct words *words, const struct run_options *options, char *launcher_arguments)
{
    enum mpi_kind kind = program_find(options->common.inputs, 1).kind;
    add(words, program_launcher_of(kind));
    add(words, "-n");
    add(words, options->number.text ? options->number.text : "4");
    /* Processes share cores here as they do under MPICH. */
    if (kind == MPI_KIND_OPENMPI)
        add(words, "--oversubscribe");
    for (size_t i = 0; i < options->common.passed_count; i++)
        add(words, options->common.passed[i]);
    if (launcher_arguments)
        add_each(words, launcher_arguments);
}

static void diagnose(const struct common_options *common, const char *output)
{
    char *input = (char *)(uintptr_t)output;
    struct diagnose_options shown = {.common = {.inputs = &input, .input_count = 1, .color = common->color}};
    if (access(output, R_OK) == 0)
        cmd_diagnose(command_find("diagnose"), &shown);
    fflush(stdout); /* the program's signal may end sight, too */
}

/* Refused before anything is started. What a launcher is given stands after its name: added by sight in front of it, it
   would be an option of another program. */
static enum status check(const struct run_options *options, struct error *err)
{
    const struct common_options *common = &options->common;
    if (!program_is_launcher(common->inputs[0]))
        return run_check(common->inputs, common->input_count, err);
    if (options->number.text || options->launcher_args || common->passed_count > 0)
        return error_set(err, ERROR_USAGE,
                         "%s is a launcher itself: give it its options after its name (sight run %s -n 4 ./app)",
                         common->inputs[0], common->inputs[0]);
    return STATUS_OK;
}

int cmd_run(const struct command *command, const struct run_options *options)
{
    const struct common_options *common = &options->common;
    struct error err = {0};
    if (common->input_count == 0)
        return command_usage(command, "no program given");
    if (check(options, &err) != STATUS_OK)
        return command_fault(&err);
    struct words words = {0};
    char *launcher_arguments = memory_copy_string(options->launcher_args);
    if (!program_is_launcher(common->inputs[0]))
        add_launcher(&words, options, launcher_arguments);
    for (size_t i = 0; i < common->input_count; i++)
        add(&words, common->inputs[i]);
    const struct recording recording = {.common = common,
                                        .target = &options->target,
                                        .recorder = &options->recorder,
                                        .watch = &options->watch,
                                        .words = words.word,
                                        .count = words.count,
                                        .diagnose = diagnose};
    int code = recording_run(&recording);
    free(words.word);
    free(launcher_arguments);
    return code;
}
