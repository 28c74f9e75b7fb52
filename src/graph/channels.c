/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/channels.h"

#include "core/memory.h"
#include "core/numbers.h"

static uint32_t number(struct map *map, uint64_t key)
{
    return (uint32_t)*map_put(map, key, map->count);
}

/* The number of a communicator, the same for both sides of an inter-communicator. */
static uint32_t sides_of(struct channels *channels, const struct event *event)
{
    uint32_t own = (uint32_t)event->comm, other = (uint32_t)event->partner_comm;
    if (own == other)
        return own;
    /* Far above the indices of communicators, which share the numbers. */
    return UINT32_C(1) << 30 | number(&channels->sides, map_pair_unordered(own, other));
}

/* The channel of the end; the first of several that differ in threads. */
static uint32_t channel_of(struct channels *channels, const struct event *event)
{
    struct graph *graph = channels->graph;
    uint32_t sender = event_sender(event), receiver = event_receiver(event);
    /* Four numbers make a channel, and a key holds two: pairs of them are numbered first. */
    uint32_t pair = number(&channels->pairs, map_pair(sender, receiver));
    uint32_t kind = number(&channels->kinds, map_pair(sides_of(channels, event), (uint32_t)event->tag));
    uint64_t *place = map_put(&channels->places, map_pair(pair, kind), graph->channel_count);
    if (*place == graph->channel_count) {
        int32_t comm = (int32_t)smaller(event->comm, event->partner_comm);
        ARRAY_PUSH(graph->channels, graph->channel_count, graph->channel_capacity,
                   (struct channel){sender, receiver, comm, event->tag, GRAPH_NONE, GRAPH_NONE, 0});
        ARRAY_RESERVE(channels->queues, channels->queue_capacity, graph->channel_count);
        channels->queues[graph->channel_count - 1] = (struct channel_queue){0};
    }
    return (uint32_t)*place;
}

/* The channel of these locations among those that differ in threads; GRAPH_NONE, an unknown location, matches any. */
static uint32_t channel_of_locations(struct channels *channels, uint32_t first, uint32_t send_location,
                                     uint32_t receive_location)
{
    struct graph *graph = channels->graph;
    /* An event has no thread of its partner: until their messages are matched, threads that use the same
       communicator and tag share the first channel. */
    uint32_t last = first;
    for (uint32_t at = first + 1; at; at = graph->channels[last].other) {
        struct channel *channel = &graph->channels[last = at - 1];
        /* A channel made for one end learns its other location from the first match. */
        if (channel->send_location == GRAPH_NONE)
            channel->send_location = send_location;
        if (channel->receive_location == GRAPH_NONE)
            channel->receive_location = receive_location;
        if ((send_location == GRAPH_NONE || channel->send_location == send_location) &&
            (receive_location == GRAPH_NONE || channel->receive_location == receive_location))
            return last;
    }
    struct channel made = graph->channels[first];
    made.send_location = send_location;
    made.receive_location = receive_location;
    made.other = 0;
    ARRAY_PUSH(graph->channels, graph->channel_count, graph->channel_capacity, made);
    ARRAY_RESERVE(channels->queues, channels->queue_capacity, graph->channel_count);
    channels->queues[graph->channel_count - 1] = (struct channel_queue){0};
    graph->channels[last].other = (uint32_t)graph->channel_count;
    return (uint32_t)graph->channel_count - 1;
}

static void note_clock(struct graph *graph, int64_t send_ns, int64_t receive_ns)
{
    /* time_since is 0 unless the receive is before the send: MPI forbids that, so a difference is an error of
       clocks. */
    int64_t early = time_since(receive_ns, send_ns);
    graph->early += early > 0;
    if (early > graph->clock_error_ns)
        graph->clock_error_ns = early;
}

/* The send's values are used. */
static void note_bytes(struct graph *graph, struct packed_message *message, const struct event *event, bool receive)
{
    int64_t bytes = receive ? event->bytes_received : event->bytes_sent;
    /* A receive gives bytes only while the send's are missing: a receive may have asked for more than came. */
    if (bytes < 0 || (receive && message->bytes != UINT32_MAX))
        return;
    if (bytes < MESSAGE_LONG) {
        message->bytes = (uint32_t)bytes;
        return;
    }
    message->bytes = MESSAGE_LONG | (uint32_t)graph->long_message_count;
    ARRAY_PUSH(graph->long_messages, graph->long_message_count, graph->long_message_capacity, bytes);
}

static uint32_t waiting_new(struct channels *channels, int64_t time_ns, uint32_t location)
{
    /* Places of matched ends are used again: memory follows the messages in transit, not all of them. */
    uint32_t place = channels->free;
    if (place)
        channels->free = channels->waiting[place - 1].next;
    else
        ARRAY_PUSH(channels->waiting, channels->waiting_count, channels->waiting_capacity, (struct waiting_end){0});
    uint32_t index = place ? place - 1 : (uint32_t)channels->waiting_count - 1;
    channels->waiting[index] = (struct waiting_end){time_ns, location, 0};
    return index;
}

/* Matches the end with the first one that waits for it (messages do not overtake: MPI-4.0, 3.5), whatever the times
   are: clocks may be wrong. */
static uint32_t join(struct channels *channels, uint32_t channel, const struct event *event, uint32_t location,
                     uint32_t call)
{
    struct graph *graph = channels->graph;
    struct channel_queue *queue = &channels->queues[channel];
    bool receive = event->kind == EVENT_RECEIVE;
    uint32_t found = queue->first - 1;
    struct packed_message *message = &graph->messages[found];
    uint32_t *end = receive ? &message->receive_call : &message->send_call;
    uint32_t place = *end;
    struct waiting_end other = channels->waiting[place];
    queue->first = other.next;
    channels->waiting[place].next = channels->free;
    channels->free = place + 1;
    *end = call;
    note_bytes(graph, message, event, receive);
    if (receive) {
        note_clock(graph, other.time_ns, event->time_ns);
        message->channel = channel_of_locations(channels, channel, other.location, location);
    } else {
        note_clock(graph, event->time_ns, other.time_ns);
        message->channel = channel_of_locations(channels, channel, location, other.location);
    }
    return found;
}

uint32_t channels_meet(struct channels *channels, const struct event *event, uint32_t location, uint32_t call)
{
    struct graph *graph = channels->graph;
    bool receive = event->kind == EVENT_RECEIVE;
    uint32_t channel = channel_of(channels, event);
    struct channel_queue *queue = &channels->queues[channel];
    if (queue->first && queue->sends == receive)
        return join(channels, channel, event, location, call);
    /* No other end waits: the message is made with one end, and the place of the waiting end's data stands in for
       the call of the missing one. */
    uint32_t made = (uint32_t)graph->message_count, waiting = waiting_new(channels, event->time_ns, location);
    ARRAY_PUSH(graph->messages, graph->message_count, graph->message_capacity,
               (struct packed_message){channel, UINT32_MAX, receive ? waiting : call, receive ? call : waiting});
    note_bytes(graph, &graph->messages[made], event, receive);
    if (!queue->first) {
        queue->first = made + 1;
        queue->sends = !receive;
    } else {
        /* The link of the list is in the data of the last waiting end. */
        const struct packed_message *last = &graph->messages[queue->last - 1];
        channels->waiting[receive ? last->send_call : last->receive_call].next = made + 1;
    }
    queue->last = made + 1;
    return made;
}

/* Messages of the channel that have only one end. */
static void end_queue(struct channels *channels, uint32_t channel)
{
    struct graph *graph = channels->graph;
    bool sends = channels->queues[channel].sends;
    uint32_t at = channels->queues[channel].first;
    while (at) {
        struct packed_message *message = &graph->messages[at - 1];
        uint32_t *end = sends ? &message->receive_call : &message->send_call;
        struct waiting_end waiting = channels->waiting[*end];
        if (sends)
            message->channel = channel_of_locations(channels, channel, waiting.location, GRAPH_NONE);
        else
            message->channel = channel_of_locations(channels, channel, GRAPH_NONE, waiting.location);
        at = waiting.next;
        *end = GRAPH_NONE;
        graph->unmatched++;
    }
}

void channels_end(struct channels *channels)
{
    /* Downwards: channel_of_locations may add channels at the end, and their queues are empty. */
    for (size_t i = channels->graph->channel_count; i-- > 0;)
        end_queue(channels, (uint32_t)i);
    map_clear(&channels->pairs);
    map_clear(&channels->kinds);
    map_clear(&channels->sides);
    map_clear(&channels->places);
    free(channels->queues);
    free(channels->waiting);
    *channels = (struct channels){0};
}
