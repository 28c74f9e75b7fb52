/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_PROGRESS_H
#define SIGHT_CLI_PROGRESS_H

#include "cli/option_types.h"

#include <stdbool.h>
#include <stdint.h>

/* How far the reading is, on standard error, by the bytes of the file; at most ten times a second, only on a terminal
   unless asked for, and not before the work has lasted half a second. */
struct progress {
    bool shown;   /* wanted at all */
    bool printed; /* a line stands there */
    int64_t began_ns, next_ns;
};
void progress_begin(struct progress *progress, struct choice when, bool quiet);
bool progress_watch(void *progress, enum engine_step step, uint64_t done, uint64_t total); /* an engine_watch */
void progress_end(struct progress *progress);                                              /* wipes the line */

#endif
