/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_IN_PLACE_H
#define SIGHT_CLI_IN_PLACE_H

#include "cli/command.h"

/* What became of a recording that was diagnosed in place. */
struct in_place {
    bool done;      /* the metrics are written */
    bool elsewhere; /* other hosts have a part of it */
    bool nothing;   /* no process had a place to record to */
};

/* Reads the recording in the directory where it is, without merging it; writes its metrics file to the target and the
   short diagnosis to standard output. Without `partly` nothing is written where other hosts have a part. Returns the
   exit code. */
int in_place_diagnose(const struct common_options *common, const char *directory, const struct target_options *target,
                      bool partly, struct in_place *place);

#endif
