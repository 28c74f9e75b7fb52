/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/judge_dead.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "stuck/judge_polling.h"
#include "stuck/stuck_chain_text.h"

static enum stuck_kind judge_missing(struct judging *judging, const struct step *step)
{
    if (say_former_mismatch(judging, step))
        return STUCK_MISMATCH;
    say_missing(judging, step);
    return STUCK_MISSING;
}

static enum stuck_kind judge_last_step(struct judging *judging, const struct step *step)
{
    if (step_is_collective(step))
        return judge_missing(judging, step);
    if (step_is_epoch(step) || step->via->kind == EDGE_LOCK) {
        say_epoch(judging, step);
        return STUCK_MISSING;
    }
    say_unmatched(judging, step);
    return STUCK_UNMATCHED;
}

static const struct step *step_after(const struct chain *chain, size_t index)
{
    return &chain->steps[index + 1 < chain->count ? index + 1 : chain->begin];
}

/* True if messages like the one that a step waits for arrived before, or one that nearly fits: it is missing. */
static bool lacks_message(const struct judging *judging, const struct step *step)
{
    return !step_is_collective(step) &&
           (step_had_messages(judging, step) || step_has_near_miss(judging, step) || step_is_begun(judging, step));
}

/* The step of a cycle whose message is missing: that of a sender which has gone on to a collective, also if it has sent
   such messages to others only. Other steps wait until their senders have got theirs. */
static const struct step *find_lacking(const struct judging *judging, const struct chain *chain)
{
    for (size_t i = chain->begin; i < chain->count; i++)
        if (step_is_collective(step_after(chain, i)) && !step_is_collective(&chain->steps[i]) &&
            (lacks_message(judging, &chain->steps[i]) || step_has_siblings(judging, &chain->steps[i])))
            return &chain->steps[i];
    for (size_t i = chain->begin; i < chain->count; i++)
        if (lacks_message(judging, &chain->steps[i]))
            return &chain->steps[i];
    return NULL;
}

/* True if a process is among those that a collective waits for in vain. */
static bool is_missing(const struct judging *judging, const struct step *collective, uint32_t process)
{
    const struct stuck_graph *graph = &judging->graph;
    const struct node *instance = &graph->nodes[collective->via->from];
    for (uint32_t i = 0; instance->kind == NODE_INSTANCE && i < instance->edge_count; i++) {
        const struct node *to = &graph->nodes[graph->edges[instance->first_edge + i].to];
        if (to->index == process && !to->live)
            return true;
    }
    return false;
}

/* A cycle of collectives and other waits: the message that would break it was never sent. If nothing shows that it was
   to be sent, the process that waits for it is not in the collective. */
static enum stuck_kind judge_mixed(struct judging *judging, const struct chain *chain)
{
    const struct step *lacking = find_lacking(judging, chain), *epoch = NULL;
    if (lacking) {
        say_unmatched(judging, lacking);
        return STUCK_UNMATCHED;
    }
    struct step collective = {0};
    for (size_t i = chain->begin; i < chain->count; i++) {
        const struct step *step = &chain->steps[i],
                          *before = &chain->steps[i > chain->begin ? i - 1 : chain->count - 1];
        if (step_is_epoch(step))
            epoch = step;
        if (!step_is_collective(step) || collective.next)
            continue;
        collective = *step;
        /* Of several that are not there, the one that waits for this process itself. */
        if (is_missing(judging, step, before->place->process))
            collective.next = before->place;
    }
    if (!epoch)
        return judge_missing(judging, &collective);
    say_epoch(judging, epoch);
    return STUCK_MISSING;
}

/* True if a member has not started a persistent collective. They may be started in any order: it is no mismatch. */
static bool lacks_start(const struct judging *judging, const struct step *step)
{
    const struct node *from = &judging->graph.nodes[step->via->from];
    return step->via->kind == EDGE_COLLECTIVE && from->kind == NODE_INSTANCE && from->starts > 0;
}

/* A cycle of collectives only. */
static enum stuck_kind judge_collectives(struct judging *judging, const struct chain *chain)
{
    const struct step *start = NULL;
    size_t starts = 0;
    for (size_t i = chain->begin; i < chain->count; i++)
        if (lacks_start(judging, &chain->steps[i])) {
            start = &chain->steps[i];
            starts++;
        }
    if (starts > 1) {
        say_cycle(judging, chain);
        return STUCK_CYCLE;
    }
    if (start) {
        say_missing(judging, start);
        return STUCK_MISSING;
    }
    say_mismatch(judging, &chain->steps[chain->begin]);
    return STUCK_MISMATCH;
}

static enum stuck_kind judge_chain(struct judging *judging, const struct chain *chain)
{
    /* No cycle: the last step leads to a process that has left MPI, so that what it waits for cannot come. */
    if (chain->begin == chain->count)
        return judge_last_step(judging, &chain->steps[chain->count - 1]);
    size_t length = chain->count - chain->begin, collectives = 0;
    for (size_t i = chain->begin; i < chain->count; i++)
        collectives += step_is_collective(&chain->steps[i]);
    if (collectives == length)
        return judge_collectives(judging, chain);
    if (collectives == 0) {
        say_cycle(judging, chain);
        return STUCK_CYCLE;
    }
    return judge_mixed(judging, chain);
}

/* True if an edge leads from a place to its own process, which has no other thread in MPI. */
static bool is_to_itself(const struct judging *judging, const struct place *place, const struct edge *edge)
{
    const struct stuck_graph *graph = &judging->graph;
    const struct node *to = &graph->nodes[edge->to];
    if (to->kind == NODE_ANYBODY && to->edge_count == 1)
        to = &graph->nodes[graph->edges[to->first_edge].to];
    bool messages = edge->kind == EDGE_RECEIVE || edge->kind == EDGE_SEND;
    return messages && to->kind == NODE_PROCESS && to->index == place->process && to->edge_count == 1 && !to->live;
}

/* What a place waits for of its own process, if that is in vain; NULL: nothing. Of several waits one is enough only
   where all of them must end. */
static const struct edge *wait_for_itself(const struct judging *judging, const struct place *place)
{
    const struct node *node = &judging->graph.nodes[place - judging->state->places];
    for (uint32_t i = 0; i < node->edge_count && (!node->any || node->edge_count == 1); i++)
        if (is_to_itself(judging, place, &judging->graph.edges[node->first_edge + i]))
            return &judging->graph.edges[node->first_edge + i];
    return NULL;
}

static enum stuck_kind judge_itself(struct judging *judging, const struct place *place, const struct edge *edge)
{
    judging_add_process(judging, place->process);
    judging_say_process(judging, true, place->process);
    judging_say(judging, "is in ");
    say_call(judging->text, judging->state, place->state, place->site);
    say_wait(judging->text, &judging->graph, place, edge);
    judging_say(judging, ": it waits for itself.");
    if (edge->kind == EDGE_RECEIVE && edge->item > 0)
        say_near_misses(judging->text, judging->state, place, &place->items[edge->item - 1], true);
    return STUCK_UNMATCHED;
}

/* A process that waits for its own message, parts of which it has not made ready: whatever else there is waits for it,
   or for another reason. */
static const struct place *waits_for_own(const struct judging *judging)
{
    for (size_t i = 0; i < judging->state->place_count; i++) {
        const struct place *place = &judging->state->places[i];
        const struct node *node = &judging->graph.nodes[i];
        for (uint32_t k = 0; k < node->edge_count && judging_is_dead(judging, place); k++)
            if (judging->graph.edges[node->first_edge + k].kind == EDGE_READY)
                return place;
    }
    return NULL;
}

static enum stuck_kind judge_own(struct judging *judging, const struct place *place)
{
    judging_add_process(judging, place->process);
    judging_say_process(judging, true, place->process);
    say_doing(judging->text, &judging->graph, place);
    judging_say(judging, ", and the others are never marked ready.");
    return STUCK_UNMATCHED;
}

/* The problem is there before others come to wait for it, and so the hang begins then. */
static void note_since(struct judging *judging, int64_t since_ns)
{
    judging->stuck->since_ns = smaller(since_ns, judging->stuck->since_ns);
}

/* From a place that hangs to where its chain of waits ends. */
static enum stuck_kind judge_from(struct judging *judging, const struct place *first)
{
    struct chain chain = chain_from(judging, first);
    const struct place *end = chain.count > 0 ? chain.steps[chain.count - 1].next : first;
    const struct edge *edge = NULL;
    if (chain.begin == chain.count)
        edge = wait_for_itself(judging, end);
    enum stuck_kind kind = STUCK_NOT;
    if (edge) {
        kind = judge_itself(judging, end, edge);
        note_since(judging, end->progress_ns);
    } else if (chain.count > 0) {
        kind = judge_chain(judging, &chain);
        note_since(judging, chain_since(judging, &chain));
    }
    free(chain.steps);
    return kind;
}

enum stuck_kind judge_dead(struct judging *judging)
{
    const struct stuck_state *state = judging->state;
    const struct place *first = NULL;
    int64_t since_ns = INT64_MIN;
    for (size_t i = 0; i < state->place_count; i++) {
        const struct place *place = &state->places[i];
        if (!judging_is_dead(judging, place) || judging_is_leaving(judging, place) || place_joins(state, place))
            continue;
        since_ns = larger(since_ns, place->progress_ns);
        if (!first || place->progress_ns < first->progress_ns)
            first = place;
    }
    /* Shorter: messages may be in transit or buffers about to be emptied. Where it is not known how long processes have
       lived after their last record, such sends do not count as waits (stuck_graph.c). */
    bool known = state->end_known || !state->has_ending;
    if (!first || (known && time_since(since_ns, state->end_ns) < STUCK_QUIET_NS))
        return STUCK_NOT;
    judging->stuck->since_ns = since_ns;
    /* A loop of tests is where the program itself is stuck: it explains the others that wait for it. */
    const struct place *polls = find_poller(judging, true);
    if (polls) {
        struct chain chain = chain_from(judging, polls);
        if (chain.count > 0)
            note_since(judging, larger(polls->progress_ns, chain_since(judging, &chain)));
        free(chain.steps);
        return judge_polling(judging, polls);
    }
    const struct place *own = waits_for_own(judging);
    if (own)
        return judge_own(judging, own);
    /* From the one without progress for the longest time: the others came to wait later. */
    return judge_from(judging, first);
}
