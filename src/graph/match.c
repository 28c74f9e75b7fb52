/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/match.h"

#include "core/map.h"
#include "core/memory.h"
#include "core/numbers.h"

struct matcher {
    struct sink sink;
    struct match_ends *ends;
    struct match_counts counts;
};

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

/* Inserts the pair among the worst if it belongs there. */
static void keep_worst(struct match_counts *counts, const struct match_pair *pair)
{
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

/* All messages of the pair have been seen. */
static void pair_end(struct match_counts *counts, const struct match_pair *pair)
{
    if (pair->early == 0)
        return;
    counts->early_pairs++;
    keep_worst(counts, pair);
}

/* Messages come pair by pair, since that is the first part of the key: one pair's numbers are kept at a time. */
static void count_match(struct match_counts *counts, struct match_pair *pair, const struct match_end *send,
                        const struct match_end *receive)
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

/* Where one of the parts is read, and what comes next there. */
struct head {
    enum status status;
    struct match_end end;
};

/* All sends, or all receives, of an owner: those of several parts, merged by key. */
struct merge {
    const struct match_part *parts;
    struct head *heads;
    size_t count, first; /* the part whose end is next */
    bool receives;
};

/* An end that does not exist comes after all others, so that the rest of the other side is counted. */
static int head_compare(const struct head *left, const struct head *right)
{
    int order = (left->status != STATUS_OK) - (right->status != STATUS_OK);
    if (order == 0)
        order = order_by(left->end.key.major, right->end.key.major);
    return order ? order : order_by(left->end.key.minor, right->end.key.minor);
}

/* Of equal keys the earlier part goes first: channels are in the order of the trace. */
static void find_first(struct merge *merge)
{
    merge->first = 0;
    for (size_t i = 1; i < merge->count; i++)
        if (head_compare(&merge->heads[i], &merge->heads[merge->first]) < 0)
            merge->first = i;
}

static const struct head *merge_head(const struct merge *merge)
{
    return &merge->heads[merge->first];
}

static enum status head_next(struct merge *merge, size_t index, struct error *err)
{
    const struct match_part *part = &merge->parts[index];
    struct head *head = &merge->heads[index];
    head->status = match_ends_next(part->ends, part->owner, merge->receives, &head->end, err);
    return head->status == STATUS_FAILED ? STATUS_FAILED : STATUS_OK;
}

static enum status merge_next(struct merge *merge, struct error *err)
{
    enum status status = head_next(merge, merge->first, err);
    if (merge->count > 1)
        find_first(merge);
    return status;
}

static enum status merge_begin(struct merge *merge, struct error *err)
{
    merge->heads = memory_new(merge->count * sizeof *merge->heads);
    for (size_t i = 0; i < merge->count; i++) {
        const struct match_part *part = &merge->parts[i];
        if (match_ends_begin(part->ends, part->owner, merge->receives, err) != STATUS_OK ||
            head_next(merge, i, err) != STATUS_OK)
            return STATUS_FAILED;
    }
    find_first(merge);
    return STATUS_OK;
}

/* Two sorted lists meet: ends with equal keys, n-th with n-th; others have no partner. */
static enum status meet(struct merge *sends, struct merge *receives, struct match_counts *counts, struct error *err)
{
    struct match_pair pair = {0};
    while (merge_head(sends)->status == STATUS_OK || merge_head(receives)->status == STATUS_OK) {
        int order = head_compare(merge_head(sends), merge_head(receives));
        if (order == 0)
            count_match(counts, &pair, &merge_head(sends)->end, &merge_head(receives)->end);
        counts->unmatched_sends += order < 0;
        counts->unmatched_receives += order > 0;
        if ((order <= 0 && merge_next(sends, err) != STATUS_OK) ||
            (order >= 0 && merge_next(receives, err) != STATUS_OK))
            return STATUS_FAILED;
    }
    pair_end(counts, &pair);
    return STATUS_OK;
}

enum status match_parts(const struct match_part *parts, size_t count, struct match_counts *counts, struct error *err)
{
    struct merge sends = {.parts = parts, .count = count};
    struct merge receives = {.parts = parts, .count = count, .receives = true};
    enum status status = STATUS_FAILED;
    if (merge_begin(&sends, err) == STATUS_OK && merge_begin(&receives, err) == STATUS_OK)
        status = meet(&sends, &receives, counts, err);
    free(sends.heads);
    free(receives.heads);
    return status;
}

void match_counts_add(struct match_counts *counts, const struct match_counts *other)
{
    counts->matched += other->matched;
    counts->unmatched_sends += other->unmatched_sends;
    counts->unmatched_receives += other->unmatched_receives;
    counts->received_before_sent += other->received_before_sent;
    counts->worst_ns = larger(counts->worst_ns, other->worst_ns);
    counts->early_pairs += other->early_pairs;
    for (size_t i = 0; i < other->pair_count; i++)
        keep_worst(counts, &other->pairs[i]);
}

void match_tally_add(struct match_tally *tally, const struct match_tally *other)
{
    tally->sent += other->sent;
    tally->received += other->received;
    bytes_add(&tally->bytes_sent, other->bytes_sent);
    bytes_add(&tally->bytes_received, other->bytes_received);
    tally->null_ends += other->null_ends;
    tally->unknown_ends += other->unknown_ends;
    tally->numbered |= other->numbered;
}

static enum status matcher_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    struct sink *ends = match_ends_sink(((struct matcher *)sink)->ends);
    return ends->events(ends, batch, err);
}

static enum status matcher_end(struct sink *sink, const struct trace_end *end, struct error *err)
{
    (void)end;
    struct matcher *matcher = (struct matcher *)sink;
    matcher->counts.ends = *match_ends_tally(matcher->ends);
    return match_parts(&(struct match_part){matcher->ends, 0}, 1, &matcher->counts, err);
}

struct matcher *matcher_new(void)
{
    struct matcher *matcher = memory_new(sizeof *matcher);
    matcher->sink = (struct sink){.events = matcher_events, .end = matcher_end};
    matcher->ends = match_ends_new(1);
    return matcher;
}

void matcher_free(struct matcher *matcher)
{
    if (!matcher)
        return;
    match_ends_free(matcher->ends);
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
