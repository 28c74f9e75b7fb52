/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages in a replay: which have left, which receives are posted, and what a call waits for. */
#include "replay/player.h"

/* The lane goes on if it waits for the other end of the message. */
void player_wake(struct player *player, uint32_t lane, uint32_t message)
{
    if (lane == GRAPH_NONE || player->lanes[lane].message != message + 1)
        return;
    player->lanes[lane].message = 0;
    player_make_ready(player, lane);
}

static bool is_free_channel(const struct player *player, uint32_t channel)
{
    return player->options.free_channels && player->options.free_channels[channel];
}

/* True if the lane has entered the call, or is past it. */
static bool has_entered(const struct player *player, uint32_t lane, uint32_t call)
{
    const struct lane_play *where = &player->lanes[lane];
    return where->at > call || (where->at == call && where->entered);
}

/* A message leaves. Where nobody came and its receive went on alone, nobody asks for the time. */
void player_send_message(struct player *player, uint32_t message, int64_t now_ns)
{
    const struct packed_message *packed = &player->graph->messages[message];
    uint32_t receiver = player->graph->channels[packed->channel].receive_lane;
    if (packed->receive_call == GRAPH_NONE || player->lanes[receiver].at <= packed->receive_call)
        player->message_ns[message] = now_ns;
    player_wake(player, receiver, message);
}

/* The receive of a message with links. */
void player_post_receive(struct player *player, uint32_t message, int64_t now_ns)
{
    int64_t before_ns = player->posted_ns[message];
    player->posted_ns[message] = now_ns;
    if (before_ns < 0 && before_ns != NOT_YET)
        player_wake(player, (uint32_t)(before_ns - NOT_YET - 1), message);
}

/* The part of the lane's next call that it need not wait for a queue; NULL: none. */
static const struct queued *queued_in(struct player *player, uint32_t lane)
{
    const struct queues *queues = player->options.queues;
    if (!queues)
        return NULL;
    size_t *at = &player->queue_at[lane];
    uint32_t call = player->lanes[lane].at;
    while (*at < queues->count && queues->queued[*at].lane == lane && queues->queued[*at].call < call)
        ++*at;
    bool met = *at < queues->count && queues->queued[*at].lane == lane && queues->queued[*at].call == call;
    return met ? &queues->queued[*at] : NULL;
}

/* So much sooner is the lane at the other end of a message there. */
static int64_t sooner_ns(const struct queued *queued, uint32_t other_lane)
{
    return queued && queued->cause_lane == other_lane ? queued->ns : 0;
}

static int64_t wait_for_message(struct player *player, uint32_t lane, uint32_t message)
{
    player->lanes[lane].message = message + 1;
    return NOT_YET;
}

/* The same for messages that player_arrive. A receive of one message waits for that; of others the longest wait counts.
 */
int64_t player_end_of_receives(struct player *player, uint32_t lane, const struct call *call, int64_t longest_ns)
{
    const struct graph *graph = player->graph;
    int64_t end_ns = NOT_YET;
    const struct queued *queued = queued_in(player, lane);
    bool single = !call->sent && !call->completed && !call->operates && !graph_next_received(graph, call->received - 1);
    struct message m;
    for (uint32_t at = call->received; at; at = graph_next_received(graph, at - 1)) {
        m = graph_message(graph, at - 1);
        if (m.send_lane == GRAPH_NONE || m.send_lane == lane)
            continue;
        if (!has_entered(player, m.send_lane, m.send_call))
            return wait_for_message(player, lane, at - 1);
        struct dependency dependency = {.recorded_ns = graph_call(graph, m.send_lane, m.send_call).enter_ns,
                                        .replayed_ns = player->message_ns[at - 1] - sooner_ns(queued, m.send_lane),
                                        .kind = wait_for_message_kind(call),
                                        .free = is_free_channel(player, m.channel)};
        int64_t wait_ns = single ? player_wait_for(call, dependency.recorded_ns) : longest_ns;
        int64_t ns = player_end_after(player, call, player->lanes[lane].now_ns, &dependency, wait_ns);
        end_ns = ns > end_ns ? ns : end_ns;
    }
    return end_ns;
}

/* When the receive was posted; NOT_YET: the lane is put to wait for it. */
static int64_t receive_ns(struct player *player, uint32_t lane, uint32_t index, const struct message *m)
{
    const struct lane_play *receiver = &player->lanes[m->receive_lane];
    if (graph_completes_later(player->graph, index) || graph_posted_before(player->graph, index)) {
        if (player->posted_ns[index] >= 0)
            return player->posted_ns[index];
        player->posted_ns[index] = NOT_YET + 1 + lane;
        return wait_for_message(player, lane, index);
    }
    if (!has_entered(player, m->receive_lane, m->receive_call))
        return wait_for_message(player, lane, index);
    return receiver->at == m->receive_call ? receiver->now_ns : player->message_ns[index];
}

/* What is known of the end of a call that waited for receivers. */
struct ending {
    int64_t wait_ns;             /* its longest wait in the record */
    const struct queued *queued; /* a part of it need not be; NULL: none */
    int64_t end_ns;
};

/* The receive of a message is waited for where it was in the record. False: it is not posted yet. */
static bool depend_on_receiver(struct player *player, uint32_t lane, const struct call *call, uint32_t index,
                               struct ending *ending)
{
    struct message m = graph_message(player->graph, index);
    if (m.receive_lane == GRAPH_NONE || m.receive_lane == lane)
        return true;
    struct post post = graph_post(player->graph, index, &m);
    if (post.lane == GRAPH_NONE)
        return true;
    int64_t posted_ns = graph_call(player->graph, post.lane, post.call).enter_ns;
    if (posted_ns <= call->enter_ns || posted_ns >= call->leave_ns)
        return true;
    int64_t replayed_ns = receive_ns(player, lane, index, &m);
    if (replayed_ns == NOT_YET)
        return false;
    struct dependency dependency = {.recorded_ns = posted_ns,
                                    .replayed_ns = replayed_ns - sooner_ns(ending->queued, m.receive_lane),
                                    .kind = WAIT_LATE_RECEIVER,
                                    .free = is_free_channel(player, m.channel)};
    int64_t ns = player_end_after(player, call, player->lanes[lane].now_ns, &dependency, ending->wait_ns);
    ending->end_ns = ns > ending->end_ns ? ns : ending->end_ns;
    return true;
}

/* The same for messages that the call sends, and whose sends it completes, where it waited for a receiver. */
int64_t player_end_of_sends(struct player *player, uint32_t lane, const struct call *call, int64_t wait_ns,
                            int64_t end_ns)
{
    const struct graph *graph = player->graph;
    struct ending ending = {wait_ns, queued_in(player, lane), end_ns};
    for (uint32_t at = call->sent; at; at = graph_next_sent(graph, at - 1))
        if (!graph_completes_later(graph, at - 1) && !depend_on_receiver(player, lane, call, at - 1, &ending))
            return NOT_YET;
    for (uint32_t at = call->completed; at; at = graph_next_completed(graph, at - 1))
        if (!depend_on_receiver(player, lane, call, at - 1, &ending))
            return NOT_YET;
    return ending.end_ns;
}

/* Senders that are still to go on ask when their receive was entered. */
void player_receive_messages(struct player *player, uint32_t index, const struct call *call, int64_t entered_ns)
{
    const struct graph *graph = player->graph;
    for (uint32_t m = call->received; m; m = graph_next_received(graph, m - 1)) {
        const struct packed_message *message = &graph->messages[m - 1];
        if (message->receive_call == index && message->send_call != GRAPH_NONE &&
            player->lanes[graph->channels[message->channel].send_lane].at <= message->send_call)
            player->message_ns[m - 1] = entered_ns;
    }
}
