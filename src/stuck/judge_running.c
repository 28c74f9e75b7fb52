/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/judge_running.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "stuck/judge_arguments.h"
#include "stuck/judge_dead.h"
#include "stuck/judge_polling.h"

#include <stdlib.h>

/* A computing process counts as blocking others only if it takes much longer than the run's own pace. */
#define COMPUTING_QUIET_NS INT64_C(1000000000)
enum { COMPUTING_PACES = 5 };

/* A place in a collective that all have entered whom it waits for: whether its data take long, or its arguments do not
   fit those of the others, is not known. */
static const struct place *in_whole_collective(const struct judging *judging)
{
    for (size_t i = 0; i < judging->state->place_count; i++) {
        const struct place *place = &judging->state->places[i];
        const struct node *node = &judging->graph.nodes[i];
        if (place->ordinal == 0 || node->edge_count != 1 || judging_is_leaving(judging, place))
            continue;
        const struct node *to = &judging->graph.nodes[judging->graph.edges[node->first_edge].to];
        if (to->kind == NODE_INSTANCE && to->edge_count == 0)
            return place;
    }
    return NULL;
}

/* The side that waits for another program to meet it. */
static const struct place *waits_for_program(const struct judging *judging)
{
    const struct place *place = in_whole_collective(judging);
    bool waits = place && (place_is_in(judging->state, place, "MPI_Comm_accept") ||
                           place_is_in(judging->state, place, "MPI_Comm_connect"));
    return waits ? place : NULL;
}

/* Nobody goes on except by what another program does, and that does nothing. */
static enum stuck_kind judge_meeting(struct judging *judging, const struct place *place)
{
    bool accepts = place_is_in(judging->state, place, "MPI_Comm_accept");
    judging_add_process(judging, place->process);
    judging_say_process(judging, true, place->process);
    say_doing(judging->text, &judging->graph, place);
    judging_say(judging, accepts ? ", and no other program has come by MPI_Comm_connect."
                                 : ", and no other program has taken it in by MPI_Comm_accept.");
    return STUCK_UNMATCHED;
}

static void say_slow(struct judging *judging, bool quiet, size_t running)
{
    const struct stuck_state *state = judging->state;
    char time[TEXT_NUMBER_SIZE];
    if (!quiet) {
        judging_say(judging, "The run went on until it was ended.");
        return;
    }
    judging->stuck->quiet = true;
    text_append(judging->text, sizeof judging->text,
                "No call was entered or left for %s; what was recorded does not show why.",
                text_duration(time, time_since(state->progress_ns, state->end_ns)));
    const struct place *place = running == 0 ? in_whole_collective(judging) : NULL;
    if (!place)
        return;
    judging_say(judging, " ");
    judging_say_process(judging, true, place->process);
    say_doing(judging->text, &judging->graph, place);
    judging_say(judging,
                ", which all others have entered: its data may take long, or its arguments may not fit theirs.");
}

/* Sorted ranks without this one, each once. */
static size_t other_ranks(uint32_t *ranks, size_t count, uint32_t without)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (ranks[i] != without && (kept == 0 || ranks[kept - 1] != ranks[i]))
            ranks[kept++] = ranks[i];
    return kept;
}

/* What another thread of a process is in that computes: the one may wait for the other, outside MPI. */
static void say_other_thread(struct judging *judging, const struct place *one)
{
    const struct stuck_state *state = judging->state;
    const struct node *node = graph_process(&judging->graph, one->process);
    for (uint32_t i = 0; i < node->edge_count; i++) {
        const struct place *place = &state->places[judging->graph.edges[node->first_edge + i].to];
        if (place == one || place->depth == 0 || judging_is_leaving(judging, place))
            continue;
        text_append(judging->text, sizeof judging->text, " Another thread of process %s ",
                    text_number(one->process).text);
        say_doing(judging->text, &judging->graph, place);
        judging_say(judging, ".");
        return;
    }
}

/* Of a call that waits for messages both ways, those that it receives would do for it to go on; if they have arrived,
   it waits for its own to be received. */
static enum stuck_kind judge_settled(struct judging *judging)
{
    stuck_graph_settle(&judging->graph);
    enum stuck_kind kind = judge_dead(judging);
    return kind == STUCK_NOT ? STUCK_SLOW : kind;
}

enum stuck_kind judge_running(struct judging *judging)
{
    const struct stuck_state *state = judging->state;
    int64_t quiet_ns = time_since(state->progress_ns, state->end_ns), since_ns = state->progress_ns;
    size_t waiting = 0, running = 0;
    uint32_t *ranks = memory_new((state->place_count + 1) * sizeof *ranks);
    const struct place *one = NULL;
    for (size_t i = 0; i < state->place_count; i++) {
        const struct place *place = &state->places[i];
        bool computes =
            place->depth == 0 && place->has_ending && !place_is_gone(state, place) && !place_joins(state, place);
        if (computes && !place_polls(state, place)) {
            ranks[running++] = place->process;
            if (!one || place->process < one->process)
                one = place;
        }
    }
    /* Other threads of a process that computes are no others. */
    for (size_t i = 0; i < state->place_count; i++) {
        bool own = false;
        for (size_t k = 0; k < running && !own; k++)
            own = ranks[k] == state->places[i].process;
        waiting += state->places[i].depth > 0 && !own;
    }
    /* Five times the longest pause of the run so far: a program that computes for minutes between its calls is not
       stuck after one. */
    bool quiet = quiet_ns >= COMPUTING_QUIET_NS && quiet_ns / COMPUTING_PACES >= state->longest_gap_ns;
    const struct place *polls = find_poller(judging, false);
    enum stuck_kind kind = STUCK_SLOW;
    if (quiet && running > 0 && waiting > 0) {
        kind = STUCK_COMPUTING;
        qsort(ranks, running, sizeof *ranks, judging_compare_ranks);
        for (size_t i = 0; i < running; i++)
            judging_add_process(judging, ranks[i]);
        judging_say_process(judging, true, one->process);
        say_doing(judging->text, &judging->graph, one);
        size_t others = other_ranks(ranks, running, one->process);
        if (others > 0) {
            judging_say(judging, others == 1 ? ", and so has " : ", and so have ");
            say_processes(judging->text, ranks, others);
        }
        text_append(judging->text, sizeof judging->text, "; %s process%s for %s.", text_number(waiting).text,
                    waiting == 1 ? " waits" : "es wait", others == 0 ? "it" : "them");
        say_other_thread(judging, one);
    } else if (quiet && running == 0 && polls) {
        kind = judge_polling(judging, polls);
    } else if (quiet && running == 0 && (kind = judge_settled(judging)) != STUCK_SLOW) {
        since_ns = judging->stuck->since_ns;
    } else if (quiet) {
        const struct place *meets = running == 0 ? waits_for_program(judging) : NULL;
        kind = meets ? judge_meeting(judging, meets) : judge_arguments(judging);
    }
    if (kind == STUCK_SLOW)
        say_slow(judging, quiet, running);
    else
        judging->stuck->since_ns = since_ns;
    free(ranks);
    return kind;
}
