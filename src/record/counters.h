/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_COUNTERS_H
#define SIGHT_RECORD_COUNTERS_H

#include "record/location.h"

/* Counters of each thread (perf.h), read where its resources are (resources.h): never per call. What the machine does
   not count is left out. */

/* Which ones: names, separated by commas; NULL or "": none. Before the first location is opened. */
void counters_choose(const char *names);

/* Records them; the first time begins to count. By the location's thread, in MPI or with the location busy. */
void counters_put(struct location *location);

/* Ends counting: at the end of the thread, and in a child of fork, where only calls that are safe in handlers are
   allowed. */
void counters_end(struct location *location);

#endif
