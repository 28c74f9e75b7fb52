/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/network.h"

#include "core/memory.h"
#include "replay/graph_neighbours.h"
#include "replay/graph_windows.h"
#include "replay/replay.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* What is not known yet. */
static const int64_t NOT_YET = INT64_MIN;

/* A lane that reaches its next call, or a message that is ready to go. */
struct moment {
    int64_t time_ns;
    uint64_t turn; /* of equal times the first made comes first */
    uint32_t index;
    bool is_message;
};

enum stage { STAGE_COMPUTES, STAGE_WAITS, STAGE_DONE };

struct lane_play {
    int64_t now_ns;
    int64_t until_ns; /* of what is known of its call: when that ends */
    uint32_t at;      /* next call, or the one it is in */
    uint32_t pending; /* things it waits for */
    uint32_t next;    /* 1 + lane that waits in the same collective */
    enum stage stage;
    int64_t out_ns, in_ns; /* its links are taken until then */
};

struct group_play {
    int64_t latest_ns;
    uint32_t arrived;
    uint32_t waiting; /* 1 + lane */
};

/* A member of a neighbourhood collective. */
struct neighbour_play {
    int64_t enter_ns;
    uint32_t waiting; /* 1 + lane that waits for it first */
};

/* A call on a window is entered or left, for which another call waits. */
struct edge_play {
    int64_t ns;
    bool waits; /* its lane waits for that */
};

struct play {
    const struct graph *graph;
    const struct network *network;
    bool eager; /* no rendezvous at all */
    struct lane_play *lanes;
    struct group_play *groups;
    struct neighbour_play *neighbours; /* by row of the graph's neighbours */
    int64_t *arrival_ns;               /* by message */
    int64_t *release_ns;     /* by message: when its sender may go on; before: NOT_YET, or beyond it by 1 + the
                                lane that waits to complete the send of another call */
    int64_t *ready_ns;       /* by message: when the sender was ready, of those that wait for their receive */
    bool *posted;            /* by message: its receive was posted */
    struct edge_play *edges; /* by edge of windows */
    int64_t *bus_ns;         /* by bus: taken until then */
    struct moment *heap;
    size_t heap_count, heap_capacity;
    uint64_t turns;
    uint32_t *sends; /* scratch: messages of a call */
    size_t send_count, send_capacity;
    uint64_t forced;
};

static int64_t later(int64_t time_ns, int64_t ns)
{
    int64_t sum;
    return __builtin_add_overflow(time_ns, ns, &sum) ? INT64_MAX : sum;
}

/* How long bytes need a link. Beyond what a clock shows is forever, but still to be added to. */
static int64_t transfer_ns(const struct network *network, int64_t bytes)
{
    if (network->bytes_per_s <= 0 || bytes <= 0)
        return 0;
    double ns = (double)bytes / network->bytes_per_s * 1e9;
    return ns < 9e17 ? (int64_t)llround(ns) : INT64_C(900000000000000000);
}

uint64_t network_stages(uint32_t processes, uint32_t buses)
{
    uint64_t stages = 0;
    for (uint32_t left = processes; left > 1; left -= left / 2)
        stages += buses ? (left / 2 + buses - 1) / buses : 1;
    return stages;
}

int64_t network_collective_ns(const struct network *network, const char *name, uint32_t processes, int64_t bytes)
{
    /* POP's table for Dimemas: trees that collect, but all to all. */
    static const struct {
        const char *begin;
        bool linear;
        int fans, sizes;
    } models[] = {{"MPI_Init", false, 0, 0},     {"MPI_Finalize", false, 0, 0}, {"MPI_Alltoall", true, 2, 2},
                  {"MPI_Neighbor_", true, 1, 1}, {"MPI_Reduce_", false, 1, 1},  {"MPI_Reduce", false, 1, 2},
                  {"MPI_", false, 1, 1}};
    size_t model = 0;
    while (model + 1 < sizeof models / sizeof *models &&
           strncmp(name, models[model].begin, strlen(models[model].begin)) != 0)
        model++;
    double stages = models[model].linear ? (double)processes - 1 : (double)network_stages(processes, network->buses);
    double stage_ns = (double)network->latency_ns + (double)transfer_ns(network, bytes) * models[model].sizes;
    double ns = stage_ns * stages * models[model].fans;
    return ns < 9e17 ? (int64_t)llround(ns) : INT64_C(900000000000000000);
}

/* The earliest moment first: a binary heap. */
static bool before(const struct moment *left, const struct moment *right)
{
    return left->time_ns != right->time_ns ? left->time_ns < right->time_ns : left->turn < right->turn;
}

static void put(struct play *play, int64_t time_ns, uint32_t index, bool is_message)
{
    struct moment moment = {time_ns, play->turns++, index, is_message};
    ARRAY_PUSH(play->heap, play->heap_count, play->heap_capacity, moment);
    size_t at = play->heap_count - 1;
    for (; at > 0 && before(&moment, &play->heap[(at - 1) / 2]); at = (at - 1) / 2)
        play->heap[at] = play->heap[(at - 1) / 2];
    play->heap[at] = moment;
}

static struct moment take(struct play *play)
{
    struct moment first = play->heap[0], last = play->heap[--play->heap_count];
    size_t at = 0;
    for (size_t child = 1; child < play->heap_count; child = 2 * at + 1) {
        child += child + 1 < play->heap_count && before(&play->heap[child + 1], &play->heap[child]);
        if (!before(&play->heap[child], &last))
            break;
        play->heap[at] = play->heap[child];
        at = child;
    }
    if (play->heap_count > 0)
        play->heap[at] = last;
    return first;
}

static int64_t computing(const struct play *play, uint32_t lane, int64_t ns)
{
    return play->network->compute ? (int64_t)llround((double)ns * play->network->compute[lane]) : ns;
}

/* The lane's time is that of the end of its last call: it computes until the next one. */
static void compute(struct play *play, uint32_t index)
{
    const struct graph *graph = play->graph;
    const struct lane *recorded = &graph->lanes[index];
    struct lane_play *lane = &play->lanes[index];
    int64_t from_ns = lane->at ? graph_call(graph, index, lane->at - 1).leave_ns : recorded->begin_ns;
    bool done = lane->at >= recorded->count;
    int64_t to_ns = done ? recorded->end_ns : graph_call(graph, index, lane->at).enter_ns;
    lane->now_ns = later(lane->now_ns, computing(play, index, time_since(from_ns, to_ns)));
    lane->stage = done ? STAGE_DONE : STAGE_COMPUTES;
    if (!done)
        put(play, lane->now_ns, index, false);
}

static void settle(struct play *play, uint32_t index, int64_t time_ns);

/* The lane's call is entered, or left: who waits for that on a window learns it a latency later. */
static void pass_edges(struct play *play, uint32_t index, bool after)
{
    const struct graph *graph = play->graph;
    const struct lane_play *lane = &play->lanes[index];
    if (!(lane_packed(&graph->lanes[index], lane->at)->word & CALL_OPERATES))
        return;
    uint32_t call = lane->at;
    int64_t ns = later(lane->now_ns, play->network->latency_ns);
    for (size_t i = window_edges_by(graph, index, call); i < graph->edge_count; i++) {
        const struct window_edge *edge = &graph->edges[graph->edges_by_cause[i]];
        struct edge_play *played = &play->edges[graph->edges_by_cause[i]];
        if (edge->cause_lane != index || edge->cause_call != call)
            break;
        if (edge->after != after)
            continue;
        played->ns = ns;
        if (played->waits)
            settle(play, edge->lane, ns);
        played->waits = false;
    }
}

/* What the call waits for on its window. */
static void wait_for_edges(struct play *play, uint32_t index)
{
    const struct graph *graph = play->graph;
    struct lane_play *lane = &play->lanes[index];
    for (size_t i = window_edges_of(graph, index, lane->at); i < graph->edge_count; i++) {
        const struct window_edge *edge = &graph->edges[i];
        if (edge->lane != index || edge->call != lane->at)
            break;
        int64_t ns = play->edges[i].ns;
        play->edges[i].waits = ns == NOT_YET;
        lane->pending += ns == NOT_YET;
        lane->until_ns = ns > lane->until_ns ? ns : lane->until_ns;
    }
}

static void end_call(struct play *play, uint32_t index)
{
    struct lane_play *lane = &play->lanes[index];
    lane->now_ns = lane->until_ns > lane->now_ns ? lane->until_ns : lane->now_ns;
    pass_edges(play, index, true);
    lane->at++;
    compute(play, index);
}

/* One of the things that the lane waits for is known to happen then. */
static void settle(struct play *play, uint32_t index, int64_t time_ns)
{
    struct lane_play *lane = &play->lanes[index];
    lane->until_ns = time_ns > lane->until_ns ? time_ns : lane->until_ns;
    if (--lane->pending == 0)
        end_call(play, index);
}

/* True of calls that start something and do not wait for it. */
static bool only_starts(const struct state_def *state)
{
    if (state->class != CLASS_P2P && state->class != CLASS_COLLECTIVE && state->class != CLASS_SYNC)
        return false;
    return strncmp(state->name, "MPI_Start", 9) == 0 ||
           (strncmp(state->name, "MPI_I", 5) == 0 && islower((unsigned char)state->name[5]));
}

static bool is_rendezvous(const struct play *play, const struct state_def *sender, const struct message *message)
{
    if (play->eager || message->receive_lane == GRAPH_NONE || strcasestr(sender->name, "bsend"))
        return false;
    return strcasestr(sender->name, "ssend") || message->bytes >= play->network->eager_limit;
}

/* The next message that a call waits for; of a probe there is one. */
static uint32_t next_arriving(const struct play *play, const struct call *call, uint32_t message)
{
    return graph_state(play->graph, call)->class == CLASS_PROBE ? 0 : graph_next_received(play->graph, message - 1);
}

/* The message's sender may go on: who waits to complete the send does. */
static void release(struct play *play, uint32_t message, int64_t time_ns)
{
    int64_t before_ns = play->release_ns[message];
    play->release_ns[message] = time_ns;
    if (before_ns < 0 && before_ns != NOT_YET)
        settle(play, (uint32_t)(before_ns - NOT_YET - 1), time_ns);
}

/* The transfer can begin: it does when links and a bus are free. */
static void transfer(struct play *play, uint32_t index, int64_t ready_ns)
{
    struct message message = graph_message(play->graph, index);
    struct lane_play *from = &play->lanes[message.send_lane], *to = &play->lanes[message.receive_lane];
    int64_t begin_ns = ready_ns, ns = transfer_ns(play->network, message.bytes);
    if (ns > 0) {
        uint32_t bus = 0;
        for (uint32_t i = 1; i < play->network->buses; i++)
            bus = play->bus_ns[i] < play->bus_ns[bus] ? i : bus;
        begin_ns = from->out_ns > begin_ns ? from->out_ns : begin_ns;
        begin_ns = to->in_ns > begin_ns ? to->in_ns : begin_ns;
        if (play->network->buses) {
            begin_ns = play->bus_ns[bus] > begin_ns ? play->bus_ns[bus] : begin_ns;
            play->bus_ns[bus] = later(begin_ns, ns);
        }
        from->out_ns = to->in_ns = later(begin_ns, ns);
    }
    int64_t end_ns = later(begin_ns, ns);
    bool held = play->release_ns[index] == NOT_YET;
    play->arrival_ns[index] = end_ns;
    release(play, index, play->network->sender_stays ? end_ns : begin_ns);
    if (held && from->stage == STAGE_WAITS && from->at == message.send_call)
        settle(play, message.send_lane, play->release_ns[index]);
    if (to->stage != STAGE_WAITS)
        return;
    struct call call = graph_call(play->graph, message.receive_lane, to->at);
    /* The receive, or a probe that found the message. */
    if (to->at == message.receive_call ||
        (graph_state(play->graph, &call)->class == CLASS_PROBE && call.received == index + 1))
        settle(play, message.receive_lane, end_ns);
}

/* The receive of the message is there: a sender that waits for it can begin. */
static void post_one(struct play *play, uint32_t message, int64_t now_ns)
{
    bool before = play->posted[message];
    play->posted[message] = true;
    if (!before && play->ready_ns[message] != NOT_YET)
        put(play, now_ns > play->ready_ns[message] ? now_ns : play->ready_ns[message], message, true);
}

/* Receives that the call is or posts; and what a probe finds can begin, too. */
static void post(struct play *play, const struct call *call, int64_t now_ns)
{
    for (uint32_t at = call->received; at; at = next_arriving(play, call, at))
        post_one(play, at - 1, now_ns);
    for (uint32_t at = call->posted; at; at = graph_next_posted(play->graph, at - 1))
        post_one(play, at - 1, now_ns);
}

/* True of a receive that was posted before the call in which it completes, and the trace does not tell when. */
static bool post_is_unknown(const struct graph *graph, uint32_t index, const struct message *message)
{
    return graph_post(graph, index, message).lane == GRAPH_NONE;
}

static void send(struct play *play, struct lane_play *lane, const struct call *call, uint32_t index)
{
    struct message message = graph_message(play->graph, index);
    const struct state_def *state = graph_state(play->graph, call);
    lane->now_ns = later(lane->now_ns, play->network->latency_ns);
    bool rendezvous = message.receive_lane != GRAPH_NONE && is_rendezvous(play, state, &message);
    if (!rendezvous || (only_starts(state) && !graph_completes_later(play->graph, index)))
        release(play, index, lane->now_ns);
    if (message.receive_lane == GRAPH_NONE)
        return;
    lane->pending += rendezvous && !only_starts(state);
    if (rendezvous && !play->posted[index] && !post_is_unknown(play->graph, index, &message))
        play->ready_ns[index] = lane->now_ns;
    else
        put(play, lane->now_ns, index, true);
}

/* The messages of the call in the order in which they are sent: that of the list is the other way round. */
static void send_all(struct play *play, uint32_t lane, const struct call *call)
{
    play->send_count = 0;
    for (uint32_t at = call->sent; at; at = graph_next_sent(play->graph, at - 1))
        ARRAY_PUSH(play->sends, play->send_count, play->send_capacity, at - 1);
    while (play->send_count > 0)
        send(play, &play->lanes[lane], call, play->sends[--play->send_count]);
}

/* Sends of calls before that complete in this one. */
static void complete_sends(struct play *play, uint32_t index, const struct call *call)
{
    struct lane_play *lane = &play->lanes[index];
    for (uint32_t at = call->completed; at; at = graph_next_completed(play->graph, at - 1)) {
        int64_t *release_ns = &play->release_ns[at - 1];
        lane->pending += *release_ns == NOT_YET;
        lane->until_ns = *release_ns > lane->until_ns ? *release_ns : lane->until_ns;
        if (*release_ns == NOT_YET)
            *release_ns = NOT_YET + 1 + index;
    }
}

static void exchange(struct play *play, uint32_t index, const struct call *call)
{
    struct lane_play *lane = &play->lanes[index];
    post(play, call, lane->now_ns);
    send_all(play, index, call);
    complete_sends(play, index, call);
    if (call->operates && graph_state(play->graph, call)->class == CLASS_RMA)
        wait_for_edges(play, index);
    for (uint32_t at = call->received; at; at = next_arriving(play, call, at)) {
        if (graph_message(play->graph, at - 1).send_lane == GRAPH_NONE)
            continue;
        int64_t arrival_ns = play->arrival_ns[at - 1];
        lane->pending += arrival_ns == NOT_YET;
        lane->until_ns = arrival_ns > lane->until_ns ? arrival_ns : lane->until_ns;
    }
    if (lane->pending == 0)
        end_call(play, index);
}

/* The collective ends for the lane when its last neighbour is there; before that it waits for the next that is not. */
static void try_neighbours(struct play *play, uint32_t index, const struct call *call)
{
    const struct graph *graph = play->graph;
    struct lane_play *lane = &play->lanes[index];
    uint32_t row = graph_neighbour_row_of_lane(graph, call->group - 1, index), source, sources = 0;
    struct source_walk walk = graph_sources(graph, call->group - 1, row);
    int64_t latest_ns = lane->now_ns;
    while (graph_next_source(graph, &walk, &source)) {
        struct neighbour_play *neighbour = &play->neighbours[source];
        if (neighbour->enter_ns == NOT_YET) {
            lane->next = neighbour->waiting;
            neighbour->waiting = index + 1;
            return;
        }
        latest_ns = neighbour->enter_ns > latest_ns ? neighbour->enter_ns : latest_ns;
        sources++;
    }
    int64_t bytes = sources ? graph_group(graph, call)->bytes / sources : 0;
    lane->until_ns =
        later(latest_ns, network_collective_ns(play->network, graph_state(graph, call)->name, sources + 1, bytes));
    end_call(play, index);
}

/* Others may go on, now that the lane is there. */
static void arrive_beside_neighbours(struct play *play, uint32_t index, uint32_t row)
{
    struct neighbour_play *self = &play->neighbours[row];
    uint32_t at = self->waiting;
    self->enter_ns = play->lanes[index].now_ns;
    self->waiting = 0;
    while (at) {
        uint32_t other = at - 1;
        struct call waiting = graph_call(play->graph, other, play->lanes[other].at);
        at = play->lanes[other].next;
        try_neighbours(play, other, &waiting);
    }
}

static void meet_neighbours(struct play *play, uint32_t index, const struct call *call)
{
    uint32_t row = graph_neighbour_row_of_lane(play->graph, call->group - 1, index);
    if (row != GRAPH_NONE)
        arrive_beside_neighbours(play, index, row);
    if (graph_neighbours_known(play->graph, call->group - 1, index))
        try_neighbours(play, index, call);
    else
        end_call(play, index);
}

static void meet(struct play *play, uint32_t index, const struct call *call)
{
    struct lane_play *lane = &play->lanes[index];
    const struct group *recorded = graph_group(play->graph, call);
    const struct state_def *state = graph_state(play->graph, call);
    if (!recorded->complete || recorded->latest_lane == GRAPH_NONE || !graph_waits_at_once(play->graph, recorded)) {
        end_call(play, index);
        return;
    }
    if (graph_collective(play->graph, call).shape == SHAPE_NEIGHBOURS) {
        meet_neighbours(play, index, call);
        return;
    }
    struct group_play *group = &play->groups[call->group - 1];
    group->latest_ns = lane->now_ns > group->latest_ns ? lane->now_ns : group->latest_ns;
    lane->pending = 1;
    lane->next = group->waiting;
    group->waiting = index + 1;
    if (++group->arrived < recorded->count)
        return;
    int64_t end_ns = later(group->latest_ns, network_collective_ns(play->network, state->name, recorded->count,
                                                                   recorded->bytes > 0 ? recorded->bytes : 0));
    while (group->waiting) {
        uint32_t other = group->waiting - 1;
        group->waiting = play->lanes[other].next;
        settle(play, other, end_ns);
    }
}

static void enter(struct play *play, uint32_t index)
{
    struct lane_play *lane = &play->lanes[index];
    struct call call = graph_call(play->graph, index, lane->at);
    lane->stage = STAGE_WAITS;
    lane->pending = 0;
    lane->until_ns = NOT_YET;
    pass_edges(play, index, false);
    if (call.group)
        meet(play, index, &call);
    else
        exchange(play, index, &call);
}

/* Nobody waits in the collective any more. */
static void forget_waiting(struct play *play, uint32_t index)
{
    const struct group *group = &play->graph->groups[index];
    play->groups[index].waiting = 0;
    if (graph_collective_of(play->graph, group).shape == SHAPE_NEIGHBOURS)
        for (uint32_t i = 0; i < group->count; i++)
            play->neighbours[group->rows + i].waiting = 0;
}

/* The lane goes on without the ends of its sends, and without what it waits for on a window. */
static void forget_call(struct play *play, uint32_t index, const struct call *call)
{
    const struct graph *graph = play->graph;
    for (uint32_t at = call->completed; at; at = graph_next_completed(graph, at - 1))
        if (play->release_ns[at - 1] == NOT_YET + 1 + index)
            play->release_ns[at - 1] = NOT_YET;
    for (size_t i = window_edges_of(graph, index, play->lanes[index].at); i < graph->edge_count; i++) {
        if (graph->edges[i].lane != index || graph->edges[i].call != play->lanes[index].at)
            break;
        play->edges[i].waits = false;
    }
}

/* Nothing can happen any more: the lane that entered its call first in the record goes on. False if all are done. */
static bool force(struct play *play)
{
    uint32_t first = GRAPH_NONE;
    int64_t first_ns = INT64_MAX;
    for (uint32_t i = 0; i < play->graph->lane_count; i++) {
        if (play->lanes[i].stage != STAGE_WAITS)
            continue;
        int64_t enter_ns = graph_call(play->graph, i, play->lanes[i].at).enter_ns;
        if (first == GRAPH_NONE || enter_ns < first_ns) {
            first = i;
            first_ns = enter_ns;
        }
    }
    if (first == GRAPH_NONE)
        return false;
    struct call call = graph_call(play->graph, first, play->lanes[first].at);
    play->forced++;
    if (call.group) /* nobody else is to wake it */
        forget_waiting(play, call.group - 1);
    forget_call(play, first, &call);
    end_call(play, first);
    return true;
}

static int64_t *times_new(size_t count)
{
    int64_t *times = memory_new(count * sizeof *times);
    for (size_t i = 0; i < count; i++)
        times[i] = NOT_YET;
    return times;
}

static void play_begin(struct play *play, const struct graph *graph, const struct network *network, bool eager)
{
    *play = (struct play){.graph = graph, .network = network, .eager = eager};
    play->lanes = memory_new(graph->lane_count * sizeof *play->lanes);
    play->groups = memory_new(graph->group_count * sizeof *play->groups);
    for (size_t i = 0; i < graph->group_count; i++)
        play->groups[i].latest_ns = NOT_YET;
    play->neighbours = memory_new(graph->neighbour_count * sizeof *play->neighbours);
    for (size_t i = 0; i < graph->neighbour_count; i++)
        play->neighbours[i].enter_ns = NOT_YET;
    play->arrival_ns = times_new(graph->message_count);
    play->release_ns = times_new(graph->message_count);
    play->ready_ns = times_new(graph->message_count);
    play->posted = memory_new(graph->message_count);
    play->edges = memory_new(graph->edge_count * sizeof *play->edges);
    for (size_t i = 0; i < graph->edge_count; i++)
        play->edges[i].ns = NOT_YET;
    play->bus_ns = memory_new(network->buses * sizeof *play->bus_ns);
    int64_t begin_ns = replay_begin_ns(graph);
    for (uint32_t i = 0; i < graph->lane_count; i++) {
        play->lanes[i].now_ns = time_since(begin_ns, graph->lanes[i].begin_ns);
        compute(play, i);
    }
}

static void play_clear(struct play *play)
{
    free(play->lanes);
    free(play->groups);
    free(play->neighbours);
    free(play->arrival_ns);
    free(play->release_ns);
    free(play->ready_ns);
    free(play->posted);
    free(play->edges);
    free(play->bus_ns);
    free(play->heap);
    free(play->sends);
}

static struct network_run run(const struct graph *graph, const struct network *network, bool eager)
{
    struct play play;
    struct network_run result = {0};
    play_begin(&play, graph, network, eager);
    do {
        while (play.heap_count > 0) {
            struct moment moment = take(&play);
            if (moment.is_message)
                transfer(&play, moment.index, moment.time_ns);
            else
                enter(&play, moment.index);
        }
    } while (force(&play));
    for (size_t i = 0; i < graph->lane_count; i++)
        result.end_ns = play.lanes[i].now_ns > result.end_ns ? play.lanes[i].now_ns : result.end_ns;
    result.forced = play.forced;
    play_clear(&play);
    return result;
}

struct network_run network_replay(const struct graph *graph, const struct network *network)
{
    struct network_run result = run(graph, network, false);
    if (result.forced == 0)
        return result;
    struct network_run eager = run(graph, network, true);
    eager.deadlock = eager.forced < result.forced;
    return eager.deadlock ? eager : result;
}
