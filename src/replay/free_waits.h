/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_FREE_WAITS_H
#define SIGHT_REPLAY_FREE_WAITS_H

#include "replay/replay.h"

/* Kinds that are replayed together with the kind, as bits 1 << kind: the two wrong orders are one problem, and a
   process that waits in the wrong order waits for a late sender. */
unsigned free_waits_with(enum wait_kind kind);

/* Lets a replay run without the waits of the kind, on top of what the options change already: one replay for the
   diagnosis, the standard scenarios and what is asked for. Waits of other kinds end at once; without a wrong order the
   messages still come when they come, and the receives take them in the order of arrival. Without I/O, no data are
   handed to a process that does it for others (handed_over.h). */
void free_waits_add(const struct graph *graph, enum wait_kind kind, struct replay_options *options);

/* Frees what free_waits_add() has added. */
void free_waits_clear(struct replay_options *options);

#endif
