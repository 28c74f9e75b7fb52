/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/stuck.h"

#include "core/memory.h"
#include "stuck/judge_dead.h"
#include "stuck/judge_ended.h"
#include "stuck/judge_running.h"
#include "stuck/judge_unexplained.h"
#include "stuck/stuck_builder.h"
#include "stuck/stuck_calls.h"

#include <stdlib.h>
#include <string.h>

/* True for runs that did not finish, as far as recorded. Other recorders write their traces in
   MPI_Finalize, which is then open. */
static bool is_unfinished(const struct stuck_state *state)
{
    bool unfinished = state->has_ending;
    for (size_t i = 0; i < state->place_count && !unfinished; i++)
        unfinished = state->places[i].depth > 0 && !place_is_in(state, &state->places[i], "MPI_Finalize");
    return state->wanted && unfinished;
}

static enum stuck_kind judge(struct judging *judging)
{
    const struct place *ended = find_ended(judging);
    bool died = ended && ended->ended == PENDING_DIED && !place_is_in(judging->state, ended, "MPI_Abort");
    if (ended && !died)
        return judge_ended(judging, ended);
    /* Who sees that a program hangs may kill one of its processes. */
    enum stuck_kind kind = STUCK_NOT;
    if (!died || !ended_early(judging))
        kind = judge_dead(judging);
    if (kind != STUCK_NOT)
        return kind;
    if (died)
        return judge_ended(judging, ended);
    /* Without the recorder's marks of how processes ended, a trace that just stops looks like a run that goes on. */
    return judging->state->has_ending ? judge_running(judging) : judge_unexplained(judging);
}

struct stuck *stuck_builder_end(struct stuck_builder *builder)
{
    struct judging judging = {.stuck = memory_new(sizeof *judging.stuck), .state = &builder->state};
    struct stuck *stuck = judging.stuck;
    stuck->defs = builder->state.defs;
    stuck->begin_ns = builder->state.begin_ns;
    stuck->progress_ns = builder->state.progress_ns;
    stuck->end_ns = stuck->since_ns = builder->state.end_ns;
    /* Finished runs cost nothing beyond this test. */
    if (builder->state.defs && is_unfinished(&builder->state)) {
        ended_forgive_aborts(&builder->state);
        stuck_graph_make(&judging.graph, &builder->state);
        stuck->kind = judge(&judging);
        stuck_collect_calls(&judging);
        stuck_graph_clear(&judging.graph);
        if (stuck->process_count > 0)
            qsort(stuck->processes, stuck->process_count, sizeof *stuck->processes, judging_compare_ranks);
        if (stuck->kind != STUCK_NOT)
            stuck->text = memory_copy_string(judging.text);
    }
    stuck_state_clear(&builder->state);
    free(builder);
    return stuck;
}

static uint32_t *copy_ranks(const uint32_t *ranks, size_t count)
{
    uint32_t *copy = memory_new((count + 1) * sizeof *copy);
    if (count > 0)
        memcpy(copy, ranks, count * sizeof *copy);
    return copy;
}

bool stuck_still(struct stuck *now, const struct stuck *before)
{
    /* Others change with time: a process that computes for long becomes the reason, a loop of tests goes on. */
    bool lasts = before->kind == STUCK_CYCLE || before->kind == STUCK_MISSING || before->kind == STUCK_MISMATCH ||
                 before->kind == STUCK_UNMATCHED;
    if (!lasts || now->progress_ns != before->progress_ns || now->call_count != before->call_count)
        return false;
    free(now->text);
    free(now->processes);
    free(now->cycle);
    now->kind = before->kind;
    now->text = memory_copy_string(before->text);
    now->since_ns = before->since_ns;
    now->processes = copy_ranks(before->processes, before->process_count);
    now->process_count = before->process_count;
    now->cycle = copy_ranks(before->cycle, before->cycle_count);
    now->cycle_count = before->cycle_count;
    return true;
}
