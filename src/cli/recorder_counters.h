/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_RECORDER_COUNTERS_H
#define SIGHT_CLI_RECORDER_COUNTERS_H

#include "cli/command_options.h"
#include "core/error.h"

/* What `sight record --counters LIST` may have. */

/* A fault where a name of the list is none. Says in a line which this machine does not count: the program may run on
   others, so that they stay in the list. NULL: there is no list. */
enum status recorder_counters_check(const char *list, const struct common_options *common,
                                    struct error *err) MUST_CHECK;

/* All names, and whether this machine counts them. Returns the exit code. */
int recorder_counters_list(void);

#endif
