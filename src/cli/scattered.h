/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_SCATTERED_H
#define SIGHT_CLI_SCATTERED_H

#include "cli/command.h"

/* A recording of hosts that share no disk: a directory of one name on all of them. */
struct scattered {
    char *const *command; /* of the run, with its launcher */
    size_t count;
    const char *directory; /* the whole path */
    const char *output;    /* of the trace, or of the metrics file; as the user gave it */
    const char *whole;     /* its whole path */
    bool force;            /* replace that */
    bool diagnose;         /* the metrics file, and the diagnosis on standard output */
};

/* Starts `sight merge` on all hosts, as the run was started: the output is written where process 0 is. Then the
   directories are removed, if the recording is complete. *done false: that does not work, and a line says what to do.
   Returns the exit code. */
int scattered_merge(const struct common_options *common, const struct scattered *scattered, bool *done);

#endif
