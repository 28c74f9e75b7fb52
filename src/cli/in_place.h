/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_IN_PLACE_H
#define SIGHT_CLI_IN_PLACE_H

#include "cli/command.h"

/* `sight record --diagnose`: reads the recording in the directory where it is, without merging it; writes its metrics
   file to the target and the short diagnosis to standard output. `ended_ns`: CLOCK_MONOTONIC when the program had
   ended. *kept: the directory is not needed any more; it is if that fails, or if other hosts have a part of the
   recording: then a line says how to go on. Returns the exit code. */
int in_place_diagnose(const struct common_options *common, const char *directory, const struct target_options *target,
                      int64_t ended_ns, bool *kept);

#endif
