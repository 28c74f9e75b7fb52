/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_PARALLEL_H
#define SIGHT_CORE_PARALLEL_H

#include <stddef.h>

/* Runs task(context, 0) to task(context, count - 1), each once, in up to `threads` threads, including the caller's;
   returns when all are done. Tasks start in order. They must not depend on each other. If no thread can be created, the
   caller does everything. */
void parallel_run(unsigned threads, size_t count, void (*task)(void *context, size_t index), void *context);

/* Number of processors that this process may use; at least 1. */
unsigned parallel_processors(void);

#endif
