/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_SAME_HOSTS_H
#define SIGHT_CLI_SAME_HOSTS_H

#include "cli/launch.h"

/* The launcher of a run once more, on the same hosts: for files that are on these hosts alone. */

/* Runs the command of the run with the words `instead` in place of each of its programs and their arguments; what
   stands before these (options of the launcher, env, the other programs' parts) stays. STATUS_OK: it has ended, as
   `result` says. *started false: the command does not begin with a launcher, or one of its parts has no program that
   sight can recognise (a script): nothing was started, and there is no fault. */
enum status same_hosts_run(char *const *command, size_t count, const char *const *instead, size_t instead_count,
                           bool *started, struct launch_result *result, struct error *err) MUST_CHECK;

#endif
