/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_RUN_CHECK_H
#define SIGHT_CLI_RUN_CHECK_H

#include "cli/command.h"
#include "cli/program.h"

/* What would go wrong with a command that is to be recorded is said before it is started, in one line. */

/* `words` is the whole command, with its launcher if it has one. A fault where the program cannot be run, is not an MPI
   program, or where Open MPI would refuse to start it. */
enum status run_check(char *const *words, size_t count, struct error *err) MUST_CHECK;

/* A note where the launcher is another MPI's than the program: each process would be a run of its own. */
void run_check_launcher(const struct common_options *common, char *const *words, size_t count);

#endif
