/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_LAUNCH_H
#define SIGHT_CLI_LAUNCH_H

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Running a command as if we were not in between. */

struct launch_result {
    int code;         /* exit code */
    int signal;       /* that ended it; 0: none */
    int64_t ran_ns;   /* how long it ran */
    int64_t ended_ns; /* when it ended, of CLOCK_MONOTONIC */
};

/* Called while the command runs; returns after how many ms it is to be called again, at the latest. It may set `handle`
   to a descriptor, -1 at first: it is called when that is readable, too. */
typedef int launch_watch(void *context, pid_t command, int *handle);

/* Runs the command and waits for its end. Signals that come meanwhile go to it; those of the terminal's keys reach it
   anyway. `watch` may be NULL. STATUS_FAILED: it could not be started. */
enum status launch(char *const *words, size_t count, launch_watch *watch, void *context, struct launch_result *result,
                   struct error *err) MUST_CHECK;

/* True if a signal came that the command has got, too. */
bool launch_was_signalled(void);

/* Ends this process by the signal that ended the command; returns if there was none. */
void launch_die_alike(const struct launch_result *result);

#endif
