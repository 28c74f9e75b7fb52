/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/match.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/sorter.h"

#include <string.h>

/* For each of the two sorters, which then go on in temporary files. */
enum { MATCH_SORT_MEMORY = 8 << 20 };

struct matcher {
    struct sink sink;
    struct sorter *ends[2]; /* sends, receives: key (sender, receiver), (communicators, tag); data: the time */
    struct map pairs;       /* (communicator, communicator) -> number: the two sides of an inter-communicator are one */
    struct match_counts counts;
};

static uint32_t matcher_pair(struct matcher *matcher, int32_t comm, int32_t partner_comm)
{
    uint64_t key = map_pair_unordered((uint32_t)comm, (uint32_t)partner_comm);
    return (uint32_t)*map_put(&matcher->pairs, key, matcher->pairs.count);
}

static enum status matcher_add(struct matcher *matcher, const struct event *event, struct error *err)
{
    struct match_counts *counts = &matcher->counts;
    if (event->partner == PARTNER_NONE) {
        counts->null_ends++;
        return STATUS_OK;
    }
    if (event->partner == EVENT_UNKNOWN) {
        counts->unknown_ends++;
        return STATUS_OK;
    }
    bool receive = event->kind == EVENT_RECEIVE;
    if (receive) {
        counts->received++;
        counts->bytes_received += event_message_bytes(event);
    } else {
        counts->sent++;
        counts->bytes_sent += event_message_bytes(event);
    }
    /* The sorter is stable: ends with the same key stay in the order of the trace, in which MPI matches them. */
    struct sort_key key = {.major = map_pair(event_sender(event), event_receiver(event)),
                           .minor =
                               map_pair(matcher_pair(matcher, event->comm, event->partner_comm), (uint32_t)event->tag)};
    return sorter_add(matcher->ends[receive], key, &event->time_ns, sizeof event->time_ns, err);
}

static enum status matcher_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct event *event = &batch->events[i];
        if ((event->kind == EVENT_SEND || event->kind == EVENT_RECEIVE) &&
            matcher_add((struct matcher *)sink, event, err) != STATUS_OK)
            return STATUS_FAILED;
    }
    return STATUS_OK;
}

/* One end of a message, read back in order; `status` says whether there is one. */
struct message_end {
    enum status status;
    struct sort_key key;
    int64_t time_ns;
};

static void end_next(struct sorter *sorter, struct message_end *end, struct error *err)
{
    const void *data;
    size_t length;
    end->status = sorter_next(sorter, &end->key, &data, &length, err);
    if (end->status == STATUS_OK)
        /* Copied: the sorter's data are only valid until its next call, and need not be aligned. */
        memcpy(&end->time_ns, data, sizeof end->time_ns);
}

/* An end that does not exist comes after all others, so that the rest of the other side is counted. */
static int end_compare(const struct message_end *left, const struct message_end *right)
{
    int order = (left->status != STATUS_OK) - (right->status != STATUS_OK);
    if (order == 0)
        order = order_by(left->key.major, right->key.major);
    return order ? order : order_by(left->key.minor, right->key.minor);
}

/* Larger errors first, then more of them, then lower processes. */
static bool pair_is_worse(const struct match_pair *a, const struct match_pair *b)
{
    if (a->worst_ns != b->worst_ns)
        return a->worst_ns > b->worst_ns;
    if (a->early != b->early)
        return a->early > b->early;
    if (a->sender != b->sender)
        return a->sender < b->sender;
    return a->receiver < b->receiver;
}

/* All messages of the pair have been seen: inserts it among the worst if it belongs there. */
static void pair_end(struct match_counts *counts, const struct match_pair *pair)
{
    if (pair->early == 0)
        return;
    counts->early_pairs++;
    /* Insertion from the end; what falls off the table is forgotten. */
    size_t at = MATCH_PAIRS;
    if (counts->pair_count < MATCH_PAIRS)
        at = counts->pair_count++;
    for (; at > 0 && pair_is_worse(pair, &counts->pairs[at - 1]); at--)
        if (at < MATCH_PAIRS)
            counts->pairs[at] = counts->pairs[at - 1];
    if (at < MATCH_PAIRS)
        counts->pairs[at] = *pair;
}

/* Messages come pair by pair, since that is the first part of the key: one pair's numbers are kept at a time. */
static void count_match(struct match_counts *counts, struct match_pair *pair, const struct message_end *send,
                        const struct message_end *receive)
{
    uint32_t sender = (uint32_t)(send->key.major >> 32), receiver = (uint32_t)send->key.major;
    if (pair->sender != sender || pair->receiver != receiver) {
        pair_end(counts, pair);
        *pair = (struct match_pair){.sender = sender, .receiver = receiver};
    }
    int64_t early = time_since(receive->time_ns, send->time_ns);
    counts->matched++;
    pair->messages++;
    if (early <= 0)
        return;
    counts->received_before_sent++;
    counts->worst_ns = larger(counts->worst_ns, early);
    pair->early++;
    pair->worst_ns = larger(pair->worst_ns, early);
}

static enum status matcher_end(struct sink *sink, const struct trace_end *end, struct error *err)
{
    (void)end;
    struct matcher *matcher = (struct matcher *)sink;
    if (sorter_rewind(matcher->ends[0], err) != STATUS_OK || sorter_rewind(matcher->ends[1], err) != STATUS_OK)
        return STATUS_FAILED;
    struct message_end send, receive;
    struct match_pair pair = {0};
    end_next(matcher->ends[0], &send, err);
    end_next(matcher->ends[1], &receive, err);
    /* A merge of two sorted lists: ends with equal keys meet, n-th with n-th; others have no partner. */
    while (send.status == STATUS_OK || receive.status == STATUS_OK) {
        int order = end_compare(&send, &receive);
        if (order == 0)
            count_match(&matcher->counts, &pair, &send, &receive);
        matcher->counts.unmatched_sends += order < 0;
        matcher->counts.unmatched_receives += order > 0;
        if (order <= 0)
            end_next(matcher->ends[0], &send, err);
        if (order >= 0)
            end_next(matcher->ends[1], &receive, err);
    }
    pair_end(&matcher->counts, &pair);
    return send.status == STATUS_FAILED || receive.status == STATUS_FAILED ? STATUS_FAILED : STATUS_OK;
}

struct matcher *matcher_new(void)
{
    struct matcher *matcher = memory_new(sizeof *matcher);
    matcher->sink = (struct sink){.events = matcher_events, .end = matcher_end};
    matcher->ends[0] = sorter_new(MATCH_SORT_MEMORY);
    matcher->ends[1] = sorter_new(MATCH_SORT_MEMORY);
    return matcher;
}

void matcher_free(struct matcher *matcher)
{
    if (!matcher)
        return;
    sorter_free(matcher->ends[0]);
    sorter_free(matcher->ends[1]);
    map_clear(&matcher->pairs);
    free(matcher);
}

struct sink *matcher_sink(struct matcher *matcher)
{
    return &matcher->sink;
}

struct match_counts matcher_counts(const struct matcher *matcher)
{
    return matcher->counts;
}
