/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_USUAL_TIMES_H
#define SIGHT_REPLAY_USUAL_TIMES_H

#include "replay/path_links.h"
#include "replay/transfers.h"

/* How long messages usually take that do not travel over any of some links: the median of each kind, of at least
   USUAL_LEAST transfers between at least two pairs of processes. */
enum { USUAL_LEAST = 10 };
struct usual_time {
    uint32_t kind;
    int64_t ns;
};
struct usual_times {
    struct usual_time *time; /* by kind; owned */
    size_t count;
};

/* For usual_times_of(): by kind, then by `most_ns`. */
void transfers_sort(struct transfer *sample, size_t count);

/* True if the transfer is not over any of the links, nor in a call with one that is: that call may have waited for it.
 */
bool transfer_is_apart(const struct transfer_meter *meter, const struct transfer *transfer,
                       const struct link_set *links);

/* Of a sorted sample. Free with usual_times_clear. */
struct usual_times usual_times_of(const struct transfer_meter *meter, const struct transfer *sample, size_t count,
                                  const struct link_set *links);
void usual_times_clear(struct usual_times *times);

/* Of messages of this kind; if there are too few, of the fastest kind that takes at least as long. -1: not known. */
int64_t usual_ns(const struct usual_times *times, uint32_t kind);

#endif
