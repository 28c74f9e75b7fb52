/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/stuck_graph.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <stdlib.h>
#include <string.h>

/* Fewer failed tests may be a program that looks once in a while between computing. */
enum { POLLS_MIN = 20 };

/* MPI_Parrived completes no request, even when it succeeds: only what the process last tested shows that it failed. */
static bool tests_anything(const struct stuck_state *state, const struct place *place)
{
    if (strcmp(state_name(state, place->state), "MPI_Parrived") != 0)
        return true;
    for (size_t i = 0; i < place->item_count; i++)
        if (place->items[i].pending.how & PENDING_TESTED)
            return true;
    return false;
}

bool place_polls(const struct stuck_state *state, const struct place *place)
{
    if (place->state == UINT32_MAX || !state_is_test(state, place->state))
        return false;
    return place->depth > 0 || (place->polls >= POLLS_MIN && tests_anything(state, place));
}

bool place_is_gone(const struct stuck_state *state, const struct place *place)
{
    if (place->finalized || place_has_ended(place))
        return true;
    /* In a trace that records how places ended, one without such a mark and outside MPI is a thread that has ended. */
    return state->has_ending && !place->has_ending && place->depth == 0;
}

const struct place *place_joins(const struct stuck_state *state, const struct place *place)
{
    for (size_t i = 0; place->depth == 0 && i < place->item_count; i++) {
        const struct pending *pending = &place->items[i].pending;
        const uint64_t *index = NULL;
        if (pending->what == PENDING_THREAD && pending->tag >= 0)
            index = map_find(&state->place_of, map_pair(place->process, (uint32_t)pending->tag));
        if (index && &state->places[*index] != place && !place_is_gone(state, &state->places[*index]))
            return &state->places[*index];
    }
    return NULL;
}

static uint32_t node_new(struct stuck_graph *graph, struct node node)
{
    ARRAY_PUSH(graph->nodes, graph->node_count, graph->node_capacity, node);
    return (uint32_t)graph->node_count - 1;
}

static void edge_add(struct stuck_graph *graph, uint32_t from, uint32_t to, enum edge_kind kind, size_t item)
{
    struct edge edge = {.from = from, .to = to, .kind = (uint8_t)kind, .item = (uint32_t)item};
    ARRAY_PUSH(graph->edges, graph->edge_count, graph->edge_capacity, edge);
}

static uint32_t process_node(const struct stuck_graph *graph, uint32_t process)
{
    return (uint32_t)graph->state->place_count + process;
}

static bool is_member(const struct stuck_graph *graph, int32_t comm, uint32_t process)
{
    const struct defs *defs = graph->state->defs;
    if (comm < 0 || (size_t)comm >= defs->comm_count)
        return comm == 0; /* none has been recorded yet */
    const uint64_t *other = map_find(&graph->state->other_side, (uint64_t)comm);
    return defs_comm_rank(defs, comm, process) >= 0 || (other && defs_comm_rank(defs, (int32_t)*other, process) >= 0);
}

/* Anybody of a communicator. */
static uint32_t anybody_node(struct stuck_graph *graph, int32_t comm)
{
    comm = state_comm(graph->state, comm);
    uint64_t *known = map_put(&graph->anybody, (uint64_t)(uint32_t)comm, UINT64_MAX);
    if (*known != UINT64_MAX)
        return (uint32_t)*known;
    /* Filled in only when needed: a node with all processes as edges for each communicator is linear, one for each
       receive would not be. */
    uint32_t node = node_new(graph, (struct node){.kind = NODE_ANYBODY, .any = true, .comm = comm});
    *known = node;
    for (uint32_t i = 0; i < graph->processes; i++)
        if (is_member(graph, comm, i))
            edge_add(graph, node, process_node(graph, i), EDGE_PART, 0);
    return node;
}

/* True if a thread of the process has entered the instance, and MPI has called a function of the program in it, which
   calls MPI: the collective cannot go on before that returns. */
static bool is_in_callback(const struct stuck_graph *graph, const struct node *instance, uint32_t process)
{
    const struct stuck_state *state = graph->state;
    const uint64_t *index;
    for (uint32_t thread = 0;
         state->interrupted && (index = map_find(&state->place_of, map_pair(process, thread))) != NULL; thread++)
        for (size_t i = 0; i < state->places[*index].outer_count; i++) {
            const struct place *outer = &state->places[*index].outer[i];
            if (outer->ordinal == instance->ordinal && state_comm(state, outer->comm) == instance->comm)
                return true;
        }
    return false;
}

/* The same of a persistent collective, which a member may also have prepared and not started so often. */
static enum edge_kind lacks_start(const struct stuck_graph *graph, const struct node *instance, uint32_t process)
{
    const struct prepared *prepared = state_prepared(graph->state, instance->comm, process, instance->ordinal);
    if (prepared && prepared->state != instance->state)
        return EDGE_MISMATCH;
    return prepared && prepared->starts >= instance->starts ? EDGE_NONE : EDGE_COLLECTIVE;
}

/* A member of the communicator has not entered the instance, was in another function then, or is in a callback of it;
   else EDGE_NONE. */
static enum edge_kind lacks(const struct stuck_graph *graph, const struct node *instance, uint32_t process)
{
    if (!is_member(graph, instance->comm, process))
        return EDGE_NONE;
    if (instance->starts)
        return lacks_start(graph, instance, process);
    const struct member *member = state_member(graph->state, instance->comm, process);
    if (!member || member->count < instance->ordinal)
        return EDGE_COLLECTIVE;
    /* Older functions are overwritten (COLLECTIVES_KEPT): unknown is no mismatch. */
    bool known = instance->ordinal + COLLECTIVES_KEPT > member->count;
    uint32_t there = member->states[instance->ordinal % COLLECTIVES_KEPT];
    if (known && there != UINT32_MAX && there != instance->state)
        return EDGE_MISMATCH;
    return is_in_callback(graph, instance, process) ? EDGE_PART : EDGE_NONE;
}

/* The node of an instance of these numbers, UINT64_MAX if it is new. */
static uint64_t *known_instance(struct stuck_graph *graph, const struct node *instance)
{
    /* Four numbers, of which a key holds two. Of one stream only a few of the last instances are waited for: their
       ordinals differ in 32 bits. */
    uint64_t *stream =
        map_put(&graph->streams, map_pair((uint32_t)instance->comm, instance->state), graph->stream_count);
    graph->stream_count += *stream == graph->stream_count;
    uint64_t key = map_pair((uint32_t)*stream, (uint32_t)instance->ordinal);
    if (instance->starts) {
        uint64_t *of_starts = map_put(&graph->persistent, key, graph->stream_count);
        graph->stream_count += *of_starts == graph->stream_count;
        key = map_pair((uint32_t)*of_starts, (uint32_t)instance->starts);
    }
    return map_put(&graph->instances, key, UINT64_MAX);
}

/* The n-th collective of a communicator, as seen by the processes in this function, or this start of its n-th
   persistent one. In collectives that do not wait for all, one arrival may be enough. */
static uint32_t instance_node(struct stuck_graph *graph, int32_t comm, uint32_t function, uint64_t ordinal,
                              uint64_t starts)
{
    comm = state_comm(graph->state, comm);
    uint32_t first = graph->state->defs->states[function].first_of_name;
    bool all =
        function < graph->state->collective_count && graph->state->collectives[function].shape == SHAPE_ALL_TO_ALL;
    struct node instance = {
        .kind = NODE_INSTANCE, .any = !all, .comm = comm, .state = first, .ordinal = ordinal, .starts = starts};
    uint64_t *known = known_instance(graph, &instance);
    if (*known != UINT64_MAX)
        return (uint32_t)*known;
    uint32_t node = node_new(graph, instance);
    size_t before = graph->edge_count;
    *known = node;
    for (uint32_t i = 0; i < graph->processes; i++) {
        enum edge_kind kind = lacks(graph, &instance, i);
        if (kind != EDGE_NONE)
            edge_add(graph, node, process_node(graph, i), kind, 0);
    }
    if (graph->edge_count == before)
        graph->nodes[node].any = false; /* all have arrived: it continues */
    return node;
}

/* The processes of a range that lack the team's n-th call. */
static void add_team_range(struct stuck_graph *graph, uint32_t node, const struct group_range *range)
{
    const struct node team = graph->nodes[node];
    for (int64_t rank = range->first; range->step > 0 ? rank <= range->last : rank >= range->last;
         rank += range->step) {
        int32_t process = rank < 0 ? EVENT_UNKNOWN : defs_world_rank(graph->state->defs, team.comm, (int32_t)rank);
        if (process < 0 || (uint32_t)process >= graph->processes || range->step == 0)
            return;
        if (state_team_met(graph->state, team.team, (uint32_t)process) < team.ordinal)
            edge_add(graph, node, process_node(graph, (uint32_t)process), EDGE_COLLECTIVE, 0);
    }
}

/* The n-th call of a team that makes a communicator of its own. */
static uint32_t team_node(struct stuck_graph *graph, const struct place *place)
{
    struct node instance = {.kind = NODE_INSTANCE,
                            .comm = place->comm,
                            .state = graph->state->defs->states[place->state].first_of_name,
                            .team = place->team,
                            .ordinal = place->ordinal};
    uint64_t *known = map_put(&graph->teams, map_pair(place->team, (uint32_t)place->ordinal), UINT64_MAX);
    if (*known != UINT64_MAX)
        return (uint32_t)*known;
    uint32_t node = node_new(graph, instance);
    *known = node;
    for (uint32_t at = graph->state->teams[place->team - 1].group; at; at = graph->state->ranges[at - 1].next)
        add_team_range(graph, node, &graph->state->ranges[at - 1]);
    return node;
}

static bool tag_fits(int32_t wanted, int32_t tag)
{
    return wanted == PENDING_ANYBODY || wanted == EVENT_UNKNOWN || wanted == tag;
}

/* Takes a message in transit that matches a receive. */
static bool take_message(struct stuck_state *state, uint32_t receiver, const struct item *item)
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

/* True if the receiver has a receive for it: the message is in transit. */
static bool is_taken(const struct stuck_state *state, uint32_t sender, uint32_t receiver, int32_t comm, int32_t tag)
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

/* While edges are added to a place: whether an unknown edge may be missing. */
struct waiting {
    struct stuck_graph *graph;
    struct place *place;
    uint32_t node;
    bool receives; /* it waits for messages or collectives: then its sends may have been buffered */
    bool satisfied;
};

static bool is_process(const struct stuck_graph *graph, int32_t rank)
{
    return rank >= 0 && (uint32_t)rank < graph->processes;
}

static void add_receive(struct waiting *waiting, const struct item *item, size_t number)
{
    struct stuck_graph *graph = waiting->graph;
    int32_t partner = item->pending.partner;
    /* The message is there, or nothing is known about its sender: the call may return. */
    if (partner == PARTNER_NONE || partner == EVENT_UNKNOWN ||
        take_message(graph->state, waiting->place->process, item)) {
        waiting->satisfied = true;
        return;
    }
    waiting->receives = true;
    if (partner == PENDING_ANYBODY)
        edge_add(graph, waiting->node, anybody_node(graph, item->comm), EDGE_RECEIVE, number);
    else if (is_process(graph, partner))
        edge_add(graph, waiting->node, process_node(graph, (uint32_t)partner), EDGE_RECEIVE, number);
    else
        waiting->satisfied = true;
}

/* Never buffered (MPI-4.0, 3.4). */
static bool is_synchronous(const struct place *place, const struct stuck_state *state)
{
    return strcmp(state_name(state, place->state), "MPI_Ssend") == 0;
}

static void add_send(struct waiting *waiting, int32_t partner, int32_t comm, int32_t tag, size_t number)
{
    struct stuck_graph *graph = waiting->graph;
    uint32_t sender = waiting->place->process;
    const struct channel_balance *channel = NULL;
    if (is_process(graph, partner))
        channel = state_channel(graph->state, sender, (uint32_t)partner, comm, tag);
    bool is_received = channel && channel->left <= 0;
    /* One that a probe has taken is not in transit, though a receive like it is open. */
    bool is_held = channel && channel->left <= channel->taken;
    /* Who was seen only at one moment may have been about to have the message buffered. */
    bool brief = !graph->state->end_known && graph->state->has_ending && !is_synchronous(waiting->place, graph->state);
    if (!is_process(graph, partner) || is_received || brief ||
        (!is_held && is_taken(graph->state, sender, (uint32_t)partner, comm, tag)))
        waiting->satisfied = true;
    else
        edge_add(graph, waiting->node, process_node(graph, (uint32_t)partner), EDGE_SEND, number);
}

static void add_collective(struct waiting *waiting, const struct item *item, size_t number)
{
    struct stuck_graph *graph = waiting->graph;
    const struct posted *posted = state_posted(graph->state, waiting->place->process, item->pending.request);
    /* A request that the trace does not know: it may complete. */
    if (!posted || !posted->ordinal) {
        waiting->satisfied = true;
        return;
    }
    uint64_t starts = 0;
    if (posted->persistent) {
        const struct prepared *prepared =
            state_prepared(graph->state, posted->comm, waiting->place->process, posted->ordinal);
        /* Not all starts are recorded: who lacks one is not known. */
        if (!prepared || prepared->starts == 0 || graph->state->sampled) {
            waiting->satisfied = true;
            return;
        }
        starts = prepared->starts;
    }
    waiting->receives = true;
    edge_add(graph, waiting->node, instance_node(graph, posted->comm, posted->state, posted->ordinal, starts),
             EDGE_PART, number);
}

/* Only its own process makes partitions ready: the thread that waits for them cannot. */
static void add_ready(struct waiting *waiting, const struct item *item, size_t number)
{
    struct stuck_graph *graph = waiting->graph;
    /* A process that only tests may do so until it marks the parts itself, and so may threads that have not called MPI
       yet. */
    if (!(item->pending.how & PENDING_WAITED) || (item->pending.how & PENDING_THREADS)) {
        waiting->satisfied = true;
        graph->nodes[waiting->node].live = true;
        return;
    }
    waiting->receives = true;
    edge_add(graph, waiting->node, process_node(graph, waiting->place->process), EDGE_READY, number);
}

/* Items waited for or tested: receives first, since sends together with them may be buffered and complete. */
static void add_items(struct waiting *waiting)
{
    struct place *place = waiting->place;
    bool any = false;
    for (size_t i = 0; i < place->item_count; i++) {
        const struct item *item = &place->items[i];
        /* Requests that are merely active do not hold the process: it does not wait for them. */
        if (!(item->pending.how & (PENDING_WAITED | PENDING_TESTED)))
            continue;
        any |= (item->pending.how & PENDING_ANY) != 0;
        if (item->pending.what == PENDING_RECEIVE || item->pending.what == PENDING_PROBE)
            add_receive(waiting, item, i + 1);
        else if (item->pending.what == PENDING_COLLECTIVE)
            add_collective(waiting, item, i + 1);
        else if (item_lacks_parts(item))
            add_ready(waiting, item, i + 1);
        else if (item->pending.what == PENDING_UNKNOWN)
            waiting->satisfied |= any;
    }
    /* A send with receives beside it may have been buffered: only the receives are certain to block. */
    bool only_sends = !waiting->receives;
    for (size_t i = 0; i < place->item_count; i++) {
        const struct item *item = &place->items[i];
        if (item->pending.what == PENDING_SEND && !item_lacks_parts(item) &&
            (item->pending.how & (PENDING_WAITED | PENDING_TESTED)) && (only_sends || any))
            add_send(waiting, item->pending.partner, item->comm, item->pending.tag, i + 1);
    }
    struct node *node = &waiting->graph->nodes[waiting->node];
    /* Sends may be buffered: only if none of them can be received, the call certainly hangs. */
    node->any = any || only_sends;
    if (node->any && waiting->satisfied)
        node->live = true;
}

/* The process that holds a conflicting lock. A call that already has its own, which MPI may only have asked
   for, waits for those who took theirs before. */
static void add_locks(struct waiting *waiting)
{
    struct stuck_graph *graph = waiting->graph;
    const struct stuck_state *state = graph->state;
    const struct place *place = waiting->place;
    /* No own lock: any holder is in the way. */
    int64_t since_ns = INT64_MAX;
    bool exclusive = place->step > 0 && place->lock == WINDOW_EXCLUSIVE;
    for (size_t i = 0; i < state->lock_count; i++)
        if (state->locks[i].process == place->process && state->locks[i].comm == place->comm &&
            (place->step == 0 || state->locks[i].target == place->first)) {
            since_ns = state->locks[i].since_ns;
            exclusive |= state->locks[i].lock == WINDOW_EXCLUSIVE;
        }
    for (size_t i = 0; i < state->lock_count; i++) {
        const struct held_lock *lock = &state->locks[i];
        /* Two shared locks do not conflict. */
        bool conflict = lock->lock == WINDOW_EXCLUSIVE || (exclusive && lock->lock == WINDOW_SHARED);
        if (lock->process != place->process && lock->comm == place->comm && conflict && lock->since_ns < since_ns &&
            (place->step == 0 || lock->target == place->first) && is_process(graph, (int32_t)lock->process))
            edge_add(graph, waiting->node, process_node(graph, lock->process), EDGE_LOCK, 0);
    }
}

static uint64_t epochs(const struct stuck_state *state, const char *kind, int32_t comm, uint32_t process)
{
    const uint64_t *count = map_find(&state->epochs, epoch_key(kind, comm, process));
    return count ? *count : 0;
}

/* Edges to the ranks that have left `theirs` less often. */
static void add_range(struct waiting *waiting, const struct group_range *range, const char *theirs, uint64_t wanted)
{
    struct stuck_graph *graph = waiting->graph;
    int32_t comm = waiting->place->comm;
    /* In 64 bits, and no further than there are members: a damaged trace may name any numbers. */
    for (int64_t rank = range->first; range->step > 0 ? rank <= range->last : rank >= range->last;
         rank += range->step) {
        int32_t process = rank < 0 ? EVENT_UNKNOWN : defs_world_rank(graph->state->defs, comm, (int32_t)rank);
        if (!is_process(graph, process) || range->step == 0)
            return;
        if (epochs(graph->state, theirs, comm, (uint32_t)process) < wanted)
            edge_add(graph, waiting->node, process_node(graph, (uint32_t)process), EDGE_POST, 0);
    }
}

/* The group of an epoch: members that have not yet begun or ended theirs. */
static void add_group(struct waiting *waiting, const char *mine, const char *theirs)
{
    struct stuck_graph *graph = waiting->graph;
    const struct stuck_state *state = graph->state;
    const struct place *place = waiting->place;
    /* The group is recorded when the call that names it returns. While that waits it is not known: the call waits for
       at least one member of the window. The last group is that of an earlier epoch. */
    bool in_it = place->depth > 0 && strcmp(state_name(state, place->state), mine) == 0;
    if (in_it && place->step == 0) {
        edge_add(graph, waiting->node, anybody_node(graph, place->comm), EDGE_POST, 0);
        graph->nodes[waiting->node].any = true;
        return;
    }
    const uint64_t *group = map_find(&state->groups, epoch_key(mine, place->comm, place->process));
    if (!group)
        return;
    /* The n-th epoch of this process needs the n-th of each partner. */
    uint64_t wanted = epochs(state, mine, place->comm, place->process);
    for (uint64_t at = *group; at; at = state->ranges[at - 1].next)
        add_range(waiting, &state->ranges[at - 1], theirs, wanted);
}

static void add_window(struct waiting *waiting, const char *name)
{
    if (strcmp(name, "MPI_Win_start") == 0 || strcmp(name, "MPI_Win_complete") == 0)
        add_group(waiting, "MPI_Win_start", "MPI_Win_post");
    else if (strcmp(name, "MPI_Win_wait") == 0)
        add_group(waiting, "MPI_Win_post", "MPI_Win_complete");
    else
        add_locks(waiting);
}

/* What the open call of a place, or its tests, wait for. */
static void add_place(struct stuck_graph *graph, uint32_t index)
{
    struct place *place = &graph->state->places[index];
    struct waiting waiting = {.graph = graph, .place = place, .node = index};
    const struct state_def *def =
        place->state < graph->state->defs->state_count ? &graph->state->defs->states[place->state] : NULL;
    if (place_is_gone(graph->state, place)) {
        graph->nodes[index].any = true; /* of nothing: never live */
        return;
    }
    const struct place *joined = place_joins(graph->state, place);
    if (joined) {
        edge_add(graph, index, (uint32_t)(joined - graph->state->places), EDGE_THREAD, 0);
        return;
    }
    size_t before = graph->edge_count;
    bool polls = place_polls(graph->state, place);
    if (!def || (place->depth == 0 && !polls)) {
        graph->nodes[index].live = true;
        return;
    }
    /* States that appear while a trace without definitions is read are not collectives. */
    uint8_t stage =
        place->state < graph->state->collective_count ? graph->state->collectives[place->state].stage : STAGE_NONE;
    if (place->depth > 0 && place->ordinal && (stage == STAGE_BLOCKING || stage == STAGE_SPLIT))
        edge_add(graph, index, instance_node(graph, place->comm, place->state, place->ordinal, 0), EDGE_PART, 0);
    else if (place->depth > 0 && place->team)
        edge_add(graph, index, team_node(graph, place), EDGE_PART, 0);
    else if (def->class == CLASS_RMA)
        add_window(&waiting, def->name);
    else
        add_items(&waiting);
    /* A buffered send returns without its receive (MPI-4.0, 3.4). */
    bool buffered = strstr(def->name, "bsend") || strstr(def->name, "Bsend");
    if (place->depth > 0 && place->sends && def->class == CLASS_P2P && !waiting.receives && !buffered) {
        /* MPI_Sendrecv whose message is there waits for its send. */
        waiting.satisfied = false;
        add_send(&waiting, place->send_partner, place->send_comm, place->send_tag, 0);
        graph->nodes[index].live = waiting.satisfied;
    }
    /* Nothing is known that it waits for, or it has come already: it may go on. */
    if (graph->edge_count == before || place->received)
        graph->nodes[index].live = true;
}

/* Sorts edges by the node that they begin at, so that those of a node are contiguous. A counting sort: stable, and
   linear in the edges. */
static void sort_edges(struct stuck_graph *graph)
{
    struct edge *sorted = memory_new(graph->edge_count * sizeof *sorted);
    for (size_t i = 0; i < graph->edge_count; i++)
        graph->nodes[graph->edges[i].from].edge_count++;
    uint32_t first = 0;
    for (size_t i = 0; i < graph->node_count; i++) {
        graph->nodes[i].first_edge = first;
        first += graph->nodes[i].edge_count;
        graph->nodes[i].edge_count = 0;
    }
    for (size_t i = 0; i < graph->edge_count; i++) {
        struct node *node = &graph->nodes[graph->edges[i].from];
        sorted[node->first_edge + node->edge_count++] = graph->edges[i];
    }
    free(graph->edges);
    graph->edges = sorted;
}

/* Edges by the node that they lead to: `first` has one place more than there are nodes. */
static uint32_t *edges_back(const struct stuck_graph *graph, uint32_t *first)
{
    uint32_t *back = memory_new(graph->edge_count * sizeof *back);
    for (size_t i = 0; i < graph->edge_count; i++)
        first[graph->edges[i].to + 1]++;
    for (size_t i = 0; i < graph->node_count; i++)
        first[i + 1] += first[i];
    uint32_t *next = memory_new(graph->node_count * sizeof *next);
    memcpy(next, first, graph->node_count * sizeof *next);
    for (size_t i = 0; i < graph->edge_count; i++)
        back[next[graph->edges[i].to]++] = graph->edges[i].from;
    free(next);
    return back;
}

/* Starting with the live nodes, marks everything that becomes live. */
static void spread_life(struct stuck_graph *graph)
{
    uint32_t *first = memory_new((graph->node_count + 1) * sizeof *first);
    uint32_t *back = edges_back(graph, first);
    uint32_t *queue = memory_new(graph->node_count * sizeof *queue);
    size_t count = 0;
    for (size_t i = 0; i < graph->node_count; i++) {
        struct node *node = &graph->nodes[i];
        /* An AND node needs all of its edges live, an OR node one. */
        node->need = node->any ? 1 : node->edge_count;
        node->live |= node->need == 0;
        if (node->live)
            queue[count++] = (uint32_t)i;
    }
    /* The queue grows while it is walked: each node enters it once, when it becomes live, and each edge is looked at
       once. */
    for (size_t done = 0; done < count; done++)
        for (uint32_t i = first[queue[done]]; i < first[queue[done] + 1]; i++) {
            struct node *node = &graph->nodes[back[i]];
            if (node->live || --node->need > 0)
                continue;
            node->live = true;
            queue[count++] = back[i];
        }
    free(queue);
    free(back);
    free(first);
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

/* Messages in transit. */
static void count_messages(struct stuck_state *state)
{
    state->outstanding = memory_new(state->channel_count * sizeof *state->outstanding);
    for (size_t i = 0; i < state->channel_count; i++) {
        struct channel_balance *channel = &state->channels[i];
        channel->left = (int64_t)channel->sent - (int64_t)channel->received;
    }
    hold_messages(state);
    for (size_t i = 0; i < state->channel_count; i++)
        if (state->channels[i].left > 0)
            state->outstanding[state->outstanding_count++] = (uint32_t)i;
    if (state->outstanding_count > 0)
        qsort_r(state->outstanding, state->outstanding_count, sizeof *state->outstanding, compare_channels,
                state->channels);
}

static int compare_neighbours(const void *a, const void *b)
{
    const struct neighbour *left = a, *right = b;
    if (left->comm != right->comm)
        return order_by(left->comm, right->comm);
    if (left->process != right->process)
        return order_by(left->process, right->process);
    return order_by(left->rank, right->rank);
}

/* The place of this neighbour, or where it would be. */
static size_t neighbour_at(const struct stuck_state *state, const struct neighbour *wanted)
{
    size_t low = 0, high = state->neighbour_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_neighbours(&state->neighbours[middle], wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool state_neighbours(const struct stuck_state *state, int32_t comm, uint32_t process, int32_t rank, int ways)
{
    struct neighbour wanted = {.comm = comm, .process = process, .rank = rank};
    for (size_t i = neighbour_at(state, &wanted);
         i < state->neighbour_count && compare_neighbours(&state->neighbours[i], &wanted) == 0; i++)
        if (state->neighbours[i].way & ways)
            return true;
    return false;
}

bool state_has_neighbours(const struct stuck_state *state, int32_t comm, uint32_t process)
{
    return state_neighbours(state, comm, process, -1, NEIGHBOURS_BOTH);
}

/* The open call of a place that makes a communicator of a group: now all of the group's ranges are known. */
static void enter_team(struct stuck_state *state, struct place *place)
{
    place->team = 0;
    if (place->depth > 0 && state_traits(state, place->state) & TRAIT_TEAM)
        place->ordinal = state_team_enter(state, place);
}

void stuck_graph_make(struct stuck_graph *graph, struct stuck_state *state)
{
    *graph = (struct stuck_graph){.state = state, .processes = state->defs->processes};
    for (size_t i = 0; i < state->place_count; i++) {
        node_new(graph, (struct node){.kind = NODE_PLACE, .index = (uint32_t)i});
        if (state->places[i].process >= graph->processes)
            graph->processes = state->places[i].process + 1;
    }
    count_messages(state);
    if (state->neighbour_count > 0)
        qsort(state->neighbours, state->neighbour_count, sizeof *state->neighbours, compare_neighbours);
    for (uint32_t i = 0; i < graph->processes; i++)
        node_new(graph, (struct node){.kind = NODE_PROCESS, .any = true, .index = i, .live = true});
    for (uint32_t i = 0; i < state->place_count; i++) {
        uint32_t process = process_node(graph, state->places[i].process);
        graph->nodes[process].live = false; /* without events nothing is known about a process */
        edge_add(graph, process, i, EDGE_PART, 0);
        enter_team(state, &state->places[i]);
    }
    for (uint32_t i = 0; i < state->place_count; i++)
        add_place(graph, i);
    sort_edges(graph);
    spread_life(graph);
}

void stuck_graph_clear(struct stuck_graph *graph)
{
    free(graph->nodes);
    free(graph->edges);
    map_clear(&graph->streams);
    map_clear(&graph->persistent);
    map_clear(&graph->instances);
    map_clear(&graph->anybody);
    map_clear(&graph->teams);
}
