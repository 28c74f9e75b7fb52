/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_HANDED_OVER_H
#define SIGHT_REPLAY_HANDED_OVER_H

#include "graph/graph.h"

/* Data that processes hand to one that writes files for them, or get from one that reads files for them: it is there
   only because that process does their file I/O. These are messages that the writer receives, and gathers whose root it
   is, before it writes, and messages that a reader sends, and scatters whose root it is, after it has read, with less
   computing in between than the calls on files take. No data are handed over
   - where more than half of all locations read or write files by themselves;
   - unless at least half of the others do it;
   - by processes that get something back at once, or ask for what they get: they may be workers of a master. */
struct handed_over {
    bool *messages;  /* by message of the graph; owned */
    bool *instances; /* by instance; owned */
    uint64_t count;  /* of both */
};

/* NULL: no data are handed over. The caller frees it with handed_over_free. */
struct handed_over *handed_over_of(const struct graph *graph);
void handed_over_free(struct handed_over *handed);

/* True for a collective in which data are handed over, and if that is all that the messages are for which the call
   sends, receives, completes and posts. */
bool handed_over_call(const struct graph *graph, const struct call *call, const struct handed_over *handed);

#endif
