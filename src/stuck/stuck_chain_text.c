/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/stuck_chain_text.h"

#include "core/memory.h"
#include "core/text.h"

#include <stdlib.h>

void say_cycle(struct judging *judging, const struct chain *chain)
{
    /* More than four make the sentence unreadable; `cycle` has all. */
    enum { STEPS = 4 };
    size_t length = chain->count - chain->begin;
    text_append(judging->text, sizeof judging->text, "%s processes wait for each other: ", text_number(length).text);
    for (size_t i = 0; i < length; i++) {
        const struct step *step = &chain->steps[chain->begin + i];
        ARRAY_PUSH(judging->stuck->cycle, judging->stuck->cycle_count, judging->cycle_capacity, step->place->process);
        judging_add_process(judging, step->place->process);
        if (i >= STEPS)
            continue;
        judging_say(judging, i == 0 ? "" : "; ");
        judging_say_process(judging, false, step->place->process);
        say_doing(judging->text, &judging->graph, step->place);
    }
    if (length > STEPS)
        text_append(judging->text, sizeof judging->text, "; and so on");
    judging_say(judging, ".");
    /* One is enough to find the mistake. */
    bool said = false;
    for (size_t i = chain->begin; i < chain->count && !said; i++)
        if (step_item(&chain->steps[i]))
            said = say_near_misses(judging->text, judging->state, chain->steps[i].place, step_item(&chain->steps[i]),
                                   false);
}

/* The processes in the same call as `like`, among those that hang: the same function, place in the source and
   collective of the same communicator. */
static size_t same_place(const struct judging *judging, const struct place *like, uint32_t *ranks)
{
    size_t count = 0;
    const struct stuck_state *state = judging->state;
    for (size_t i = 0; i < state->place_count; i++) {
        const struct place *place = &state->places[i];
        if (judging_is_dead(judging, place) && place->depth > 0 && place->state == like->state &&
            place->site == like->site && place->ordinal == like->ordinal &&
            state_comm(state, place->comm) == state_comm(state, like->comm))
            ranks[count++] = place->process;
    }
    return count;
}

static void say_same_place(struct judging *judging, const struct place *like)
{
    uint32_t *ranks = memory_new(judging->state->place_count * sizeof *ranks);
    size_t count = same_place(judging, like, ranks);
    qsort(ranks, count, sizeof *ranks, judging_compare_ranks);
    /* If `like` has left MPI, it is not among those that hang. */
    if (count == 0)
        ranks[count++] = like->process;
    say_processes(judging->text, ranks, count);
    judging_say(judging, count == 1 ? " is in " : " are in ");
    say_call(judging->text, judging->state, like->state, like->site);
    if (like->comm != EVENT_UNKNOWN) {
        judging_say(judging, " on ");
        say_comm(judging->text, judging->state, like->comm);
    }
    for (size_t i = 0; i < count; i++)
        judging_add_process(judging, ranks[i]);
    free(ranks);
}

void say_mismatch(struct judging *judging, const struct step *step)
{
    /* On the same communicator the orders of collectives differ (MPI-4.0, 6.14). Of two of them it is not known whether
       a process would have come to the other one, or never. */
    bool same = state_comm(judging->state, step->place->comm) == state_comm(judging->state, step->next->comm);
    judging_say(judging, same ? "Members of a communicator are in different collectives: "
                              : "Processes wait for each other in collectives of different communicators: ");
    say_same_place(judging, step->place);
    if (!same) {
        judging_say(judging, ", which ");
        judging_say_process(judging, false, step->next->process);
        judging_say(judging, "has not entered");
    }
    judging_say(judging, same ? ", " : "; ");
    say_same_place(judging, step->next);
    judging_say(judging, ".");
}

/* The number of the collective that a missing member entered last, where the process that waits for it was in another
   function then: MPI may let both pass, and one of them is missing later. 0: there is none. */
static uint64_t former_mismatch(const struct judging *judging, const struct step *step)
{
    const struct stuck_state *state = judging->state;
    const struct node *instance = &judging->graph.nodes[step->via->from];
    if (instance->kind != NODE_INSTANCE || instance->starts > 0 || instance->team > 0)
        return 0;
    const struct member *missing = state_member(state, instance->comm, step->next->process),
                        *waits = state_member(state, instance->comm, step->place->process);
    if (!missing || !waits || missing->count == 0 || missing->count >= waits->count ||
        missing->count + COLLECTIVES_KEPT <= waits->count)
        return 0;
    uint64_t last = missing->count;
    return missing->states[last % COLLECTIVES_KEPT] != waits->states[last % COLLECTIVES_KEPT] ? last : 0;
}

bool say_former_mismatch(struct judging *judging, const struct step *step)
{
    const struct stuck_state *state = judging->state;
    uint64_t last = former_mismatch(judging, step);
    if (last == 0)
        return false;
    int32_t comm = judging->graph.nodes[step->via->from].comm;
    const struct place *const places[] = {step->next, step->place};
    for (size_t i = 0; i < 2; i++) {
        const struct member *member = state_member(state, comm, places[i]->process);
        judging_add_process(judging, places[i]->process);
        judging_say(judging, i == 0 ? "" : ", where ");
        judging_say_process(judging, i == 0, places[i]->process);
        judging_say(judging, "called ");
        judging_say(judging, state_name(state, member->states[last % COLLECTIVES_KEPT]));
        if (i > 0)
            continue;
        judging_say(judging, " on ");
        say_comm(judging->text, state, comm);
    }
    for (size_t i = 2; i-- > 0;) {
        judging_say(judging, i > 0 ? ". " : "; ");
        judging_say_process(judging, i > 0, places[i]->process);
        say_doing(judging->text, &judging->graph, places[i]);
    }
    judging_say(judging, ".");
    return true;
}

void say_missing(struct judging *judging, const struct step *step)
{
    const struct node *instance = &judging->graph.nodes[step->via->from];
    uint32_t *ranks = memory_new((instance->edge_count + 1) * sizeof *ranks);
    size_t count = 0;
    for (uint32_t i = 0; instance->kind == NODE_INSTANCE && i < instance->edge_count; i++) {
        const struct node *process = &judging->graph.nodes[judging->graph.edges[instance->first_edge + i].to];
        if (!process->live)
            ranks[count++] = process->index;
    }
    if (count == 0)
        ranks[count++] = step->next->process;
    for (size_t i = 0; i < count; i++)
        judging_add_process(judging, ranks[i]);
    uint32_t function = instance->kind == NODE_INSTANCE ? instance->state : step->place->state;
    /* A start of a persistent collective is known by those of the others only: by its number. */
    uint64_t starts = instance->kind == NODE_INSTANCE ? instance->starts : 0;
    const char *how = " is never entered by ";
    if (starts == 1)
        how = " is never started by ";
    else if (starts > 1)
        how = " is started less often by ";
    judging_say(judging, starts ? "The collective of " : "");
    judging_say(judging, state_name(judging->state, function));
    judging_say(judging, " on ");
    say_comm(judging->text, judging->state, instance->kind == NODE_INSTANCE ? instance->comm : step->place->comm);
    judging_say(judging, how);
    say_processes(judging->text, ranks, count);
    judging_say(judging, ": ");
    judging_say_process(judging, false, step->next->process);
    say_doing(judging->text, &judging->graph, step->next);
    judging_say(judging, ". ");
    judging_say_process(judging, true, step->place->process);
    say_doing(judging->text, &judging->graph, step->place);
    judging_say(judging, " and waits for it.");
    free(ranks);
}

void say_unmatched(struct judging *judging, const struct step *step)
{
    judging_add_process(judging, step->place->process);
    judging_say_process(judging, true, step->place->process);
    say_doing(judging->text, &judging->graph, step->place);
    const char *lack = ", which it never does: ";
    if (step_is_begun(judging, step))
        lack = ", which is never complete: ";
    else if (step_item(step) && say_taken(NULL, judging->state, step->place, step_item(step)))
        lack = ", which was never sent again: ";
    else if (step_item(step))
        lack = ", which was never sent: ";
    judging_say(judging, lack);
    judging_say_process(judging, false, step->next->process);
    say_doing(judging->text, &judging->graph, step->next);
    judging_say(judging, ".");
    if (step_item(step))
        say_near_misses(judging->text, judging->state, step->place, step_item(step), true);
}

void say_epoch(struct judging *judging, const struct step *step)
{
    judging_add_process(judging, step->next->process);
    judging_say_process(judging, true, step->place->process);
    say_doing(judging->text, &judging->graph, step->place);
    judging_say(judging, ", which never comes: ");
    judging_say_process(judging, false, step->next->process);
    say_doing(judging->text, &judging->graph, step->next);
    judging_say(judging, ".");
}
