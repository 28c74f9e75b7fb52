/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/judge_ended.h"

#include "core/numbers.h"
#include "core/text.h"

#include <signal.h>

#define SEEN_LATE_NS INT64_C(100000000)

/* When the process ended: MPI_Abort ends it when it is called, whatever the recorder sees afterwards. */
static int64_t ended_ns(const struct stuck_state *state, const struct place *place)
{
    return place_is_in(state, place, "MPI_Abort") ? place->enter_ns : place->last_ns;
}

/* True if it may have exited without a note. */
static bool has_exited(const struct place *place)
{
    return place->ended == PENDING_DIED && place->code <= 0;
}

/* When the process ended, beside others. That one was killed is seen a little later, and those that lose their
   connection to it may have crashed for that already. MPI_Abort kills others. */
static int64_t died_ns(const struct stuck_state *state, const struct place *place)
{
    bool late = place->ended == PENDING_DIED || place_is_in(state, place, "MPI_Abort");
    return ended_ns(state, place) - (late ? SEEN_LATE_NS : 0);
}

const struct place *find_ended(const struct judging *judging)
{
    const struct stuck_state *state = judging->state;
    const struct place *first = NULL;
    bool alive = false;
    for (size_t i = 0; i < state->place_count; i++)
        alive |= state->places[i].has_ending && !place_has_ended(&state->places[i]) && !has_exited(&state->places[i]);
    for (size_t i = 0; i < state->place_count; i++) {
        const struct place *place = &state->places[i];
        /* To exit is wrong only while others still need the process, with code 0 or where that may be what happened. */
        bool exited = has_exited(place) || (place->ended == PENDING_EXIT && place->code == 0);
        bool bad = place->ended >= PENDING_SIGNAL && (!exited || alive);
        if (!place->has_ending || (!bad && !place_is_in(state, place, "MPI_Abort")))
            continue;
        if (!first || died_ns(state, place) < died_ns(state, first))
            first = place;
    }
    return first;
}

enum stuck_kind judge_ended(struct judging *judging, const struct place *place)
{
    const struct stuck_state *state = judging->state;
    size_t waiting = 0;
    judging_add_process(judging, place->process);
    judging_say_process(judging, true, place->process);
    if (place_is_in(state, place, "MPI_Abort")) {
        judging_say(judging, "called ");
        say_call(judging->text, state, place->state, place->site);
        for (size_t i = 0; i < place->item_count; i++)
            if (place->items[i].pending.what == PENDING_ABORT)
                text_append(judging->text, sizeof judging->text, " with code %d", place->items[i].pending.tag);
    } else if (place->ended == PENDING_DIED) {
        say_died(judging->text, state, place);
        judging->stuck->died = true;
    } else {
        say_doing(judging->text, &judging->graph, place);
    }
    judging->stuck->since_ns = ended_ns(state, place);
    /* A launcher ends the others at once, if it sees that one has ended. */
    const char *when = "then";
    for (size_t i = 0; i < state->place_count; i++) {
        const struct place *other = &state->places[i];
        if (other->process == place->process && place->ended == PENDING_DIED)
            continue;
        waiting += other != place && other->depth > 0;
        if (place->ended == PENDING_DIED && other->progress_ns > place->last_ns)
            when = "at the end";
    }
    if (waiting > 0)
        text_append(judging->text, sizeof judging->text, "; %s other%s in MPI %s.", text_number(waiting).text,
                    waiting == 1 ? " was" : "s were", when);
    else
        judging_say(judging, ".");
    return STUCK_ENDED;
}

void ended_forgive_aborts(struct stuck_state *state)
{
    size_t ended = 0;
    for (size_t i = 0; i < state->place_count; i++) {
        const struct place *place = &state->places[i];
        if (!place->has_ending)
            continue;
        if (place->ended != PENDING_SIGNAL || place->code != SIGABRT || place->depth == 0)
            return;
        ended++;
    }
    for (size_t i = 0; i < state->place_count && ended > 1; i++)
        state->places[i].ended = PENDING_ALIVE;
}

bool ended_early(const struct judging *judging)
{
    const struct stuck_state *state = judging->state;
    for (size_t i = 0; i < state->place_count; i++) {
        const struct place *place = &state->places[i];
        if (place->ended == PENDING_DIED && judging_is_dead(judging, place) && !judging_is_leaving(judging, place) &&
            time_since(place->progress_ns, place->last_ns) < STUCK_QUIET_NS)
            return true;
    }
    return false;
}
