/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_MATCH_H
#define SIGHT_GRAPH_MATCH_H

#include "core/sink.h"
#include "graph/match_ends.h"

/* Matches messages: the n-th send and the n-th receive of the same (sender, receiver, communicator, tag) are one
   message, in whatever order their times are (MPI's non-overtaking rule; clocks are not trusted). A sink; memory is
   bounded. */

/* Messages of one sender to one receiver, some of which are received before they are sent. */
struct match_pair {
    uint32_t sender, receiver; /* processes */
    uint64_t messages, early;  /* matched; received before they are sent */
    int64_t worst_ns;          /* largest time by which one is */
};
enum { MATCH_PAIRS = 10 };

struct match_counts {
    struct match_tally ends;
    uint64_t matched;
    uint64_t unmatched_sends, unmatched_receives;
    uint64_t received_before_sent;        /* matched, with the receive's time before the send's */
    int64_t worst_ns;                     /* largest time by which one was */
    struct match_pair pairs[MATCH_PAIRS]; /* those with the largest errors, the largest first */
    size_t pair_count;                    /* of these */
    uint64_t early_pairs;                 /* all that have any */
};

struct matcher;
struct matcher *matcher_new(void);
void matcher_free(struct matcher *matcher);
struct sink *matcher_sink(struct matcher *matcher); /* owned by the matcher */

/* After the sink's end. */
struct match_counts matcher_counts(const struct matcher *matcher);

/* What one owner has in one part of a trace. */
struct match_part {
    struct match_ends *ends;
    unsigned owner;
};

/* The same of a trace in parts, in their order: matches what an owner has in all of them, which no other owner has. The
   tally is left alone. */
enum status match_parts(const struct match_part *parts, size_t count, struct match_counts *counts,
                        struct error *err) MUST_CHECK;

/* Adds what another owner has matched, but no tally. */
void match_counts_add(struct match_counts *counts, const struct match_counts *other);

/* Adds the tally of another part of the trace. */
void match_tally_add(struct match_tally *tally, const struct match_tally *other);

#endif
