/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_STILL_RUNNING_H
#define SIGHT_CLI_STILL_RUNNING_H

#include <stddef.h>

/* A launcher that is killed ends before the processes that it has started, and these are still writing. Waits until
   those of this host that have files in the directory and did not come to MPI_Finalize are gone, for some seconds at
   most. Returns how many are still there. */
size_t still_running_wait(const char *directory);

/* How many of them are there now. */
size_t still_running_count(const char *directory);

#endif
