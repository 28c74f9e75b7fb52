/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/match_ends.h"

#include "core/map.h"
#include "core/memory.h"
#include "core/numbers.h"

#include <string.h>

/* For the two sorters of each owner, which then go on in temporary files. */
enum { ENDS_MEMORY = 16 << 20 };

/* Numbers for the two sides of inter-communicators are far above the indices of communicators. */
#define SIDES_FIRST (UINT32_C(1) << 30)

struct match_ends {
    struct sink sink;
    struct sorter **sorters; /* by owner: sends, receives; data: the time */
    unsigned owners;
    struct map sides; /* (communicator, communicator) -> number: the two sides of an inter-communicator are one */
    struct match_tally tally;
};

static struct sorter *sorter_of(const struct match_ends *ends, unsigned owner, bool receives)
{
    return ends->sorters[2 * owner + receives];
}

static uint32_t communicator_of(struct match_ends *ends, const struct event *event)
{
    uint32_t own = (uint32_t)event->comm, other = (uint32_t)event->partner_comm;
    if (own == other)
        return own;
    ends->tally.numbered = true;
    return SIDES_FIRST | (uint32_t)*map_put(&ends->sides, map_pair_unordered(own, other), ends->sides.count);
}

enum status match_ends_add(struct match_ends *ends, unsigned owner, bool receives, const struct match_end *end,
                           struct error *err)
{
    /* The sorter is stable: ends with the same key stay in the order of the trace, in which MPI matches them. */
    return sorter_add(sorter_of(ends, owner, receives), end->key, &end->time_ns, sizeof end->time_ns, err);
}

static enum status take_end(struct match_ends *ends, const struct event *event, struct error *err)
{
    struct match_tally *tally = &ends->tally;
    if (event->partner == PARTNER_NONE) {
        tally->null_ends++;
        return STATUS_OK;
    }
    if (event->partner == EVENT_UNKNOWN) {
        tally->unknown_ends++;
        return STATUS_OK;
    }
    bool receives = event->kind == EVENT_RECEIVE;
    if (receives) {
        tally->received++;
        bytes_add(&tally->bytes_received, event_message_bytes(event));
    } else {
        tally->sent++;
        bytes_add(&tally->bytes_sent, event_message_bytes(event));
    }
    uint64_t pair = map_pair(event_sender(event), event_receiver(event));
    uint64_t channel = map_pair(communicator_of(ends, event), (uint32_t)event->tag);
    unsigned owner = 0;
    if (ends->owners > 1)
        owner = (unsigned)(map_hash(pair) % ends->owners);
    return match_ends_add(ends, owner, receives, &(struct match_end){{pair, channel}, event->time_ns}, err);
}

static enum status ends_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct event *event = &batch->events[i];
        if ((event->kind == EVENT_SEND || event->kind == EVENT_RECEIVE) &&
            take_end((struct match_ends *)sink, event, err) != STATUS_OK)
            return STATUS_FAILED;
    }
    return STATUS_OK;
}

struct match_ends *match_ends_new(unsigned owners)
{
    struct match_ends *ends = memory_new(sizeof *ends);
    ends->sink.events = ends_events;
    ends->owners = owners;
    ends->sorters = memory_new(2 * (size_t)owners * sizeof *ends->sorters);
    for (size_t i = 0; i < 2 * (size_t)owners; i++)
        ends->sorters[i] = sorter_new(ENDS_MEMORY / 2 / owners);
    return ends;
}

void match_ends_free(struct match_ends *ends)
{
    if (!ends)
        return;
    for (size_t i = 0; i < 2 * (size_t)ends->owners; i++)
        sorter_free(ends->sorters[i]);
    free(ends->sorters);
    map_clear(&ends->sides);
    free(ends);
}

struct sink *match_ends_sink(struct match_ends *ends)
{
    return &ends->sink;
}

const struct match_tally *match_ends_tally(const struct match_ends *ends)
{
    return &ends->tally;
}

enum status match_ends_begin(struct match_ends *ends, unsigned owner, bool receives, struct error *err)
{
    return sorter_rewind(sorter_of(ends, owner, receives), err);
}

enum status match_ends_next(struct match_ends *ends, unsigned owner, bool receives, struct match_end *end,
                            struct error *err)
{
    const void *data;
    size_t length;
    enum status status = sorter_next(sorter_of(ends, owner, receives), &end->key, &data, &length, err);
    if (status == STATUS_OK)
        /* Copied: the sorter's data are only valid until its next call, and need not be aligned. */
        memcpy(&end->time_ns, data, sizeof end->time_ns);
    return status;
}
