/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages in an exact replay: which have left, which receives are posted, and what a call waits for. */
#include "core/numbers.h"
#include "replay/exact.h"

static bool is_free_channel(const struct exact *exact, uint32_t channel)
{
    return exact->options.free_channels && exact->options.free_channels[channel];
}

/* A message leaves. If its receive was forced to continue without it, the time is not needed. */
void exact_send(struct player *player, uint32_t location, const struct call *call, uint32_t message)
{
    const struct packed_message *packed = &player->graph->messages[message];
    uint32_t receiver = player->graph->channels[packed->channel].receive_location;
    (void)call;
    struct exact *exact = (struct exact *)player;
    /* message_ns has two uses in turn (exact.h): writing the send's time after the receive has ended would destroy
       the other one. */
    bool asked = exact->options.instead || packed->receive_call == GRAPH_NONE ||
                 player->locations[receiver].at <= packed->receive_call;
    if (asked)
        exact->message_ns[message] = player->locations[location].now_ns;
    player_wake_for_message(player, receiver, message);
}

void exact_post(struct player *player, uint32_t location, uint32_t message)
{
    struct exact *exact = (struct exact *)player;
    int64_t before_ns = exact->posted_ns[message];
    exact->posted_ns[message] = player->locations[location].now_ns;
    /* Below 0 there is room for the location that waits for the post. */
    if (before_ns < 0 && before_ns != NOT_YET)
        player_wake_for_message(player, (uint32_t)(before_ns - NOT_YET - 1), message);
}

void exact_receive(struct player *player, uint32_t location, uint32_t message)
{
    const struct graph *graph = player->graph;
    if (graph->messages[message].receive_call != player->locations[location].at)
        return;
    player_wake_for_message(player, graph->channels[graph->messages[message].channel].send_location, message);
    if (graph_completes_later(graph, message) && !graph_posted_before(graph, message))
        exact_post(player, location, message);
}

/* The part of the location's next wait that is spent in a queue, to be left out; NULL: none. */
static const struct queued *queued_in(struct exact *exact, uint32_t location)
{
    const struct queues *queues = exact->options.queues;
    if (!queues)
        return NULL;
    size_t *at = &exact->queue_at[location];
    uint32_t call = exact->player.locations[location].at;
    /* The location's calls come in order, as do its queues: the search goes on where it ended. */
    while (*at < queues->count && queues->queued[*at].location == location && queues->queued[*at].call < call)
        ++*at;
    if (*at == queues->count)
        return NULL;
    const struct queued *next = &queues->queued[*at];
    return next->location == location && next->call == call ? next : NULL;
}

/* True if the location at the other end of a message is in time for it, but for what is left of the recorded wait. */
static bool is_in_other_order(const struct exact *exact, uint32_t other_location)
{
    return exact->options.queued_for && exact->options.queued_for[other_location];
}

/* What is left of the recorded wait of the location's next call for the other, without the queue there. */
static int64_t left_of_queue(const struct exact *exact, uint32_t location, const struct queued *queued,
                             uint32_t other_location)
{
    struct wait wait = wait_of(exact->player.graph, location, exact->player.locations[location].at);
    if (wait.cause_location != other_location || !(ENDPOINT_KINDS >> wait.kind & 1))
        return 0;
    return queued ? larger(wait.ns - queued->behind_ns, INT64_C(0)) : wait.ns;
}

/* How much earlier the location at the other end of a message is ready. */
static int64_t sooner_ns(const struct queued *queued, uint32_t other_location)
{
    return queued && queued->cause_location == other_location ? queued->behind_ns : 0;
}

/* A receive of one message waits for it; for other calls the longest wait counts.
 */
int64_t exact_end_of_receives(struct exact *exact, uint32_t location, const struct call *call, int64_t longest_ns)
{
    const struct graph *graph = exact->player.graph;
    int64_t end_ns = NOT_YET;
    const struct queued *queued = queued_in(exact, location);
    bool single = !call->sent && !call->completed && !call->operates && !graph_next_received(graph, call->received - 1);
    struct message m;
    for (uint32_t at = call->received; at; at = graph_next_received(graph, at - 1)) {
        m = graph_message(graph, at - 1);
        if (m.send_location == GRAPH_NONE || m.send_location == location)
            continue;
        uint32_t waited = at - 1;
        struct message first = m;
        if (exact->options.instead) {
            waited = exact->options.instead[at - 1];
            first = graph_message(graph, waited);
        }
        if (!player_has_entered(&exact->player, first.send_location, first.send_call))
            return player_wait_for_message(&exact->player, location, waited);
        struct dependency dependency = {.recorded_ns = graph_call(graph, m.send_location, m.send_call).enter_ns,
                                        .replayed_ns = exact->message_ns[waited] - sooner_ns(queued, m.send_location),
                                        .kind = wait_for_message_kind(call),
                                        .free = is_free_channel(exact, m.channel) ||
                                                is_in_other_order(exact, m.send_location)};
        /* Of several messages it is unknown which one held the call for how long: the longest wait bounds all. */
        int64_t wait_ns = longest_ns;
        if (single)
            wait_ns = exact_wait_for(call, dependency.recorded_ns);
        int64_t ns = exact_end_after(exact, call, exact->player.locations[location].now_ns, &dependency, wait_ns);
        if (is_in_other_order(exact, m.send_location))
            ns += left_of_queue(exact, location, queued, m.send_location);
        end_ns = larger(end_ns, ns);
    }
    return end_ns;
}

/* When the receive was posted; NOT_YET: the location now waits for it. */
static int64_t receive_ns(struct exact *exact, uint32_t location, uint32_t index, const struct message *m)
{
    const struct location_play *receiver = &exact->player.locations[m->receive_location];
    if (graph_completes_later(exact->player.graph, index) || graph_posted_before(exact->player.graph, index)) {
        if (exact->posted_ns[index] >= 0)
            return exact->posted_ns[index];
        exact->posted_ns[index] = NOT_YET + 1 + location;
        return player_wait_for_message(&exact->player, location, index);
    }
    if (!player_has_entered(&exact->player, m->receive_location, m->receive_call))
        return player_wait_for_message(&exact->player, location, index);
    return receiver->at == m->receive_call ? receiver->now_ns : exact->message_ns[index];
}

/* The end, as far as known, of a call that waited for receivers. */
struct ending {
    int64_t wait_ns;             /* its longest wait in the record */
    const struct queued *queued; /* a part of it to be left out; NULL: none */
    int64_t end_ns;
};

/* Waits for the receive of a message if the recorded call did. False: it is not posted yet. */
static bool depend_on_receiver(struct exact *exact, uint32_t location, const struct call *call, uint32_t index,
                               struct ending *ending)
{
    struct message m = graph_message(exact->player.graph, index);
    if (m.receive_location == GRAPH_NONE || m.receive_location == location)
        return true;
    struct post post = graph_post(exact->player.graph, index, &m);
    if (post.location == GRAPH_NONE)
        return true;
    int64_t posted_ns = graph_call(exact->player.graph, post.location, post.call).enter_ns;
    /* Posted before the send began, or only after it had ended: the send did not wait for it. */
    if (posted_ns <= call->enter_ns || posted_ns >= call->leave_ns)
        return true;
    int64_t replayed_ns = receive_ns(exact, location, index, &m);
    if (replayed_ns == NOT_YET)
        return false;
    struct dependency dependency = {.recorded_ns = posted_ns,
                                    .replayed_ns = replayed_ns - sooner_ns(ending->queued, m.receive_location),
                                    .kind = WAIT_LATE_RECEIVER,
                                    .free = is_free_channel(exact, m.channel) ||
                                            is_in_other_order(exact, m.receive_location)};
    int64_t ns = exact_end_after(exact, call, exact->player.locations[location].now_ns, &dependency, ending->wait_ns);
    if (is_in_other_order(exact, m.receive_location))
        ns += left_of_queue(exact, location, ending->queued, m.receive_location);
    ending->end_ns = larger(ending->end_ns, ns);
    return true;
}

/* The same for messages that the call sends, and whose sends it completes, where it waited for a receiver. */
int64_t exact_end_of_sends(struct exact *exact, uint32_t location, const struct call *call, int64_t wait_ns,
                           int64_t end_ns)
{
    const struct graph *graph = exact->player.graph;
    struct ending ending = {wait_ns, queued_in(exact, location), end_ns};
    for (uint32_t at = call->sent; at; at = graph_next_sent(graph, at - 1))
        if (!graph_completes_later(graph, at - 1) && !depend_on_receiver(exact, location, call, at - 1, &ending))
            return NOT_YET;
    for (uint32_t at = call->completed; at; at = graph_next_completed(graph, at - 1))
        if (!depend_on_receiver(exact, location, call, at - 1, &ending))
            return NOT_YET;
    return ending.end_ns;
}

/* Senders that have not continued yet need the time when their receive was entered. */
void exact_end_messages(struct exact *exact, uint32_t index, const struct call *call, int64_t entered_ns)
{
    const struct graph *graph = exact->player.graph;
    for (uint32_t m = call->received; m; m = graph_next_received(graph, m - 1)) {
        const struct packed_message *message = &graph->messages[m - 1];
        if (!exact->options.instead && message->receive_call == index && message->send_call != GRAPH_NONE &&
            exact->player.locations[graph->channels[message->channel].send_location].at <= message->send_call)
            exact->message_ns[m - 1] = entered_ns;
    }
}
