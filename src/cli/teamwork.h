/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_TEAMWORK_H
#define SIGHT_CLI_TEAMWORK_H

#include "cli/command.h"
#include "team/team.h"

/* `mpiexec -n N sight COMMAND ...`: process 0 runs the command and prints; the others read shares of its trace. */

/* Where an MPI launcher started several processes, and the arguments are no command that each runs for itself: joins
   them; NULL: there is nothing to join. False, with the exit code: it failed. */
bool teamwork_join(int count, char *const *arguments, struct team **team, int *code);

/* All processes but 0: does what process 0 asks for, until it ends. Returns the exit code. */
int teamwork_serve(struct team *team);

/* Process 0, before the command: its inputs that are directories have the files of all hosts from now on, each host its
   own where they share no file system. */
enum status teamwork_gather(const struct common_options *common, struct error *err) MUST_CHECK;

/* Process 0: the command ended with `code`. */
void teamwork_end(struct team *team, int code);

#endif
