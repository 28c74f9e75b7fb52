/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/stuck_calls.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "stuck/stuck_chain.h"

#include <stdlib.h>

/* False of what has numbers of another meaning: a root, or the code of MPI_Abort. */
static bool names_partner(int32_t what)
{
    return what != PENDING_ROOT && what != PENDING_ABORT;
}

static struct stuck_call call_of(const struct judging *judging, const struct place *place)
{
    bool open = place->depth > 0, loops = place->progressed && place->polls > 0 && place_polls(judging->state, place);
    struct stuck_call call = {.rank = place->process,
                              .state = UINT32_MAX,
                              .last = place->state,
                              .site = place->site,
                              .partner = EVENT_UNKNOWN,
                              .tag = EVENT_UNKNOWN,
                              .comm = EVENT_UNKNOWN,
                              .since_ns = place->left_ns,
                              .loops = loops,
                              .died = place->ended == PENDING_DIED || place_has_ended(place),
                              .died_ns = place->last_ns};
    if (open || loops) {
        call.state = place->state;
        call.last = UINT32_MAX;
        call.comm = state_comm(judging->state, place->comm);
        call.since_ns = loops ? place->progress_ns : place->enter_ns;
    }
    /* Of several items, the one that the verdict follows; else the first that the call waits for. */
    struct step step = step_from(judging, place);
    const struct item *item = NULL;
    if (step.next)
        item = step_item(&step);
    int32_t how = loops ? PENDING_TESTED : PENDING_WAITED;
    for (size_t i = 0; i < place->item_count && !item; i++)
        if (place->items[i].pending.how & how && names_partner(place->items[i].pending.what))
            item = &place->items[i];
    if ((open || loops) && item) {
        call.partner = item->pending.partner;
        call.tag = item->pending.tag;
        call.comm = state_comm(judging->state, item->comm);
    } else if (open && place->sends) {
        call.partner = place->send_partner;
        call.tag = place->send_tag;
    }
    return call;
}

/* How long the process of a place has waited. */
static int64_t waited_ns(const struct stuck_state *state, const struct place *place)
{
    if (place_is_gone(state, place) || place_is_in(state, place, "MPI_Finalize"))
        return 0;
    if (place->state == UINT32_MAX)
        return INT64_MAX;
    /* Since when is before what was read. */
    if (!place->progressed && state_is_test(state, place->state))
        return INT64_MAX;
    bool waits = place->depth > 0 || state_is_test(state, place->state);
    return waits ? time_since(place->progress_ns, state->end_ns) : 0;
}

static int compare_calls(const void *a, const void *b)
{
    const struct stuck_call *left = a, *right = b;
    return order_by(left->rank, right->rank);
}

void stuck_collect_calls(struct judging *judging)
{
    const struct stuck_state *state = judging->state;
    struct stuck *stuck = judging->stuck;
    size_t capacity = 0;
    for (size_t i = 0; i < state->place_count; i++) {
        const struct place *place = &state->places[i];
        stuck->waited_ns = larger(stuck->waited_ns, waited_ns(state, place));
        if (place->has_ending || place->depth > 0)
            ARRAY_PUSH(stuck->calls, stuck->call_count, capacity, call_of(judging, place));
    }
    if (stuck->call_count > 0)
        qsort(stuck->calls, stuck->call_count, sizeof *stuck->calls, compare_calls);
}
