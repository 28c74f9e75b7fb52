/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_RECORDING_H
#define SIGHT_CLI_RECORDING_H

#include "cli/command.h"

/* The common part of `record` and `run`. */

/* A command that is to be recorded. */
struct recording {
    const struct common_options *common;
    const struct target_options *target; /* of the trace; without a path it is named after the program */
    const struct recorder_options *recorder;
    const struct watch_options *watch;
    char *const *words; /* the whole command, with its launcher if it has one */
    size_t count;
    /* Diagnoses the trace when it is there, also of a program that was killed; NULL: the last line says how to. */
    void (*diagnose)(const struct common_options *common, const char *output);
};

/* Runs the command with a recording library in front of its MPI, and writes the trace. Returns the exit code: the
   command's own, unless that is 0 and the trace could not be written. A command that was ended by a signal ends this
   process the same way. */
int recording_run(const struct recording *recording);

/* Runs the command once with the recording library in front of its MPI, or without, and throws away what was recorded:
   for how long it takes. The environment is changed for good. */
struct launch_result;
enum status recording_try(const struct recording *recording, bool records, struct launch_result *result,
                          struct error *err) MUST_CHECK;

/* Prints the linker options for programs with a static MPI, for the MPI of a compiler (mpicc). */
int recording_print_link(const char *compiler);

#endif
