/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_MATCH_ENDS_H
#define SIGHT_GRAPH_MATCH_ENDS_H

#include "core/sink.h"
#include "core/sorter.h"

#include <stdbool.h>

/* The ends of messages in a trace or a part of it: a sink, whose memory is bounded. Each end has an owner, who matches
   all messages between its two processes. Where parts of a trace are read separately, an owner gets its ends from all
   of them. */

/* One end: channel and time. Its key is (sender, receiver), (communicator, tag). */
struct match_end {
    struct sort_key key;
    int64_t time_ns;
};

/* What is counted before anything is matched. */
struct match_tally {
    uint64_t sent, received;             /* ends that can be matched: partner known and not MPI_PROC_NULL */
    uint64_t bytes_sent, bytes_received; /* of these */
    uint64_t null_ends;                  /* to or from MPI_PROC_NULL */
    uint64_t unknown_ends;               /* partner not known */
    bool numbered; /* messages of inter-communicators have numbers of this part in their keys: its ends do not meet
                      those of other parts */
};

struct match_ends;
struct match_ends *match_ends_new(unsigned owners); /* at least 1 */
void match_ends_free(struct match_ends *ends);
struct sink *match_ends_sink(struct match_ends *ends); /* owned by the ends */

const struct match_tally *match_ends_tally(const struct match_ends *ends);

/* The ends of one owner, sends or receives, by key and then in the order of the trace: begins at the first one. */
enum status match_ends_begin(struct match_ends *ends, unsigned owner, bool receives, struct error *err) MUST_CHECK;

/* The next end. STATUS_END: no more. */
enum status match_ends_next(struct match_ends *ends, unsigned owner, bool receives, struct match_end *end,
                            struct error *err) MUST_CHECK;

/* Adds an end of another part: later ones of the same channel come after it. Before match_ends_begin. */
enum status match_ends_add(struct match_ends *ends, unsigned owner, bool receives, const struct match_end *end,
                           struct error *err) MUST_CHECK;

#endif
