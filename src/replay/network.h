/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_NETWORK_H
#define SIGHT_REPLAY_NETWORK_H

#include "graph/graph.h"

/* A recorded program on another network, after Dimemas (rules of diagnosis, 4): computing takes as long as recorded,
   time inside MPI is discarded and simulated.

   - A send keeps its processor for the latency; then the message takes the sender's link out, the receiver's link in
   and one bus, for its bytes / bandwidth. First come, first served. It arrives at the end of that.
   - Below the eager limit the sender continues at once. From the limit on (and in MPI_Ssend), rendezvous: the transfer
   begins only when its receive is posted (one that completes in a wait, and was posted at an unknown time, counts as
   posted in time), and a blocking send waits; a send that was only started is waited for by the call that completes it.
   - A process that waits on a window (graph_windows.h) continues one latency after the event it waits for: the post,
   the complete, the end of the holder's unlock. Data of one-sided calls cost nothing.
   - A collective begins when the last process arrives, and all leave it after stages of (latency + bytes / bandwidth)
   each: the depth of its tree, in MPI_Alltoall one for each other process, in and out. MPI_Init and MPI_Finalize cost
   nothing. The two groups of an inter-communicator are one. A neighbourhood collective ends for each process after the
   last of its neighbours arrives plus one stage per neighbour; if these are not known it costs nothing.

   Not simulated: MPI's own computing, collectives that are only started, polling (the time between two calls is
   computing). */

struct network {
    int64_t latency_ns;  /* up to NETWORK_LATENCY_MAX */
    double bytes_per_s;  /* 0: infinite */
    uint32_t buses;      /* messages in transit at once; 0: any number, up to NETWORK_BUSES_MAX */
    int64_t eager_limit; /* bytes from which sends are rendezvous; NETWORK_EAGER: only MPI_Ssend is */
    bool sender_stays;   /* a blocking rendezvous send returns at the end of its transfer, as in MPI; else at its begin,
                            as in Dimemas */
    const double *compute; /* by location: factor for the time of computing; NULL: as recorded */
};
#define NETWORK_EAGER INT64_MAX
#define NETWORK_LATENCY_MAX INT64_C(10000000000)
enum { NETWORK_BUSES_MAX = 65536 };

struct network_run {
    int64_t end_ns;  /* when the last location ends, counted from the run's begin */
    bool deadlock;   /* with rendezvous it deadlocks: these numbers are with eager sends */
    uint64_t forced; /* calls that continued without their partner, because it would never arrive */
};

/* Time: linear in calls and messages, times the logarithm of the number of locations. Memory: 25 bytes for each
   message, 16 for each edge on a window, for each collective and each member of a neighbourhood collective. */
struct network_run network_replay(const struct graph *graph, const struct network *network);

/* Stages of a tree over so many processes, with so many messages at once (0: any number). */
uint64_t network_stages(uint32_t processes, uint32_t buses);

/* How long a collective takes with this many processes and bytes; `name` is its function's. */
int64_t network_collective_ns(const struct network *network, const char *name, uint32_t processes, int64_t bytes);

#endif
