/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_PARALLEL_H
#define SIGHT_CORE_PARALLEL_H

#include <stddef.h>

/* Runs task(context, 0) to task(context, count - 1), each once, in up to `threads` threads, the caller's among them;
   returns when all are done. Tasks are begun in order. They must not depend on each other. Where no thread can be had
   the caller does all. */
void parallel_run(unsigned threads, size_t count, void (*task)(void *context, size_t index), void *context);

/* Processors that this process may use; at least 1. */
unsigned parallel_processors(void);

#endif
