/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_TEAMWORK_H
#define SIGHT_CLI_TEAMWORK_H

#include "cli/command.h"
#include "team/team.h"

/* `mpiexec -n N sight COMMAND ...`: process 0 runs the command and prints; the others read shares of its trace. */

/* Where an MPI launcher started several processes, and the arguments are no command that each runs for itself: joins
   them. In process 0, and where there is nothing to join, returns true with the team or NULL. Else false, with the exit
   code: this process has done its part. */
bool teamwork_begin(int count, char *const *arguments, struct team **team, int *code);

/* Process 0, before the command: its inputs that are directories have the files of all hosts from now on, each host its
   own where they share no file system. */
enum status teamwork_gather(const struct common_options *common, struct error *err) MUST_CHECK;

/* Process 0: the command ended with `code`. */
void teamwork_end(struct team *team, int code);

#endif
