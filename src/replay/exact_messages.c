/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages in an exact replay: which have left, which receives are posted, and what a call waits for. */
#include "core/numbers.h"
#include "replay/exact.h"

/* A row for times of now, in place of `row`. */
static uint32_t note_now(struct exact *exact, uint32_t location, uint32_t row)
{
    if (row == TIME_ROW_NONE)
        row = time_rows_take(&exact->rows);
    player_copy(&exact->player, time_row(&exact->rows, row), player_now(&exact->player, location));
    return row;
}

/* A message leaves. If its receive was forced to continue without it, the time is not needed. */
void exact_send(struct player *player, uint32_t location, const struct call *call, uint32_t message)
{
    const struct packed_message *packed = &player->graph->messages[message];
    uint32_t receiver = player->graph->channels[packed->channel].receive_location;
    (void)call;
    struct exact *exact = (struct exact *)player;
    /* Rows of messages have two uses in turn (exact.h): writing the send's time after the receive has ended would
       destroy the other one. */
    bool asked =
        exact->instead || packed->receive_call == GRAPH_NONE || player->locations[receiver].at <= packed->receive_call;
    if (asked)
        exact->message_rows[message] = note_now(exact, location, exact->message_rows[message]);
    player_wake_for_message(player, receiver, message);
}

void exact_post(struct player *player, uint32_t location, uint32_t message)
{
    struct exact *exact = (struct exact *)player;
    uint32_t before = exact->posts[message];
    /* Nobody asks any more. */
    if (before == POST_DONE)
        return;
    bool posted = before & POSTED;
    exact->posts[message] = POSTED | note_now(exact, location, posted ? before & ~POSTED : TIME_ROW_NONE);
    if (!posted && before > 0)
        player_wake_for_message(player, before - 1, message);
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
static const struct queued *queued_in(const struct exact *exact, const struct lane *lane, uint32_t location)
{
    const struct queues *queues = lane->options.queues;
    if (!queues)
        return NULL;
    size_t *at = &lane->queue_at[location];
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
static bool is_in_other_order(const struct lane *lane, uint32_t other_location)
{
    return lane->options.queued_for && lane->options.queued_for[other_location];
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

/* The same as exact_depend() for the other end of a message, with what replays change of channels and queues. */
static void depend_with_queues(struct exact *exact, uint32_t location, const struct call *call,
                               const struct dependency *dependency, uint32_t channel, uint32_t other_location)
{
    const int64_t *now_ns = player_now(&exact->player, location);
    for (size_t i = 0; i < exact->player.lanes; i++) {
        const struct lane *lane = &exact->lanes[i];
        const struct queued *queued = queued_in(exact, lane, location);
        bool other_order = is_in_other_order(lane, other_location),
             free_channel = lane->options.free_channels && lane->options.free_channels[channel];
        bool free = free_channel || other_order || lane_is_in(exact->sets.free[dependency->kind], i);
        int64_t ns = own_time_end(own_time_in(&exact->changes, i, call, dependency), now_ns[i],
                                  dependency->replayed_ns[i] - sooner_ns(queued, other_location), free);
        if (other_order)
            ns += left_of_queue(exact, location, queued, other_location);
        exact->end_ns[i] = larger(exact->end_ns[i], ns);
    }
}

static void depend_on_message(struct exact *exact, uint32_t location, const struct call *call,
                              const struct dependency *dependency, uint32_t channel, uint32_t other_location)
{
    if (exact->special)
        depend_with_queues(exact, location, call, dependency, channel, other_location);
    else
        exact_depend(exact, location, call, dependency);
}

/* A receive of one message waits for it; for other calls the longest wait counts.
 */
bool exact_end_of_receives(struct exact *exact, uint32_t location, const struct call *call, int64_t longest_ns)
{
    const struct graph *graph = exact->player.graph;
    bool single = !call->sent && !call->completed && !call->operates && !graph_next_received(graph, call->received - 1);
    struct message m;
    for (uint32_t at = call->received; at; at = graph_next_received(graph, at - 1)) {
        m = graph_message(graph, at - 1);
        if (m.send_location == GRAPH_NONE || m.send_location == location)
            continue;
        uint32_t waited = at - 1;
        struct message first = m;
        if (exact->instead) {
            waited = exact->instead[at - 1];
            first = graph_message(graph, waited);
        }
        if (!player_has_entered(&exact->player, first.send_location, first.send_call)) {
            player_wait_for_message(&exact->player, location, waited);
            return false;
        }
        /* Of several messages it is unknown which one held the call for how long: the longest wait bounds all. */
        struct dependency dependency = {.recorded_ns = graph_call(graph, m.send_location, m.send_call).enter_ns,
                                        .replayed_ns = time_row(&exact->rows, exact->message_rows[waited]),
                                        .kind = wait_for_message_kind(call),
                                        .alone = single,
                                        .wait_ns = longest_ns};
        depend_on_message(exact, location, call, &dependency, m.channel, m.send_location);
    }
    return true;
}

/* When the receive was posted; NULL: the location now waits for it. */
static const int64_t *receive_ns(struct exact *exact, uint32_t location, uint32_t index, const struct message *m)
{
    const struct location_play *receiver = &exact->player.locations[m->receive_location];
    if (graph_completes_later(exact->player.graph, index) || graph_posted_before(exact->player.graph, index)) {
        if (exact->posts[index] & POSTED)
            return time_row(&exact->rows, exact->posts[index] & ~POSTED);
        exact->posts[index] = 1 + location;
        player_wait_for_message(&exact->player, location, index);
        return NULL;
    }
    if (!player_has_entered(&exact->player, m->receive_location, m->receive_call)) {
        player_wait_for_message(&exact->player, location, index);
        return NULL;
    }
    if (receiver->at == m->receive_call)
        return player_now(&exact->player, m->receive_location);
    return time_row(&exact->rows, exact->message_rows[index]);
}

/* Waits for the receive of a message if the recorded call did. False: it is not posted yet. */
static bool depend_on_receiver(struct exact *exact, uint32_t location, const struct call *call, uint32_t index,
                               int64_t wait_ns)
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
    struct dependency dependency = {.recorded_ns = posted_ns,
                                    .replayed_ns = receive_ns(exact, location, index, &m),
                                    .kind = WAIT_LATE_RECEIVER,
                                    .wait_ns = wait_ns};
    if (!dependency.replayed_ns)
        return false;
    depend_on_message(exact, location, call, &dependency, m.channel, m.receive_location);
    return true;
}

/* The same for messages that the call sends, and whose sends it completes, where it waited for a receiver. */
bool exact_end_of_sends(struct exact *exact, uint32_t location, const struct call *call, int64_t wait_ns)
{
    const struct graph *graph = exact->player.graph;
    for (uint32_t at = call->sent; at; at = graph_next_sent(graph, at - 1))
        if (!graph_completes_later(graph, at - 1) && !depend_on_receiver(exact, location, call, at - 1, wait_ns))
            return false;
    for (uint32_t at = call->completed; at; at = graph_next_completed(graph, at - 1))
        if (!depend_on_receiver(exact, location, call, at - 1, wait_ns))
            return false;
    return true;
}

static void forget_row(struct exact *exact, uint32_t message)
{
    if (exact->message_rows[message] == TIME_ROW_NONE)
        return;
    time_rows_give(&exact->rows, exact->message_rows[message]);
    exact->message_rows[message] = TIME_ROW_NONE;
}

/* The send is complete. */
static void forget_post(struct exact *exact, uint32_t message)
{
    uint32_t post = exact->posts[message];
    if (post != POST_DONE && post & POSTED)
        time_rows_give(&exact->rows, post & ~POSTED);
    exact->posts[message] = POST_DONE;
}

/* Senders that have not continued yet need the time when their receive was entered. */
static void end_receives(struct exact *exact, uint32_t location, const struct call *call)
{
    const struct graph *graph = exact->player.graph;
    uint32_t index = exact->player.locations[location].at;
    for (uint32_t m = call->received; m; m = graph_next_received(graph, m - 1)) {
        const struct packed_message *message = &graph->messages[m - 1];
        if (message->receive_call != index || message->send_call == GRAPH_NONE)
            continue;
        if (exact->player.locations[graph->channels[message->channel].send_location].at <= message->send_call)
            exact->message_rows[m - 1] = note_now(exact, location, exact->message_rows[m - 1]);
        else
            forget_row(exact, m - 1);
    }
}

/* True if the receive has ended, or ends in the same call as the send. */
static bool is_received(const struct exact *exact, uint32_t location, const struct packed_message *message)
{
    uint32_t receiver = exact->player.graph->channels[message->channel].receive_location;
    if (message->receive_call == GRAPH_NONE)
        return false;
    uint32_t at = exact->player.locations[receiver].at;
    return at > message->receive_call || (receiver == location && at == message->receive_call);
}

void exact_end_messages(struct exact *exact, uint32_t location, const struct call *call)
{
    const struct graph *graph = exact->player.graph;
    /* Where a receive waits for another message than its own, it is not known who needs a time last. */
    if (!exact->instead) {
        end_receives(exact, location, call);
        for (uint32_t m = call->sent; m; m = graph_next_sent(graph, m - 1))
            if (is_received(exact, location, &graph->messages[m - 1]))
                forget_row(exact, m - 1);
    }
    for (uint32_t m = call->completed; m; m = graph_next_completed(graph, m - 1))
        forget_post(exact, m - 1);
    for (uint32_t m = call->sent; m && graph->link_count > 0; m = graph_next_sent(graph, m - 1))
        if (m <= graph->link_count && !graph_completes_later(graph, m - 1))
            forget_post(exact, m - 1);
}
