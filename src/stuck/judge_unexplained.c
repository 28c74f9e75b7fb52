/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/judge_unexplained.h"

#include "core/numbers.h"

#include <stdlib.h>

/* A call in which others begin and end may have returned long ago: recorders lose the ends of calls. */
static bool is_last_call(const struct judging *judging, const struct place *place)
{
    return place->depth > 0 && !place->passed && !place_is_in(judging->state, place, "MPI_Finalize");
}

/* Each once. */
static void sort_processes(struct stuck *stuck)
{
    size_t kept = 0;
    qsort(stuck->processes, stuck->process_count, sizeof *stuck->processes, judging_compare_ranks);
    for (size_t i = 0; i < stuck->process_count; i++)
        if (kept == 0 || stuck->processes[kept - 1] != stuck->processes[i])
            stuck->processes[kept++] = stuck->processes[i];
    stuck->process_count = kept;
}

static void say_unexplained(struct judging *judging, const struct place *only)
{
    const struct stuck *stuck = judging->stuck;
    judging_say(judging, "The trace ends while ");
    say_processes(judging->text, stuck->processes, stuck->process_count);
    judging_say(judging, stuck->process_count == 1 ? " is in " : " are in ");
    if (only)
        say_call(judging->text, judging->state, only->state, only->site);
    else
        judging_say(judging, "MPI");
    judging_say(judging, "; what was recorded does not show why.");
}

enum stuck_kind judge_unexplained(struct judging *judging)
{
    const struct stuck_state *state = judging->state;
    const struct place *first = NULL, *only = NULL;
    size_t inside = 0, outside = 0;
    for (size_t i = 0; i < state->place_count; i++) {
        const struct place *place = &state->places[i];
        outside += place->depth == 0 && place->state != UINT32_MAX && !place_is_gone(state, place);
        if (!is_last_call(judging, place))
            continue;
        only = inside++ == 0 ? place : NULL;
        if (!first || place->enter_ns < first->enter_ns)
            first = place;
    }
    if (!first || !state->whole)
        return STUCK_NOT;
    /* A trace may be of a part of a run: what is in MPI for a moment then goes on after it. */
    if (outside > 0 && time_since(first->enter_ns, state->end_ns) < STUCK_QUIET_NS)
        return STUCK_NOT;
    for (size_t i = 0; i < state->place_count; i++)
        if (is_last_call(judging, &state->places[i]))
            judging_add_process(judging, state->places[i].process);
    sort_processes(judging->stuck);
    say_unexplained(judging, only);
    judging->stuck->since_ns = state->progress_ns;
    return STUCK_UNEXPLAINED;
}
