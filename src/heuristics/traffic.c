/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/traffic.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <string.h>

static int by_place(const void *a, const void *b)
{
    const struct traffic_pair *left = a, *right = b;
    if (left->from != right->from)
        return order_by(left->from, right->from);
    return order_by(left->to, right->to);
}

/* Sums must not wrap, whatever numbers a metrics file has. */
static void add(uint64_t *sum, uint64_t value)
{
    *sum = *sum > UINT64_MAX - value ? UINT64_MAX : *sum + value;
}

/* The messages that a process has sent, or received. A partner may be outside the metrics: those of some processes, or
   processes that MPI_Comm_spawn started. */
static void add_ends(struct traffic *traffic, size_t *capacity, const struct metrics *metrics, size_t row, bool sent)
{
    const struct process_row *process = &metrics->process[row];
    const struct partner_row *partners = process->received;
    size_t count = process->received_count;
    if (sent) {
        partners = process->sent;
        count = process->sent_count;
    }
    for (size_t i = 0; i < count; i++) {
        size_t other = metrics_row_of(metrics, (uint64_t)partners[i].partner); /* no rank below 0 has a row */
        struct traffic_pair pair = {(uint32_t)other, (uint32_t)row, partners[i].messages, partners[i].bytes};
        if (sent) {
            pair.from = (uint32_t)row;
            pair.to = (uint32_t)other;
        }
        if (other != SIZE_MAX)
            ARRAY_PUSH(traffic->pairs, traffic->count, *capacity, pair);
        else if (partners[i].partner != PARTNER_NONE)
            add(&traffic->elsewhere, partners[i].messages);
    }
}

struct traffic traffic_of(const struct metrics *metrics)
{
    struct traffic traffic = {0};
    size_t capacity = 0, kept = 0;
    for (size_t i = 0; i < metrics->process_count; i++) {
        add_ends(&traffic, &capacity, metrics, i, true);
        add_ends(&traffic, &capacity, metrics, i, false);
    }
    if (traffic.count > 0)
        qsort(traffic.pairs, traffic.count, sizeof *traffic.pairs, by_place);
    /* Each pair is there twice, as sent and as received. A trace may lack one end of some messages, so the larger
       number is nearer to the truth. */
    for (size_t i = 0; i < traffic.count; i++) {
        struct traffic_pair *pair = &traffic.pairs[i], *last = kept ? &traffic.pairs[kept - 1] : NULL;
        if (!last || by_place(last, pair) != 0) {
            traffic.pairs[kept++] = *pair;
            continue;
        }
        last->messages = larger(pair->messages, last->messages);
        last->bytes = larger(pair->bytes, last->bytes);
    }
    traffic.count = kept;
    for (size_t i = 0; i < kept; i++) {
        add(&traffic.messages, traffic.pairs[i].messages);
        add(&traffic.bytes, traffic.pairs[i].bytes);
    }
    return traffic;
}

void traffic_clear(struct traffic *traffic)
{
    free(traffic->pairs);
    *traffic = (struct traffic){0};
}

static int by_messages(const void *a, const void *b)
{
    const struct traffic_pair *left = a, *right = b;
    if (left->messages != right->messages)
        return order_by(right->messages, left->messages);
    return by_place(a, b);
}

static int by_bytes_of(const void *a, const void *b)
{
    const struct traffic_pair *left = a, *right = b;
    if (left->bytes != right->bytes)
        return order_by(right->bytes, left->bytes);
    return by_place(a, b);
}

void traffic_rank(struct traffic *traffic, bool by_bytes)
{
    if (traffic->count > 0)
        qsort(traffic->pairs, traffic->count, sizeof *traffic->pairs, by_bytes ? by_bytes_of : by_messages);
}
