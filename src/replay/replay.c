/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/replay.h"

#include "core/memory.h"
#include "replay/graph_neighbours.h"
#include "replay/graph_sides.h"
#include "replay/graph_windows.h"
#include "replay/wait_table.h"

#include <math.h>

/* What is not known yet. */
static const int64_t NOT_YET = INT64_MIN;

struct group_play {
    int64_t latest_ns, root_ns, earliest_other_ns;
    uint32_t arrived; /* of those who give something */
    uint32_t prefix;  /* of a prefix reduction: so many members of the lowest ranks are there */
    uint32_t waiting; /* 1 + lane: the first of those that wait, by next_waiting */
};

/* A group of processes of an inter-communicator in a collective. */
struct side_play {
    int64_t latest_ns;
    uint32_t arrived; /* of those who give something */
};

/* A member of a neighbourhood collective. */
struct neighbour_play {
    int64_t enter_ns;
    uint32_t waiting; /* 1 + lane: the first of those that wait for it */
};

struct lane_play {
    int64_t now_ns;
    uint32_t *waiting_in;                    /* the list of waiting lanes that it stands in; NULL: none */
    uint32_t next_waiting, previous_waiting; /* 1 + lane: beside it there */
    uint32_t message;                        /* 1 + the message for whose other end it waits */
    uint32_t at;                             /* next call */
    bool entered;                            /* it was entered, and could not end yet */
    bool is_ready;                           /* stands among those that can go on */
};

struct edge_play {
    int64_t ns; /* when what it waits for happens */
    bool waits; /* its lane waits for that */
};

struct player {
    const struct graph *graph;
    struct replay_options options;
    int64_t begin_ns;
    struct lane_play *lanes;
    int64_t *message_ns; /* by message: when its send was entered; once its receive has ended, when that was entered */
    int64_t *posted_ns;  /* by message with links: when its receive was posted; before: NOT_YET, or beyond it by 1 + the
                            lane that waits for it */
    struct group_play *groups;
    struct side_play (*sides)[2];      /* by row of the graph's sides */
    struct neighbour_play *neighbours; /* by row of the graph's neighbours */
    struct edge_play *edges;           /* by edge of windows */
    int64_t *prefix_ns; /* by prefix: when it is entered; once all lower ranks are, the latest up to it */
    uint32_t *ready;    /* lanes that can go on */
    size_t ready_count;
    size_t *queue_at; /* by lane: its next wait of options.queues; NULL: there are none */
    uint64_t forced;
};

int64_t replay_begin_ns(const struct graph *graph)
{
    int64_t begin_ns = INT64_MAX;
    for (size_t i = 0; i < graph->lane_count; i++)
        begin_ns = graph->lanes[i].begin_ns < begin_ns ? graph->lanes[i].begin_ns : begin_ns;
    return graph->lane_count ? begin_ns : 0;
}

int64_t replay_duration_ns(const struct graph *graph)
{
    int64_t end_ns = INT64_MIN;
    for (size_t i = 0; i < graph->lane_count; i++)
        end_ns = graph->lanes[i].end_ns > end_ns ? graph->lanes[i].end_ns : end_ns;
    return graph->lane_count ? time_since(replay_begin_ns(graph), end_ns) : 0;
}

static void make_ready(struct player *player, uint32_t lane)
{
    if (player->lanes[lane].is_ready)
        return;
    player->lanes[lane].is_ready = true;
    player->ready[player->ready_count++] = lane;
}

/* The lane goes on if it waits for the other end of the message. */
static void wake(struct player *player, uint32_t lane, uint32_t message)
{
    if (lane == GRAPH_NONE || player->lanes[lane].message != message + 1)
        return;
    player->lanes[lane].message = 0;
    make_ready(player, lane);
}

static int64_t computing(const struct player *player, uint32_t lane, int64_t from_ns, int64_t to_ns)
{
    const struct replay_options *options = &player->options;
    int64_t ns = time_since(from_ns, to_ns);
    if (options->pace && ns > 0)
        return options->pace(options->pace_context, lane, from_ns, to_ns);
    return options->compute && ns > 0 ? (int64_t)llround((double)ns * options->compute[lane]) : ns;
}

static bool is_free(const struct player *player, enum wait_kind kind)
{
    return player->options.free_waits >> kind & 1;
}

static bool is_free_channel(const struct player *player, uint32_t channel)
{
    return player->options.free_channels && player->options.free_channels[channel];
}

static bool is_free_call(const struct player *player, const struct call *call)
{
    const bool *states = player->options.free_states;
    return states && states[graph_state(player->graph, call)->first_of_name];
}

/* Calls that take no time of their own. */
static bool is_quick(const struct player *player, const struct call *call)
{
    const bool *states = player->options.quick_states;
    return player->options.ideal || (states && states[graph_state(player->graph, call)->first_of_name]);
}

/* A member of a prefix reduction is there: those behind it may learn who came last. */
static void enter_prefix(struct player *player, uint32_t lane, uint32_t index, bool gives_nothing,
                         uint32_t index_of_group)
{
    const struct graph *graph = player->graph;
    const uint64_t *place = map_find(&graph->prefix_places, map_pair(lane, index));
    struct group_play *group = &player->groups[index_of_group];
    const struct group *recorded = &graph->groups[index_of_group];
    if (!place || !recorded->complete)
        return;
    player->prefix_ns[*place] = gives_nothing ? NOT_YET + 1 : player->lanes[lane].now_ns;
    int64_t *members = player->prefix_ns + recorded->rows;
    for (; group->prefix < recorded->count && members[group->prefix] != NOT_YET; group->prefix++)
        if (group->prefix > 0 && members[group->prefix - 1] > members[group->prefix])
            members[group->prefix] = members[group->prefix - 1];
}

/* The lane waits no more, though what it waits for has not come. */
static void leave_list(struct player *player, uint32_t lane)
{
    struct lane_play *where = &player->lanes[lane];
    if (!where->waiting_in)
        return;
    if (where->previous_waiting)
        player->lanes[where->previous_waiting - 1].next_waiting = where->next_waiting;
    else
        *where->waiting_in = where->next_waiting;
    if (where->next_waiting)
        player->lanes[where->next_waiting - 1].previous_waiting = where->previous_waiting;
    where->waiting_in = NULL;
}

static void wake_all(struct player *player, uint32_t *waiting)
{
    while (*waiting) {
        uint32_t lane = *waiting - 1;
        leave_list(player, lane);
        make_ready(player, lane);
    }
}

static void arrive_beside_neighbours(struct player *player, uint32_t lane, uint32_t index_of_group)
{
    uint32_t row = graph_neighbour_row_of_lane(player->graph, index_of_group, lane);
    if (row == GRAPH_NONE)
        return;
    player->neighbours[row].enter_ns = player->lanes[lane].now_ns;
    wake_all(player, &player->neighbours[row].waiting);
}

/* True if this is what the other group waits for. */
static bool arrive_on_side(struct player *player, uint32_t lane, bool gives_nothing, const struct group *recorded)
{
    int index = graph_side_of(player->graph, recorded, lane);
    struct side_play *side = &player->sides[recorded->rows][index];
    if (!gives_nothing) {
        side->arrived++;
        if (player->lanes[lane].now_ns > side->latest_ns)
            side->latest_ns = player->lanes[lane].now_ns;
    }
    return side->arrived == graph_sides(player->graph, recorded)->sides[index].givers;
}

/* The lane is there for a collective: others may go on. */
static void arrive(struct player *player, uint32_t lane, uint32_t index, bool gives_nothing, uint32_t index_of_group)
{
    const struct group *recorded = &player->graph->groups[index_of_group];
    struct group_play *group = &player->groups[index_of_group];
    int64_t now_ns = player->lanes[lane].now_ns;
    if (!gives_nothing) {
        group->arrived++;
        if (now_ns > group->latest_ns)
            group->latest_ns = now_ns;
    }
    enum collective_shape shape = (enum collective_shape)graph_collective_of(player->graph, recorded).shape;
    if (shape == SHAPE_PREFIX)
        enter_prefix(player, lane, index, gives_nothing, index_of_group);
    if (shape == SHAPE_NEIGHBOURS)
        arrive_beside_neighbours(player, lane, index_of_group);
    bool side_is_there =
        player->graph->streams[recorded->stream].sided && arrive_on_side(player, lane, gives_nothing, recorded);
    if (recorded->root_lane == lane)
        group->root_ns = now_ns;
    else if (group->earliest_other_ns == NOT_YET || now_ns < group->earliest_other_ns)
        group->earliest_other_ns = now_ns;
    /* Nobody can go on before. */
    if (recorded->root_lane != lane && group->arrived < recorded->givers && group->prefix == 0 && !side_is_there)
        return;
    wake_all(player, &group->waiting);
}

/* The persistent collectives that the call starts. */
static void start_operations(struct player *player, uint32_t lane, uint32_t index)
{
    const struct graph *graph = player->graph;
    const uint64_t *place = map_find(&graph->start_places, map_pair(lane, index));
    for (size_t i = place ? (size_t)*place : graph->start_count; i < graph->start_count; i++) {
        const struct operation *operation = &graph->operations[graph->starts[i]];
        if (operation->lane != lane || operation->call != index)
            break;
        arrive(player, lane, index, operation->gives_nothing, operation->group);
    }
}

/* True if the lane has entered the call, or is past it. */
static bool has_entered(const struct player *player, uint32_t lane, uint32_t call)
{
    const struct lane_play *where = &player->lanes[lane];
    return where->at > call || (where->at == call && where->entered);
}

/* A message leaves. Where nobody came and its receive went on alone, nobody asks for the time. */
static void send_message(struct player *player, uint32_t message, int64_t now_ns)
{
    const struct packed_message *packed = &player->graph->messages[message];
    uint32_t receiver = player->graph->channels[packed->channel].receive_lane;
    if (packed->receive_call == GRAPH_NONE || player->lanes[receiver].at <= packed->receive_call)
        player->message_ns[message] = now_ns;
    wake(player, receiver, message);
}

/* The receive of a message with links. */
static void post_receive(struct player *player, uint32_t message, int64_t now_ns)
{
    int64_t before_ns = player->posted_ns[message];
    player->posted_ns[message] = now_ns;
    if (before_ns < 0 && before_ns != NOT_YET)
        wake(player, (uint32_t)(before_ns - NOT_YET - 1), message);
}

/* The call is entered, or left: who waits for that on a window may go on. */
static void pass_edges(struct player *player, uint32_t lane, uint32_t index, bool after)
{
    const struct graph *graph = player->graph;
    for (size_t i = window_edges_by(graph, lane, index); i < graph->edge_count; i++) {
        uint32_t at = graph->edges_by_cause[i];
        const struct window_edge *edge = &graph->edges[at];
        if (edge->cause_lane != lane || edge->cause_call != index)
            break;
        if (edge->after != after)
            continue;
        player->edges[at].ns = player->lanes[lane].now_ns;
        if (player->edges[at].waits)
            make_ready(player, edge->lane);
        player->edges[at].waits = false;
    }
}

/* The lane reaches its next call: its time is that of the enter, and others learn that it is there. */
static void enter(struct player *player, uint32_t lane, const struct call *call)
{
    const struct graph *graph = player->graph;
    struct lane_play *where = &player->lanes[lane];
    uint32_t index = where->at;
    int64_t before_ns = index ? graph_call(graph, lane, index - 1).leave_ns : graph->lanes[lane].begin_ns;
    where->now_ns += computing(player, lane, before_ns, call->enter_ns);
    where->entered = true;
    for (uint32_t m = call->sent; m; m = graph->messages[m - 1].next_sent)
        send_message(player, m - 1, where->now_ns);
    for (uint32_t m = call->received; m; m = graph->messages[m - 1].next_received)
        if (graph->messages[m - 1].receive_call == index) {
            wake(player, graph->channels[graph->messages[m - 1].channel].send_lane, m - 1);
            if (graph_completes_later(graph, m - 1) && !graph_posted_before(graph, m - 1))
                post_receive(player, m - 1, where->now_ns);
        }
    for (uint32_t m = call->posted; m; m = graph_next_posted(graph, m - 1))
        post_receive(player, m - 1, where->now_ns);
    if (call->group)
        arrive(player, lane, index, call->gives_nothing, call->group - 1);
    if (call->operates) {
        start_operations(player, lane, index);
        pass_edges(player, lane, index, false);
    }
}

/* A thing that the call depends on: when it happened in the record and in the replay. NOT_YET: not known in the replay.
 */
struct dependency {
    int64_t recorded_ns, replayed_ns;
    enum wait_kind kind;
    bool free;      /* it is there in time, whenever it happens */
    uint32_t *list; /* of waiting lanes: the one that is woken when more is known */
};

/* How long the call waited for this, had it waited for nothing else. */
static int64_t wait_for_this(const struct call *call, int64_t recorded_ns)
{
    return time_since(call->enter_ns, recorded_ns < call->leave_ns ? recorded_ns : call->leave_ns);
}

/* `wait_ns` is the call's longest wait: the rest is its own time, which comes after the last of all that it waits for.
 */
static int64_t end_after(const struct player *player, const struct call *call, int64_t now_ns,
                         const struct dependency *dependency, int64_t wait_ns)
{
    int64_t rest_ns = time_since(call->enter_ns, call->leave_ns) - wait_ns,
            tail_ns = time_since(dependency->recorded_ns, call->leave_ns) -
                      time_since(call->leave_ns, dependency->recorded_ns);
    if (is_quick(player, call))
        rest_ns = tail_ns = 0;
    int64_t alone_ns = now_ns + rest_ns;
    if (dependency->free || is_free(player, dependency->kind))
        return alone_ns;
    /* What happened after the leave, by clocks that are wrong, leaves a tail below 0. */
    int64_t met_ns = dependency->replayed_ns + (tail_ns < rest_ns ? tail_ns : rest_ns);
    return met_ns > alone_ns ? met_ns : alone_ns;
}

/* The last of the neighbours; false: one is not there yet. */
static bool depend_on_neighbours(const struct player *player, uint32_t lane, uint32_t index_of_group,
                                 struct dependency *dependency)
{
    const struct graph *graph = player->graph;
    uint32_t row = graph_neighbour_row_of_lane(graph, index_of_group, lane), source;
    const struct neighbour *member = row == GRAPH_NONE ? NULL : &graph->neighbours[row];
    if (!member || member->latest_lane >= NEIGHBOURS_UNKNOWN)
        return true;
    struct source_walk walk = graph_sources(graph, index_of_group, row);
    int64_t latest_ns = NOT_YET;
    while (graph_next_source(graph, &walk, &source)) {
        struct neighbour_play *neighbour = &player->neighbours[source];
        dependency->list = &neighbour->waiting;
        if (neighbour->enter_ns == NOT_YET)
            return false;
        latest_ns = neighbour->enter_ns > latest_ns ? neighbour->enter_ns : latest_ns;
    }
    dependency->recorded_ns = graph_call(graph, member->latest_lane, member->latest_call).enter_ns;
    dependency->replayed_ns = latest_ns;
    return true;
}

/* The root in the other group, that group, or both. `call` waits. */
static bool depend_on_other_group(const struct player *player, uint32_t lane, const struct group *recorded,
                                  const struct call *call, struct dependency *dependency)
{
    const struct graph *graph = player->graph;
    int index = graph_side_of(graph, recorded, lane);
    const struct group_sides *sides = graph_sides(graph, recorded);
    const struct group_side *own = &sides->sides[index], *other = &sides->sides[!index];
    const struct side_play *play = player->sides[recorded->rows];
    enum collective_shape shape = (enum collective_shape)graph_collective_of(graph, recorded).shape;
    if (shape == SHAPE_ONE_TO_ALL) {
        if (recorded->root_lane == GRAPH_NONE || graph_side_of(graph, recorded, recorded->root_lane) == index)
            return true;
        dependency->recorded_ns = graph_call(graph, recorded->root_lane, recorded->root_call).enter_ns;
        dependency->replayed_ns = player->groups[recorded - graph->groups].root_ns;
        return dependency->replayed_ns != NOT_YET;
    }
    if (other->latest_lane == GRAPH_NONE || (shape == SHAPE_ALL_TO_ONE && recorded->root_lane != lane))
        return true;
    dependency->recorded_ns = other->latest_enter_ns;
    dependency->replayed_ns = play[!index].latest_ns;
    bool both = shape == SHAPE_ALL_TO_ALL && !graph_side_is_enough(sides, call);
    if (both && own->latest_enter_ns > other->latest_enter_ns)
        dependency->recorded_ns = own->latest_enter_ns;
    if (both && play[index].latest_ns > dependency->replayed_ns)
        dependency->replayed_ns = play[index].latest_ns;
    return play[!index].arrived == other->givers && (!both || play[index].arrived == own->givers);
}

/* What `call` waits for in a collective in which the lane takes part with its call `index`. False: that is not known
   yet. */
static bool depend_on_group(const struct player *player, uint32_t lane, uint32_t index, uint32_t index_of_group,
                            const struct call *call, struct dependency *dependency)
{
    const struct graph *graph = player->graph;
    const struct group *recorded = &graph->groups[index_of_group];
    struct group_play *group = &player->groups[index_of_group];
    struct collective collective = graph_collective_of(graph, recorded);
    if (!recorded->complete || recorded->latest_lane == GRAPH_NONE)
        return true;
    dependency->kind = (enum wait_kind)collective.wait;
    dependency->list = &group->waiting;
    if (graph->streams[recorded->stream].sided)
        return depend_on_other_group(player, lane, recorded, call, dependency);
    switch ((enum collective_shape)collective.shape) {
    case SHAPE_ALL_TO_ONE: /* The data of the last must be there, though only the time until the first is a wait. */
        if (recorded->root_lane != lane)
            return true;
        /* fall through */
    case SHAPE_ALL_TO_ALL:
        dependency->recorded_ns = recorded->latest_enter_ns;
        dependency->replayed_ns = group->latest_ns;
        return group->arrived == recorded->givers;
    case SHAPE_ONE_TO_ALL:
        if (recorded->root_lane == GRAPH_NONE || recorded->root_lane == lane)
            return true;
        dependency->recorded_ns = graph_call(graph, recorded->root_lane, recorded->root_call).enter_ns;
        dependency->replayed_ns = group->root_ns;
        return group->root_ns != NOT_YET;
    case SHAPE_PREFIX: {
        const uint64_t *place = map_find(&graph->prefix_places, map_pair(lane, index));
        const struct prefix *prefix = place ? &graph->prefixes[*place] : NULL;
        if (prefix && prefix->latest_lane != GRAPH_NONE) {
            dependency->recorded_ns = graph_call(graph, prefix->latest_lane, prefix->latest_call).enter_ns;
            dependency->replayed_ns = player->prefix_ns[*place];
        }
        return !place || group->prefix > *place - recorded->rows;
    }
    case SHAPE_NEIGHBOURS:
        return depend_on_neighbours(player, lane, index_of_group, dependency);
    default:
        return true;
    }
}

static int64_t wait_in(struct player *player, uint32_t lane, uint32_t *list)
{
    struct lane_play *where = &player->lanes[lane];
    if (where->waiting_in == list)
        return NOT_YET;
    leave_list(player, lane);
    where->waiting_in = list;
    where->previous_waiting = 0;
    where->next_waiting = *list;
    if (*list)
        player->lanes[*list - 1].previous_waiting = lane + 1;
    *list = lane + 1;
    return NOT_YET;
}

/* When the call ends; NOT_YET with the lane put to wait for who must come first. */
static int64_t end_in_group(struct player *player, uint32_t lane, const struct call *call)
{
    struct dependency dependency = {.recorded_ns = call->enter_ns, .replayed_ns = player->lanes[lane].now_ns};
    bool waits = graph_collective(player->graph, call).stage == STAGE_BLOCKING && !call->gets_nothing;
    if (waits && !depend_on_group(player, lane, player->lanes[lane].at, call->group - 1, call, &dependency))
        return wait_in(player, lane, dependency.list);
    return end_after(player, call, player->lanes[lane].now_ns, &dependency,
                     wait_for_this(call, dependency.recorded_ns));
}

/* The same for the collectives that the call completes; `end_ns` is what is known of the end so far. */
static int64_t end_of_operations(struct player *player, uint32_t lane, const struct call *call, int64_t wait_ns,
                                 int64_t end_ns)
{
    const struct graph *graph = player->graph;
    uint32_t index = player->lanes[lane].at;
    for (size_t i = graph_operations(graph, lane, index); i < graph->operation_count; i++) {
        const struct operation *operation = &graph->operations[i];
        struct dependency dependency = {.recorded_ns = call->enter_ns, .replayed_ns = player->lanes[lane].now_ns};
        if (!graph_completes(operation, lane, index))
            break;
        if (operation->gets_nothing)
            continue;
        if (!depend_on_group(player, operation->lane, operation->call, operation->group, call, &dependency))
            return wait_in(player, lane, dependency.list);
        int64_t ns = end_after(player, call, player->lanes[lane].now_ns, &dependency, wait_ns);
        end_ns = ns > end_ns ? ns : end_ns;
    }
    return end_ns;
}

/* The same for what the call waits for on its window. */
static int64_t end_of_edges(struct player *player, uint32_t lane, const struct call *call, int64_t wait_ns,
                            int64_t end_ns)
{
    const struct graph *graph = player->graph;
    uint32_t index = player->lanes[lane].at;
    for (size_t i = window_edges_of(graph, lane, index); i < graph->edge_count; i++) {
        const struct window_edge *edge = &graph->edges[i];
        if (edge->lane != lane || edge->call != index)
            break;
        if (player->edges[i].ns == NOT_YET) {
            player->edges[i].waits = true;
            return NOT_YET;
        }
        struct dependency dependency = {.recorded_ns = window_edge_until_ns(graph, edge),
                                        .replayed_ns = player->edges[i].ns,
                                        .kind = (enum wait_kind)edge->kind};
        int64_t ns = end_after(player, call, player->lanes[lane].now_ns, &dependency, wait_ns);
        end_ns = ns > end_ns ? ns : end_ns;
    }
    return end_ns;
}

/* How long the lane's next call need not wait. */
static int64_t queued_ns(struct player *player, uint32_t lane)
{
    const struct queues *queues = player->options.queues;
    if (!queues)
        return 0;
    size_t *at = &player->queue_at[lane];
    uint32_t call = player->lanes[lane].at;
    while (*at < queues->count && queues->queued[*at].lane == lane && queues->queued[*at].call < call)
        ++*at;
    bool met = *at < queues->count && queues->queued[*at].lane == lane && queues->queued[*at].call == call;
    return met ? queues->queued[*at].ns : 0;
}

static int64_t wait_for_message(struct player *player, uint32_t lane, uint32_t message)
{
    player->lanes[lane].message = message + 1;
    return NOT_YET;
}

/* The same for messages that arrive. A receive of one message waits for that; of others the longest wait counts. */
static int64_t end_of_receives(struct player *player, uint32_t lane, const struct call *call, int64_t longest_ns)
{
    const struct graph *graph = player->graph;
    int64_t end_ns = NOT_YET, sooner_ns = queued_ns(player, lane);
    bool single =
        !call->sent && !call->completed && !call->operates && !graph->messages[call->received - 1].next_received;
    struct message m;
    for (uint32_t at = call->received; at; at = m.next_received) {
        m = graph_message(graph, at - 1);
        if (m.send_lane == GRAPH_NONE || m.send_lane == lane)
            continue;
        if (!has_entered(player, m.send_lane, m.send_call))
            return wait_for_message(player, lane, at - 1);
        struct dependency dependency = {.recorded_ns = graph_call(graph, m.send_lane, m.send_call).enter_ns,
                                        .replayed_ns = player->message_ns[at - 1] - sooner_ns,
                                        .kind = wait_for_message_kind(call),
                                        .free = is_free_channel(player, m.channel)};
        int64_t wait_ns = single ? wait_for_this(call, dependency.recorded_ns) : longest_ns;
        int64_t ns = end_after(player, call, player->lanes[lane].now_ns, &dependency, wait_ns);
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
    int64_t wait_ns;   /* its longest wait in the record */
    int64_t sooner_ns; /* so much of it need not be */
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
                                    .replayed_ns = replayed_ns - ending->sooner_ns,
                                    .kind = WAIT_LATE_RECEIVER,
                                    .free = is_free_channel(player, m.channel)};
    int64_t ns = end_after(player, call, player->lanes[lane].now_ns, &dependency, ending->wait_ns);
    ending->end_ns = ns > ending->end_ns ? ns : ending->end_ns;
    return true;
}

/* The same for messages that the call sends, and whose sends it completes, where it waited for a receiver. */
static int64_t end_of_sends(struct player *player, uint32_t lane, const struct call *call, int64_t wait_ns,
                            int64_t end_ns)
{
    const struct graph *graph = player->graph;
    struct ending ending = {wait_ns, queued_ns(player, lane), end_ns};
    for (uint32_t at = call->sent; at; at = graph->messages[at - 1].next_sent)
        if (!graph_completes_later(graph, at - 1) && !depend_on_receiver(player, lane, call, at - 1, &ending))
            return NOT_YET;
    for (uint32_t at = call->completed; at; at = graph_next_completed(graph, at - 1))
        if (!depend_on_receiver(player, lane, call, at - 1, &ending))
            return NOT_YET;
    return ending.end_ns;
}

static int64_t end_with_messages(struct player *player, uint32_t lane, const struct call *call)
{
    const struct graph *graph = player->graph;
    const struct lane_play *where = &player->lanes[lane];
    struct dependency none = {.recorded_ns = call->enter_ns, .replayed_ns = where->now_ns};
    int64_t end_ns = NOT_YET, wait_ns = wait_ns_in(graph, lane, where->at);
    if (call->received && (end_ns = end_of_receives(player, lane, call, wait_ns)) == NOT_YET && where->message)
        return NOT_YET;
    bool sends = call->sent || call->completed;
    if (sends && wait_kind_in(graph, lane, where->at) == WAIT_LATE_RECEIVER &&
        (end_ns = end_of_sends(player, lane, call, wait_ns, end_ns)) == NOT_YET)
        return NOT_YET;
    if (end_ns == NOT_YET)
        end_ns = end_after(player, call, where->now_ns, &none, wait_ns);
    if (call->operates && graph_state(graph, call)->class == CLASS_RMA)
        return end_of_edges(player, lane, call, wait_ns, end_ns);
    return call->operates ? end_of_operations(player, lane, call, wait_ns, end_ns) : end_ns;
}

/* Senders that are still to go on ask when their receive was entered. */
static void receive_messages(struct player *player, uint32_t index, const struct call *call, int64_t entered_ns)
{
    const struct graph *graph = player->graph;
    for (uint32_t m = call->received; m; m = graph->messages[m - 1].next_received) {
        const struct packed_message *message = &graph->messages[m - 1];
        if (message->receive_call == index && message->send_call != GRAPH_NONE &&
            player->lanes[graph->channels[message->channel].send_lane].at <= message->send_call)
            player->message_ns[m - 1] = entered_ns;
    }
}

static void end_call(struct player *player, uint32_t lane, const struct call *call, int64_t end_ns)
{
    struct lane_play *where = &player->lanes[lane];
    receive_messages(player, where->at, call, where->now_ns);
    where->now_ns = end_ns;
    where->entered = false;
    if (call->operates)
        pass_edges(player, lane, where->at, true);
    where->at++;
}

/* Plays a lane until it must wait or is done. */
static void play(struct player *player, uint32_t lane)
{
    const struct lane_play *where = &player->lanes[lane];
    while (where->at < player->graph->lanes[lane].count) {
        struct call call = graph_call(player->graph, lane, where->at);
        if (!where->entered)
            enter(player, lane, &call);
        if (player->options.free_waits >> WAIT_CAUSED_COUNT) {
            struct wait completion = wait_completion_of(player->graph, lane, where->at);
            call.leave_ns -= is_free(player, completion.kind) ? completion.ns : 0;
        }
        int64_t end_ns = is_free_call(player, &call) ? where->now_ns
                         : call.group                ? end_in_group(player, lane, &call)
                                                     : end_with_messages(player, lane, &call);
        if (end_ns == NOT_YET)
            return;
        end_call(player, lane, &call, end_ns);
    }
}

/* Nothing can go on: a partner that a damaged trace does not have, or a circle. The call that was entered first in the
   record goes on alone. False if all lanes are done. */
static bool force(struct player *player)
{
    const struct graph *graph = player->graph;
    uint32_t first = GRAPH_NONE;
    int64_t first_ns = INT64_MAX;
    for (uint32_t lane = 0; lane < graph->lane_count; lane++) {
        const struct lane *where = &graph->lanes[lane];
        uint32_t at = player->lanes[lane].at;
        if (at < where->count && where->calls[at].enter_ns < first_ns) {
            first = lane;
            first_ns = where->calls[at].enter_ns;
        }
    }
    if (first == GRAPH_NONE)
        return false;
    struct lane_play *where = &player->lanes[first];
    struct call call = graph_call(graph, first, where->at);
    struct dependency none = {.recorded_ns = call.enter_ns, .replayed_ns = where->now_ns};
    leave_list(player, first);
    where->message = 0;
    end_call(player, first, &call, end_after(player, &call, where->now_ns, &none, 0));
    player->forced++;
    make_ready(player, first);
    return true;
}

static void player_begin(struct player *player, const struct graph *graph, struct replay_options options)
{
    size_t lanes = graph->lane_count;
    *player = (struct player){.graph = graph, .options = options, .begin_ns = replay_begin_ns(graph)};
    player->lanes = memory_new(lanes * sizeof *player->lanes);
    player->ready = memory_new(lanes * sizeof *player->ready);
    player->message_ns = memory_new(graph->message_count * sizeof *player->message_ns);
    player->posted_ns = memory_new(graph->link_count * sizeof *player->posted_ns);
    for (size_t i = 0; i < graph->link_count; i++)
        player->posted_ns[i] = NOT_YET;
    player->groups = memory_new(graph->group_count * sizeof *player->groups);
    for (size_t i = 0; i < graph->group_count; i++)
        player->groups[i] = (struct group_play){NOT_YET, NOT_YET, NOT_YET, 0, 0, 0};
    player->prefix_ns = memory_new(graph->prefix_count * sizeof *player->prefix_ns);
    for (size_t i = 0; i < graph->prefix_count; i++)
        player->prefix_ns[i] = NOT_YET;
    player->sides = memory_new(graph->side_count * sizeof *player->sides);
    for (size_t i = 0; i < graph->side_count; i++)
        player->sides[i][0] = player->sides[i][1] = (struct side_play){NOT_YET, 0};
    player->neighbours = memory_new(graph->neighbour_count * sizeof *player->neighbours);
    for (size_t i = 0; i < graph->neighbour_count; i++)
        player->neighbours[i].enter_ns = NOT_YET;
    player->edges = memory_new(graph->edge_count * sizeof *player->edges);
    for (size_t i = 0; i < graph->edge_count; i++)
        player->edges[i].ns = NOT_YET;
    if (options.queues)
        player->queue_at = queues_by_lane(options.queues, lanes);
    for (uint32_t lane = 0; lane < lanes; lane++) {
        player->lanes[lane].now_ns = time_since(player->begin_ns, graph->lanes[lane].begin_ns);
        make_ready(player, lane);
    }
}

static void player_clear(struct player *player)
{
    free(player->lanes);
    free(player->ready);
    free(player->message_ns);
    free(player->posted_ns);
    free(player->sides);
    free(player->neighbours);
    free(player->edges);
    free(player->groups);
    free(player->prefix_ns);
    free(player->queue_at);
}

/* From the end of its last call to its last event a lane computes. */
static int64_t lane_end(const struct player *player, uint32_t lane)
{
    const struct lane *where = &player->graph->lanes[lane];
    int64_t last_ns =
        where->count ? graph_call(player->graph, lane, (uint32_t)where->count - 1).leave_ns : where->begin_ns;
    return player->lanes[lane].now_ns + computing(player, lane, last_ns, where->end_ns);
}

struct replay replay_run(const struct graph *graph, struct replay_options options)
{
    struct player player;
    struct replay replay = {0};
    player_begin(&player, graph, options);
    do {
        while (player.ready_count > 0) {
            uint32_t lane = player.ready[--player.ready_count];
            player.lanes[lane].is_ready = false;
            play(&player, lane);
        }
    } while (force(&player));
    for (uint32_t lane = 0; lane < graph->lane_count; lane++) {
        int64_t end_ns = lane_end(&player, lane);
        replay.end_ns = end_ns > replay.end_ns ? end_ns : replay.end_ns;
    }
    replay.forced = player.forced;
    player_clear(&player);
    return replay;
}
