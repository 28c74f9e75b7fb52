/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_TRANSFERS_H
#define SIGHT_REPLAY_TRANSFERS_H

#include "graph/graph.h"

/* How long messages take once both ends are there. A trace shows when calls begin and end, not when data move: each
   transfer has bounds.

   - At least: from the enter of the send, or of the call in which it is received if that is later, to the end of that
   call. A process that has only started a send (MPI_Isend) may move nothing while it computes: that time is left out.
   - At most: from the enter of the send; if it had to wait until its receive was posted, from then on.

   Both are as good as the clocks of the two processes. A blocking send that waits until the message is received has a
   bound that needs no clock in common: the call that is entered last takes as long as the transfer, and the other one
   longer. So the shorter of the two is that, or less if the send did not wait.

   Messages of one kind are comparable: their bytes differ by less than a factor of two (below SMALL_BYTES they do not
   matter), as do the numbers of messages that the sender sends, and the receiver receives, one right after the other,
   since these share a link; and all or none of them stay within a host. */

struct transfer {
    uint32_t message;
    uint32_t sender, receiver; /* rows of processes */
    uint32_t kind;
    int64_t least_ns; /* below 0: received before it is sent */
    int64_t most_ns;
    int64_t both_ns;   /* of the blocking send and receive the shorter; 0: one of them does something else as well */
    bool known;        /* the bounds differ by a factor of two at most */
    bool shares_calls; /* it is received in a call that receives other messages, or completes sends, as well */
};

/* What measuring needs; borrowed. */
struct transfer_meter {
    const struct graph *graph;
    const uint32_t *rows;  /* by location: row of its process */
    const uint32_t *hosts; /* by row: number of its host; NULL: not known */
};

/* False: an end or the bytes are not known, or it stays in its process. */
bool transfer_measure(const struct transfer_meter *meter, uint32_t message, struct transfer *transfer);

/* Takes the bound that needs no clock in common where it is lower than the other. */
void transfer_without_clocks(struct transfer *transfer);

/* Transfers of up to `most` messages from all over the run; free() it. */
struct transfer *transfers_sample(const struct transfer_meter *meter, size_t most, size_t *count);

/* True if transfers of the first kind take at least as long as those of the other, for all that is known: as many bytes
   or more, with as many others or more. */
bool transfer_kind_covers(uint32_t kind, uint32_t other);

/* Messages of the kind have at least so many bytes. 0: they are small. */
uint64_t transfer_kind_bytes(uint32_t kind);

#endif
