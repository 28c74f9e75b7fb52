/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_HOST_H
#define SIGHT_RECORD_HOST_H

#include <stddef.h>
#include <stdint.h>

/* Which computer this is. */

/* Its name, of characters that a file name may have. */
void host_name(char *name, size_t size);

/* A number that is equal where processes share one clock. For tests SIGHT_RECORD_TEST_CLOCK="OFFSET DRIFT" makes each
   process a host of its own, whose clock is wrong by rank * OFFSET ns and rank * DRIFT ns per ns. */
uint64_t host_of_clock(int rank);

#endif
