/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_LIVE_ITERATIONS_H
#define SIGHT_CLI_LIVE_ITERATIONS_H

#include "core/sink.h"

/* How many iterations of its main loop a running program has done. Of a recording that is read whole, those that its
   processes have in common. Of the last part of a large one, the loop is found in that part, on its first process: a
   call that occurs there once in each iteration is then counted from the begin on. */
struct live_iterations;
struct reader;

struct live_iterations *live_iterations_new(bool whole);
struct sink *live_iterations_sink(struct live_iterations *iterations); /* owned */

/* After the sink's end, with the reader (of a recording) that fed it: how many; 0: no loop was found. Frees it. */
uint64_t live_iterations_end(struct live_iterations *iterations, struct reader *reader);

#endif
