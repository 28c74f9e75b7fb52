/* SPDX-License-Identifier: BSD-3-Clause */
/* The past of a run as counts. */
#include "core/numbers.h"
#include "stuck/stuck_builder.h"
#include "stuck/stuck_events.h"

#include <string.h>

/* Who holds a lock of a window, and which epochs began and ended. A fence is a collective like others, and what
   completes operations within an epoch (MPI_Win_flush) leaves no trace in it. */
static bool is_epoch(const char *name)
{
    static const char *const names[] = {"MPI_Win_lock",  "MPI_Win_lock_all", "MPI_Win_unlock",  "MPI_Win_unlock_all",
                                        "MPI_Win_start", "MPI_Win_post",     "MPI_Win_complete"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static unsigned need(void *context, uint32_t index)
{
    const struct stuck_state *state = context;
    const char *name = state_name(state, index);
    uint8_t traits = state_traits(state, index);
    unsigned needs = traits & TRAIT_TEST ? PAST_TEST : 0;
    if (traits & TRAIT_INIT)
        needs |= PAST_START;
    /* What a process was in last matters, that it has left MPI, and with whom it works together. */
    if (traits & (TRAIT_INIT | TRAIT_FINALIZE | TRAIT_TEAM | TRAIT_TOPOLOGY))
        return needs | PAST_EVENTS;
    uint8_t stage = index < state->collective_count ? state->collectives[index].stage : STAGE_NONE;
    /* Locks, epochs and posted collectives are waited for one by one. */
    if (is_epoch(name) || stage == STAGE_POSTED || stage == STAGE_PREPARED)
        return needs | PAST_EVENTS;
    /* Starts of persistent messages are not. */
    if (traits & TRAIT_START && state->prepares)
        return needs | PAST_EVENTS;
    if (stage == STAGE_BLOCKING || stage == STAGE_SPLIT)
        needs |= PAST_COUNT;
    return needs;
}

static void events(void *context, const struct batch *batch)
{
    struct stuck_state *state = context;
    /* How long nothing happened is known from all records (pause), not from these few. */
    int64_t before_ns = state->progress_ns, gap_ns = state->longest_gap_ns;
    for (size_t i = 0; state->wanted && i < batch->count; i++) {
        state->progress_ns = INT64_MIN;
        stuck_take_event(state, &batch->events[i], batch);
    }
    state->progress_ns = before_ns;
    state->longest_gap_ns = gap_ns;
}

static void progress(void *context, const struct event *last, uint64_t failed)
{
    struct stuck_state *state = context;
    if (!state->wanted)
        return;
    struct place *place = state_place(state, last);
    place->progress_ns = place->left_ns = place->last_ns = last->time_ns;
    place->progressed = true;
    place->polls = (uint32_t)smaller(failed, (uint64_t)UINT32_MAX);
    if (place->depth == 0) {
        place->state = last->state;
        place->site = last->site;
    }
    state->progress_ns = larger(state->progress_ns, last->time_ns);
}

static void messages(void *context, const struct event *message, uint64_t count)
{
    struct stuck_state *state = context;
    if (!state->wanted || message->partner < 0)
        return;
    struct channel_balance *channel = state_count_messages(state, message, count);
    if (message->kind != EVENT_SEND)
        return;
    channel->send_site = message->site;
    channel->send_state = message->state;
}

static void collectives(void *context, const struct event *event, uint64_t count, const uint32_t *states, size_t last)
{
    struct stuck_state *state = context;
    if (!state->wanted)
        return;
    struct member *member = state_member_put(state, event);
    /* The functions of those are not known: older ones must not be taken for theirs. */
    if (count > last)
        memset(member->states, 0xFF, sizeof member->states);
    for (size_t i = 0; i < COLLECTIVES_KEPT; i++)
        member->roots[i] = EVENT_UNKNOWN;
    member->count += count - last;
    for (size_t i = 0; i < last; i++)
        if (states[i] < state->defs->state_count)
            member->states[++member->count % COLLECTIVES_KEPT] = state->defs->states[states[i]].first_of_name;
}

static void longest_pause(void *context, int64_t longest_ns)
{
    struct stuck_state *state = context;
    state->longest_gap_ns = larger(state->longest_gap_ns, longest_ns);
}

const struct past_sink *stuck_builder_past(struct stuck_builder *builder)
{
    builder->past = (struct past_sink){.context = &builder->state,
                                       .need = need,
                                       .events = events,
                                       .messages = messages,
                                       .collectives = collectives,
                                       .progress = progress,
                                       .pause = longest_pause,
                                       .least_pause_ns = STUCK_QUIET_NS};
    return &builder->past;
}
