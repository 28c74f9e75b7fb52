/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/graph_waits.h"

#include "core/numbers.h"
#include "stuck/graph_nodes.h"
#include "stuck/stuck_messages.h"
#include "stuck/stuck_place.h"

#include <string.h>

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
    /* Nothing is known about its sender: the call may return. */
    if (partner == PARTNER_NONE || partner == EVENT_UNKNOWN) {
        waiting->satisfied = true;
        return;
    }
    /* The message is there: it would do, unless the call has to wait for others besides. */
    if (messages_take(graph->state, waiting->place->process, item)) {
        waiting->satisfied |= !graph->state->settled || (item->pending.how & PENDING_ANY);
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
        (!is_held && messages_wanted(graph->state, sender, (uint32_t)partner, comm, tag)))
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

void graph_add_waits(struct stuck_graph *graph, uint32_t index)
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
