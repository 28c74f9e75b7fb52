/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight run -n 4 -- ./app`: starts a program under its MPI, records it, and prints the short diagnosis. */
#include "cli/commands.h"

#include "cli/program.h"
#include "cli/recording.h"
#include "core/memory.h"
#include "core/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LAUNCHER_WORDS = 4 };

/* mpiexec of the MPI that the program is linked to. */
static size_t launcher_words(char **words, enum mpi_kind kind, const char *number)
{
    size_t count = 0;
    const char *own = kind == MPI_KIND_OPENMPI ? "mpiexec.openmpi" : "mpiexec.mpich";
    words[count++] = (char *)(program_launcher_kind(own) == kind ? own : "mpiexec");
    words[count++] = (char *)"-n";
    words[count++] = (char *)number;
    /* Processes share cores here as they do under MPICH. */
    if (kind == MPI_KIND_OPENMPI)
        words[count++] = (char *)"--oversubscribe";
    return count;
}

static void diagnose(const struct options *options, const char *output)
{
    char *input = (char *)(uintptr_t)output;
    struct options shown = {.inputs = &input, .input_count = 1, .color = options->color};
    if (access(output, R_OK) == 0)
        cmd_diagnose(command_find("diagnose"), &shown);
    fflush(stdout); /* the program's signal may end sight, too */
}

int cmd_run(const struct command *command, const struct options *options)
{
    int64_t number;
    const char *processes = options->number ? options->number : "4";
    if (options->input_count == 0)
        return command_usage(command, "no program given");
    if (!text_parse_i64(processes, 1, 1 << 20, &number))
        return command_usage(command, "'%s' is not a number of processes", processes);
    struct program program = program_find(options->inputs, 1);
    char **words = memory_new((options->input_count + LAUNCHER_WORDS) * sizeof *words);
    size_t count = launcher_words(words, program.kind, processes);
    for (size_t i = 0; i < options->input_count; i++)
        words[count++] = options->inputs[i];
    struct options recorded = *options;
    recorded.inputs = words;
    recorded.input_count = count;
    char *output = recording_output(&recorded);
    int code = recording_run(&recorded, output, diagnose);
    free(words);
    free(output);
    return code;
}
