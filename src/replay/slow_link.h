/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_SLOW_LINK_H
#define SIGHT_REPLAY_SLOW_LINK_H

#include "replay/usual_times.h"

/* A link on which messages take much longer than comparable ones elsewhere (transfers.h). It is slow if, of at least
   SLOW_LEAST known transfers,

   - the median takes SLOW_TIMES as long as usual, and three in four twice as long: not a few that were held up;
   - no other pair of processes is half as slow, nor one in twenty of the other messages: then pairs are of several
   sorts, near and far ones. Two pairs of processes or hosts may be slow alike, and no more: if hosts are not known, not
   where these could be what joins two hosts, with several processes that are near each other at every end;
   - a clock that is ahead does not explain it: it would make the other way as fast as this one slow. Collectives, and
   the fastest messages on this way, bound by how much it can be ahead (clock_lead.h); sends and receives that wait for
   each other need no clock in common (transfers.h).

   Where all messages together are not slow, those from some size on may be: then only these count.

   Where messages travel one way only, return before they are received, and all take equally long, with no collective,
   a slow link looks like a clock that is ahead: nothing is reported then. */
enum { SLOW_LEAST = 10, SLOW_TIMES = 3 };

enum slow_way { SLOW_BOTH_WAYS, SLOW_FROM_ONE, SLOW_TO_ONE };

struct slow_link {
    struct link_set links; /* two only of pairs, which are slow the same way */
    enum slow_way way;
    uint64_t from_bytes;      /* only messages of so many bytes or more are slow; 0: all */
    uint64_t messages, bytes; /* on that way, all of these */
    bool without_clocks;      /* only the bounds count that need no clock in common */
    int64_t ns, usual_ns;     /* medians, there and elsewhere, of the kind that loses most */
    double alike;             /* another pair that takes so many times as long as usual is slow, too */
    struct usual_times usual; /* of all kinds; owned */
};

/* The slow one of these links: a pair of processes if it is only one, else one process, else hosts, else two pairs.
   False: there is none. Free the result with slow_link_clear. Memory: 48 bytes for each of 16,000 messages, and 1 for
   each channel. Time: that of reading the channel of each message, for each link that seems slow in a sample. */
bool slow_link_find(const struct transfer_meter *meter, const struct path_links *links, struct slow_link *slow);
void slow_link_clear(struct slow_link *slow);

/* True if a message from one row to another is on its slow way. */
bool slow_link_delays(const struct slow_link *slow, const uint32_t *hosts, uint32_t sender, uint32_t receiver);

/* By channel of the graph: true if its messages are. To be freed. */
bool *slow_link_channels(const struct slow_link *slow, const struct transfer_meter *meter);

#endif
