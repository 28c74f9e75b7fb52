/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/find.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "timeline/scan.h"

struct search {
    const struct timeline_query *query;
    const struct defs *defs;
    uint32_t *places;
    int64_t from_ns;
    bool backward, talks; /* talks: messages are asked for */
    bool found;
    struct timeline_found best;
    uint64_t row_bits; /* of requested processes; see struct checkpoint */
};

static bool message_fits(const struct timeline_query *query, const struct event *event)
{
    return (query->partner == EVENT_UNKNOWN || event->partner == query->partner) &&
           (query->tag == EVENT_UNKNOWN || event->tag == query->tag);
}

/* True if `time` comes after `than` in the direction of the search. Equal times do not: searching on from a result must
   not find it again. */
static bool is_beyond(const struct search *search, int64_t time_ns, int64_t than_ns)
{
    if (search->backward)
        return time_ns < than_ns;
    return time_ns > than_ns;
}

/* The event that is asked for: a message, or the entry of a state. */
static bool is_asked_for(const struct search *search, const struct event *event)
{
    if (!search->talks)
        return event->kind == EVENT_ENTER;
    return (event->kind == EVENT_SEND || event->kind == EVENT_RECEIVE) && message_fits(search->query, event);
}

/* Notes the state's position: at the first message that fits, or the last going backward. */
static void search_event(void *context, const struct walk_event *walked)
{
    struct search *search = context;
    if (!walked->frame || !is_beyond(search, walked->time_ns, search->from_ns) || !is_asked_for(search, walked->event))
        return;
    if (!walked->frame->wanted || search->backward)
        walked->frame->wanted_ns = walked->time_ns;
    walked->frame->wanted = true;
}

/* True if it precedes the best one in the order of the search. */
static bool better(const struct search *search, const struct timeline_state *state, int64_t time_ns)
{
    const struct timeline_found *best = &search->best;
    if (!search->found)
        return true;
    if (time_ns != best->time_ns)
        return is_beyond(search, best->time_ns, time_ns);
    if (state->row != best->state.row)
        return state->row < best->state.row;
    return state->depth < best->state.depth;
}

static void search_state(void *context, const struct timeline_state *state, const struct walk_frame *frame,
                         int64_t exclusive_ns)
{
    (void)exclusive_ns;
    struct search *search = context;
    const struct timeline_query *query = search->query;
    if (!frame->wanted || search->places[state->row] == TIMELINE_NONE ||
        (query->state != EVENT_UNKNOWN && (int32_t)search->defs->states[state->state].first_of_name != query->state) ||
        time_since(state->enter_ns, state->leave_ns) < query->least_ns || !better(search, state, frame->wanted_ns))
        return;
    search->best = (struct timeline_found){*state, frame->wanted_ns};
    search->found = true;
}

/* The bits of a checkpoint are numbers modulo 64: a set bit may be another number's, a missing one proves absence. */
static bool has_bit(uint64_t bits, int32_t number)
{
    return number == EVENT_UNKNOWN || (bits >> ((uint32_t)number & 63) & 1);
}

/* False if nothing between the checkpoint and the next one can fit. */
static bool worth_reading(const struct search *search, const struct checkpoint *behind)
{
    const struct timeline_query *query = search->query;
    if (!(behind->rows & search->row_bits) || !has_bit(behind->partners, query->partner) ||
        !has_bit(behind->tags, query->tag))
        return false;
    return search->talks || has_bit(behind->states, query->state);
}

/* Reads from checkpoint to checkpoint, away from the start of the search, until something fits. An event exactly at a
   checkpoint's time may be followed by others at the same time: read on to include these. */
static enum status search_on(struct timeline *timeline, struct search *search, struct error *err)
{
    size_t count;
    const struct checkpoint *checkpoints = timeline_checkpoints(timeline, &count);
    const struct walk_visitor visitor = {.context = search, .event = search_event, .state = search_state};
    size_t at, behind;
    timeline_scan_range(timeline, search->from_ns, search->from_ns, &at, &behind);
    if (search->backward)
        at = smaller(behind, count - 1);
    /* Backwards `at` passes 0 and becomes the largest number: both directions end at `count`. */
    for (; at < count; at += search->backward ? SIZE_MAX : 1) {
        /* The end of the part that is met first. Backwards the last part has no end. */
        int64_t near_ns = checkpoints[at].time_ns;
        if (search->backward)
            near_ns = at + 1 < count ? checkpoints[at + 1].time_ns : INT64_MAX;
        if (search->found && is_beyond(search, near_ns, search->best.time_ns))
            return STATUS_OK;
        if (worth_reading(search, &checkpoints[at]) &&
            timeline_scan_between(timeline, at, at + 1, &visitor, err) != STATUS_OK)
            return STATUS_FAILED;
    }
    return STATUS_OK;
}

enum status timeline_find(struct timeline *timeline, const struct timeline_query *query, int64_t from_ns, bool backward,
                          struct timeline_found *found, struct error *err)
{
    struct timeline_view view = timeline_whole(timeline);
    view.rows = query->rows;
    if (query->rows)
        view.row_count = query->row_count;
    struct search search = {.query = query,
                            .defs = timeline->info.defs,
                            .places = timeline_places(timeline, &view),
                            .from_ns = from_ns,
                            .backward = backward,
                            .talks = query->partner != EVENT_UNKNOWN || query->tag != EVENT_UNKNOWN};
    for (size_t row = 0; row < timeline->info.row_count; row++)
        if (search.places[row] != TIMELINE_NONE)
            search.row_bits |= UINT64_C(1) << (timeline->rows.row[row].process & 63);
    enum status status = search_on(timeline, &search, err);
    free(search.places);
    if (status != STATUS_OK)
        return status;
    *found = search.best;
    if (!search.found)
        return STATUS_END;
    return STATUS_OK;
}
