/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_STUCK_MAY_HANG_H
#define SIGHT_STUCK_MAY_HANG_H

#include "graph/graph.h"

/* A run that came to its end only because MPI buffered messages: MPI_Send may wait until the message is received
   (MPI-4.0, 3.4 and 3.5: such programs are unsafe), and does so for larger messages, or in another MPI.

   The recorded calls are played again, in their order and with their messages, but so that no send returns before its
   receive is posted, as with MPI_Ssend. If that comes to a halt, some calls wait for each other: a cycle. It is
   reported only if it is certain from the trace:

   - Only what MPI may do counts: MPI_Send, MPI_Rsend and MPI_Sendrecv, and waits for MPI_Isend, wait for the receive;
     blocking collectives in which all wait for all, for their members; receives for their messages.
   - Where the trace does not record when a receive was posted, it counts as posted.
   - No receiver in the cycle has both a receive open and another message coming on that communicator: a receive of
     MPI_ANY_SOURCE would take it. */

struct may_hang_call {
    uint32_t rank;
    uint32_t state;       /* index into defs->states */
    uint32_t site;        /* 1 + index into defs->sites; 0: not known */
    int32_t comm;         /* index into defs->comms; EVENT_UNKNOWN */
    int32_t partner, tag; /* of the message; of a collective EVENT_UNKNOWN */
    int64_t bytes;        /* BYTES_UNKNOWN */
    bool sends;           /* it waits for `partner` to receive; else for a message of it */
    int64_t enter_ns;     /* on the trace's clock */
};

struct may_hang {
    const struct defs *defs;     /* borrowed of the graph */
    struct may_hang_call *cycle; /* each waits for the next one's process, the last for the first's */
    size_t count;                /* 0: nothing was found */
    char *text;                  /* sentences; NULL if there is none */
};

/* Time and memory: about linear in the calls and messages. Free with may_hang_free. */
struct may_hang *may_hang_of(const struct graph *graph);
void may_hang_free(struct may_hang *found); /* NULL: nothing */

#endif
