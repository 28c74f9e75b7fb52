/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_STUCK_OPEN_CALLS_H
#define SIGHT_STUCK_OPEN_CALLS_H

#include "core/sink.h"

#include <stdbool.h>

/* Whether some process is in MPI at the end of a trace, without what it would take to say why: a sink that costs a
   tenth of the one of stuck.h. For traces of other recorders: only if it says so need they be read again for that one.
 */
struct open_calls;
struct open_calls *open_calls_new(void);
struct sink *open_calls_sink(struct open_calls *calls); /* owned by the calls */

/* True for traces of sight's recorder: marks tell how the processes ended, and of a run that finished stuck.h looks at
   nothing. */
bool open_calls_are_told(const struct defs *defs);

/* Frees them. True: some process is in a call other than MPI_Finalize, in which other recorders write their traces. */
bool open_calls_end(struct open_calls *calls);

#endif
