/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/stuck_messages.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <stdlib.h>

static uint64_t number_of(struct map *map, uint64_t key, uint64_t *count)
{
    uint64_t *number = map_put(map, key, UINT64_MAX);
    if (*number == UINT64_MAX)
        *number = (*count)++;
    return *number;
}

static bool channel_is(const struct channel_balance *channel, const struct channel_balance *wanted)
{
    return channel->sender == wanted->sender && channel->receiver == wanted->receiver &&
           channel->comm == wanted->comm && channel->tag == wanted->tag;
}

static struct channel_balance *channel_put(struct stuck_state *state, const struct channel_balance *wanted)
{
    uint64_t hash = map_hash(map_pair(wanted->sender, wanted->receiver)) ^
                    map_hash(map_pair((uint32_t)wanted->comm, (uint32_t)wanted->tag) + 1);
    uint32_t *last = &state->last_channels[hash % LAST_CHANNELS];
    if (*last && channel_is(&state->channels[*last - 1], wanted))
        return &state->channels[*last - 1];
    /* Four numbers make a channel and a key holds two: pairs of them are numbered first. */
    uint64_t pair = number_of(&state->pairs, map_pair(wanted->sender, wanted->receiver), &state->pair_count);
    uint64_t stream =
        number_of(&state->streams, map_pair((uint32_t)pair, (uint32_t)wanted->comm), &state->stream_count);
    uint64_t *index = map_put(&state->channel_of, map_pair((uint32_t)stream, (uint32_t)wanted->tag), UINT64_MAX);
    if (*index == UINT64_MAX) {
        *index = state->channel_count;
        ARRAY_PUSH(state->channels, state->channel_count, state->channel_capacity, *wanted);
    }
    *last = (uint32_t)*index + 1;
    return &state->channels[*index];
}

struct channel_balance *state_channel(struct stuck_state *state, uint32_t sender, uint32_t receiver, int32_t comm,
                                      int32_t tag)
{
    const uint64_t *pair = map_find(&state->pairs, map_pair(sender, receiver));
    if (!pair)
        return NULL;
    const uint64_t *stream = map_find(&state->streams, map_pair((uint32_t)*pair, (uint32_t)state_comm(state, comm)));
    if (!stream)
        return NULL;
    const uint64_t *index = map_find(&state->channel_of, map_pair((uint32_t)*stream, (uint32_t)tag));
    return index ? &state->channels[*index] : NULL;
}

struct channel_balance *state_count_messages(struct stuck_state *state, const struct event *event, uint64_t count)
{
    struct channel_balance wanted = {.sender = event_sender(event),
                                     .receiver = event_receiver(event),
                                     .comm = state_comm(state, event->comm),
                                     .tag = event->tag};
    struct channel_balance *channel = channel_put(state, &wanted);
    if (event->kind == EVENT_SEND)
        channel->sent += count;
    else
        channel->received += count;
    return channel;
}

static bool tag_fits(int32_t wanted, int32_t tag)
{
    return wanted == PENDING_ANYBODY || wanted == EVENT_UNKNOWN || wanted == tag;
}

bool messages_take(struct stuck_state *state, uint32_t receiver, const struct item *item)
{
    const struct pending *pending = &item->pending;
    /* A probe leaves the message where it is. */
    bool take = pending->what == PENDING_RECEIVE;
    if (pending->partner >= 0 && pending->tag != PENDING_ANYBODY) {
        struct channel_balance *channel =
            state_channel(state, (uint32_t)pending->partner, receiver, item->comm, pending->tag);
        bool there = channel && channel->left > channel->taken;
        if (there && take)
            channel->left--;
        return there;
    }
    /* Any source or any tag: all channels with messages left must be looked through. */
    int32_t comm = state_comm(state, item->comm);
    for (size_t i = 0; i < state->outstanding_count; i++) {
        struct channel_balance *channel = &state->channels[state->outstanding[i]];
        if (channel->left <= channel->taken || channel->receiver != receiver || channel->comm != comm ||
            !tag_fits(pending->tag, channel->tag) ||
            (pending->partner >= 0 && channel->sender != (uint32_t)pending->partner))
            continue;
        channel->left -= take;
        return true;
    }
    return false;
}

bool messages_wanted(const struct stuck_state *state, uint32_t sender, uint32_t receiver, int32_t comm, int32_t tag)
{
    for (uint32_t thread = 0;; thread++) {
        const uint64_t *index = map_find(&state->place_of, map_pair(receiver, thread));
        if (!index)
            return false;
        const struct place *place = &state->places[*index];
        for (size_t i = 0; i < place->item_count; i++) {
            const struct item *item = &place->items[i];
            if (item->pending.what == PENDING_RECEIVE && tag_fits(item->pending.tag, tag) &&
                state_comm(state, item->comm) == state_comm(state, comm) &&
                (item->pending.partner < 0 || (uint32_t)item->pending.partner == sender))
                return true;
        }
    }
}

/* By their numbers, whatever the order in which they were met. */
static int compare_channels(const void *a, const void *b, void *context)
{
    const struct channel_balance *channels = context;
    const struct channel_balance *left = &channels[*(const uint32_t *)a], *right = &channels[*(const uint32_t *)b];
    if (left->receiver != right->receiver)
        return order_by(left->receiver, right->receiver);
    if (left->sender != right->sender)
        return order_by(left->sender, right->sender);
    if (left->comm != right->comm)
        return order_by(left->comm, right->comm);
    return order_by(left->tag, right->tag);
}

/* A message counts as sent when its request is started: parts that are not ready hold it back. One that a probe has
   taken is for no other receive. The requests of a process are those of its first thread; others repeat them. */
static void hold_messages(struct stuck_state *state)
{
    for (size_t i = 0; i < state->place_count; i++)
        for (size_t k = 0; state->places[i].thread == 0 && k < state->places[i].item_count; k++) {
            const struct item *item = &state->places[i].items[k];
            uint32_t own = state->places[i].process, other = (uint32_t)item->pending.partner;
            struct channel_balance *channel = NULL;
            bool taken = item->pending.what == PENDING_TAKEN;
            if (taken && item->pending.partner >= 0)
                channel = state_channel(state, other, own, item->comm, item->pending.tag);
            else if (item_lacks_parts(item) && item->pending.partner >= 0)
                channel = state_channel(state, own, other, item->comm, item->pending.tag);
            if (channel && taken)
                channel->taken++;
            else if (channel)
                channel->left--;
        }
}

const struct item *state_unready(const struct stuck_state *state, uint32_t sender, uint32_t receiver, int32_t comm,
                                 int32_t tag)
{
    const uint64_t *index = map_find(&state->place_of, map_pair(sender, 0));
    const struct place *place = index ? &state->places[*index] : NULL;
    for (size_t i = 0; place && i < place->item_count; i++) {
        const struct item *item = &place->items[i];
        if (item_lacks_parts(item) && item->pending.partner == (int32_t)receiver && tag_fits(tag, item->pending.tag) &&
            state_comm(state, item->comm) == state_comm(state, comm))
            return item;
    }
    return NULL;
}

void messages_count(struct stuck_state *state)
{
    free(state->outstanding);
    state->outstanding_count = 0;
    state->outstanding = memory_new(state->channel_count * sizeof *state->outstanding);
    for (size_t i = 0; i < state->channel_count; i++) {
        struct channel_balance *channel = &state->channels[i];
        channel->left = (int64_t)channel->sent - (int64_t)channel->received;
        channel->taken = 0;
    }
    hold_messages(state);
    for (size_t i = 0; i < state->channel_count; i++)
        if (state->channels[i].left > 0)
            state->outstanding[state->outstanding_count++] = (uint32_t)i;
    if (state->outstanding_count > 0)
        qsort_r(state->outstanding, state->outstanding_count, sizeof *state->outstanding, compare_channels,
                state->channels);
}
