/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/usual_times.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <stdlib.h>

static int by_kind(const void *a, const void *b)
{
    const struct transfer *left = a, *right = b;
    int order = order_by(left->kind, right->kind);
    if (order == 0)
        order = order_by(left->most_ns, right->most_ns);
    return order ? order : order_by(left->message, right->message);
}

void transfers_sort(struct transfer *sample, size_t count)
{
    if (count > 0)
        qsort(sample, count, sizeof *sample, by_kind);
}

static bool is_over(const struct transfer_meter *meter, uint32_t index, const struct link_set *links)
{
    struct message m = graph_message(meter->graph, index);
    return m.send_location != GRAPH_NONE && m.receive_location != GRAPH_NONE &&
           link_set_has(links, meter->hosts, meter->rows[m.send_location], meter->rows[m.receive_location]);
}

bool transfer_is_apart(const struct transfer_meter *meter, const struct transfer *transfer,
                       const struct link_set *links)
{
    const struct graph *graph = meter->graph;
    if (link_set_has(links, meter->hosts, transfer->sender, transfer->receiver))
        return false;
    if (!transfer->shares_calls)
        return true;
    struct message message = graph_message(graph, transfer->message);
    struct call call = graph_call(graph, message.receive_location, message.receive_call);
    for (uint32_t m = call.received; m; m = graph_next_received(graph, m - 1))
        if (is_over(meter, m - 1, links))
            return false;
    for (uint32_t m = call.completed; m; m = graph_next_completed(graph, m - 1))
        if (is_over(meter, m - 1, links))
            return false;
    return true;
}

/* Transfers of one kind, those that count. */
struct usual_kind {
    int64_t *ns; /* ascending; as many as the sample has */
    size_t count;
    uint64_t pair; /* of the first */
    bool several;  /* pairs */
};

static void add_kind(struct usual_times *times, uint32_t kind, const struct usual_kind *usual)
{
    if (usual->count >= USUAL_LEAST && usual->several)
        times->time[times->count++] = (struct usual_time){kind, usual->ns[usual->count / 2]};
}

struct usual_times usual_times_of(const struct transfer_meter *meter, const struct transfer *sample, size_t count,
                                  const struct link_set *links)
{
    struct usual_times times = {.time = memory_new((count / USUAL_LEAST + 1) * sizeof *times.time)};
    struct usual_kind usual = {.ns = memory_new(count * sizeof *usual.ns)};
    for (size_t i = 0; i < count; i++) {
        const struct transfer *transfer = &sample[i];
        uint64_t pair = map_pair_unordered(transfer->sender, transfer->receiver);
        if (transfer->known && transfer_is_apart(meter, transfer, links)) {
            if (usual.count == 0)
                usual.pair = pair;
            usual.several |= pair != usual.pair;
            usual.ns[usual.count++] = transfer->most_ns;
        }
        if (i + 1 == count || sample[i + 1].kind != transfer->kind) {
            add_kind(&times, transfer->kind, &usual);
            usual.count = 0;
            usual.several = false;
        }
    }
    free(usual.ns);
    return times;
}

void usual_times_clear(struct usual_times *times)
{
    free(times->time);
    *times = (struct usual_times){0};
}

int64_t usual_ns(const struct usual_times *times, uint32_t kind)
{
    int64_t ns = -1;
    for (size_t i = 0; i < times->count; i++) {
        const struct usual_time *time = &times->time[i];
        if (time->kind == kind)
            return time->ns;
        if (transfer_kind_covers(time->kind, kind) && (ns < 0 || time->ns < ns))
            ns = time->ns;
    }
    return ns;
}
