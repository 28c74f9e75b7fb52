/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/stuck_chain.h"

#include "core/memory.h"
#include "core/numbers.h"

/* True if a step along `via` to `next` explains more than the best one so far: a mismatch more than a mere absence, and
   a process that is still there more than one that has left, which waits for no one. */
static bool explains_more(const struct judging *judging, const struct step *best, const struct edge *via,
                          const struct place *next)
{
    if (!best->next)
        return true;
    if (via->kind == EDGE_MISMATCH && best->via->kind != EDGE_MISMATCH)
        return true;
    return judging_is_leaving(judging, best->next) && !judging_is_leaving(judging, next);
}

struct step step_from(const struct judging *judging, const struct place *place)
{
    const struct stuck_graph *graph = &judging->graph;
    const struct node *node = &graph->nodes[place - judging->state->places];
    struct step best = {.place = place};
    for (uint32_t i = 0; i < node->edge_count; i++) {
        const struct edge *edge = &graph->edges[node->first_edge + i], *ways = edge;
        const struct node *to = &graph->nodes[edge->to];
        uint32_t way_count = 1;
        if (edge->kind == EDGE_THREAD)
            continue;
        /* An instance or "anybody" stands for processes: the step goes on to each of them. */
        if (to->kind != NODE_PROCESS) {
            ways = &graph->edges[to->first_edge];
            way_count = to->edge_count;
        }
        for (uint32_t k = 0; k < way_count; k++) {
            const struct edge *via = &ways[k];
            const struct node *process = &graph->nodes[via->to];
            if (process->live)
                continue;
            const struct place *next = judging_place(judging, process->index);
            if (!next || next == place)
                continue;
            if (explains_more(judging, &best, via, next))
                best = (struct step){.place = place, .next = next, .edge = edge, .via = via};
        }
    }
    return best;
}

bool step_is_epoch(const struct step *step)
{
    return step->via->kind == EDGE_POST || step->edge->kind == EDGE_POST;
}

bool step_is_collective(const struct step *step)
{
    return step->via->kind == EDGE_COLLECTIVE || step->via->kind == EDGE_MISMATCH;
}

struct chain chain_from(const struct judging *judging, const struct place *place)
{
    struct chain chain = {0};
    struct map seen = {0};
    for (;;) {
        uint64_t *at = map_put(&seen, (uint64_t)(place - judging->state->places), UINT64_MAX);
        if (*at != UINT64_MAX) {
            chain.begin = (size_t)*at;
            break;
        }
        *at = chain.count;
        struct step step = step_from(judging, place);
        if (!step.next) {
            chain.begin = chain.count;
            break;
        }
        ARRAY_PUSH(chain.steps, chain.count, chain.capacity, step);
        place = step.next;
        if (judging_is_leaving(judging, place)) {
            chain.begin = chain.count;
            break;
        }
    }
    map_clear(&seen);
    return chain;
}

/* The last thing that a process did: each of its threads may be what others wait for. */
static int64_t process_progress(const struct judging *judging, uint32_t process)
{
    const struct node *node = graph_process(&judging->graph, process);
    int64_t progress_ns = INT64_MIN;
    for (uint32_t i = 0; i < node->edge_count; i++)
        progress_ns =
            larger(judging->state->places[judging->graph.edges[node->first_edge + i].to].progress_ns, progress_ns);
    return progress_ns;
}

static bool waits_for_any(const struct judging *judging, const struct step *step)
{
    const struct stuck_graph *graph = &judging->graph;
    const struct node *node = &graph->nodes[step->place - judging->state->places];
    return (node->any && node->edge_count > 1) || graph->nodes[step->edge->to].kind == NODE_ANYBODY;
}

int64_t chain_since(const struct judging *judging, const struct chain *chain)
{
    int64_t since_ns = INT64_MIN;
    size_t first = chain->begin < chain->count ? chain->begin : chain->count - 1;
    for (size_t i = first; i < chain->count; i++) {
        const struct step *step = &chain->steps[i];
        if (waits_for_any(judging, step))
            return INT64_MAX;
        since_ns = larger(step->place->progress_ns, since_ns);
        since_ns = larger(process_progress(judging, step->next->process), since_ns);
    }
    return since_ns;
}

const struct item *step_item(const struct step *step)
{
    bool receives = step->via->kind == EDGE_RECEIVE || step->edge->kind == EDGE_RECEIVE;
    if (!receives || step->edge->item == 0)
        return NULL;
    return &step->place->items[step->edge->item - 1];
}

/* True if a message of the channel was received by what an item receives. */
static bool was_received(const struct stuck_state *state, const struct channel_balance *channel, uint32_t receiver,
                         const struct item *item)
{
    const struct pending *pending = &item->pending;
    return channel->received > 0 && channel->receiver == receiver && channel->comm == state_comm(state, item->comm) &&
           (pending->tag < 0 || pending->tag == channel->tag) &&
           (pending->partner < 0 || (uint32_t)pending->partner == channel->sender);
}

bool step_had_messages(const struct judging *judging, const struct step *step)
{
    struct stuck_state *state = judging->state;
    const struct item *item = step_item(step);
    if (!item)
        return false;
    uint32_t receiver = step->place->process;
    /* Of any tag or any source: all channels must be looked through. */
    if (item->pending.partner < 0 || item->pending.tag < 0) {
        bool had = false;
        for (size_t i = 0; i < state->channel_count && !had; i++)
            had = was_received(state, &state->channels[i], receiver, item);
        return had;
    }
    const struct channel_balance *channel =
        state_channel(state, (uint32_t)item->pending.partner, receiver, item->comm, item->pending.tag);
    return channel && channel->received > 0;
}

bool step_has_siblings(const struct judging *judging, const struct step *step)
{
    const struct stuck_state *state = judging->state;
    const struct item *item = step_item(step);
    if (!item || item->pending.partner < 0 || item->pending.tag < 0)
        return false;
    for (size_t i = 0; i < state->channel_count; i++) {
        const struct channel_balance *channel = &state->channels[i];
        if (channel->sent > 0 && channel->sender == (uint32_t)item->pending.partner &&
            channel->tag == item->pending.tag && channel->comm == state_comm(state, item->comm))
            return true;
    }
    return false;
}

bool step_is_begun(const struct judging *judging, const struct step *step)
{
    const struct item *item = step_item(step);
    return item && state_unready(judging->state, step->next->process, step->place->process, item->comm,
                                 item->pending.tag) != NULL;
}

bool step_has_near_miss(const struct judging *judging, const struct step *step)
{
    const struct item *item = step_item(step);
    return item && say_near_misses(NULL, judging->state, step->place, item, true);
}
