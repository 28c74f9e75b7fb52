/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/judge_polling.h"

#include "core/numbers.h"
#include "core/text.h"
#include "stuck/stuck_chain.h"

enum stuck_kind judge_polling(struct judging *judging, const struct place *place)
{
    const struct stuck_state *state = judging->state;
    char time[TEXT_NUMBER_SIZE];
    struct step step = step_from(judging, place);
    judging_add_process(judging, place->process);
    judging_say_process(judging, true, place->process);
    say_doing(judging->text, &judging->graph, place);
    text_append(judging->text, sizeof judging->text, ": %s consecutive tests failed, for %s.",
                text_number(place->polls).text, text_duration(time, time_since(place->progress_ns, state->end_ns)));
    if (step.next) {
        judging_say(judging, " ");
        judging_say_process(judging, true, step.next->process);
        say_doing(judging->text, &judging->graph, step.next);
        judging_say(judging, ".");
    }
    return STUCK_POLLING;
}

const struct place *find_poller(const struct judging *judging, bool dead)
{
    for (size_t i = 0; i < judging->state->place_count; i++) {
        const struct place *place = &judging->state->places[i];
        if (place_polls(judging->state, place) && !place_is_gone(judging->state, place) &&
            judging_is_dead(judging, place) == dead)
            return place;
    }
    return NULL;
}
