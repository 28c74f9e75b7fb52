/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/judge_dead.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "stuck/judge_polling.h"
#include "stuck/stuck_chain_text.h"

static enum stuck_kind judge_last_step(struct judging *judging, const struct step *step)
{
    if (step_is_collective(step)) {
        say_missing(judging, step);
        return STUCK_MISSING;
    }
    if (step_is_epoch(step) || step->via->kind == EDGE_LOCK) {
        say_epoch(judging, step);
        return STUCK_MISSING;
    }
    say_unmatched(judging, step);
    return STUCK_UNMATCHED;
}

/* A cycle of collectives and other waits: the message that would break it was never sent. If such messages arrived
   before, or one that nearly fits, the message is missing; else the process that waits for it is not in the collective.
 */
static enum stuck_kind judge_mixed(struct judging *judging, const struct chain *chain)
{
    const struct step *collective = NULL, *epoch = NULL;
    for (size_t i = chain->begin; i < chain->count; i++) {
        const struct step *step = &chain->steps[i];
        if (!step_is_collective(step) &&
            (step_had_messages(judging, step) || step_has_near_miss(judging, step) || step_is_begun(judging, step))) {
            say_unmatched(judging, step);
            return STUCK_UNMATCHED;
        }
        if (step_is_collective(step) && !collective)
            collective = step;
        if (step_is_epoch(step))
            epoch = step;
    }
    if (epoch)
        say_epoch(judging, epoch);
    else
        say_missing(judging, collective);
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
    if (polls)
        return judge_polling(judging, polls);
    const struct place *own = waits_for_own(judging);
    if (own)
        return judge_own(judging, own);
    /* From the one without progress for the longest time: the others came to wait later. */
    struct chain chain = chain_from(judging, first);
    enum stuck_kind kind = STUCK_NOT;
    if (chain.count > 0)
        kind = judge_chain(judging, &chain);
    free(chain.steps);
    return kind;
}
