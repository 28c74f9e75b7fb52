/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/find.h"

#include "core/memory.h"
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

static bool beyond(const struct search *search, int64_t time_ns)
{
    return search->backward ? time_ns < search->from_ns : time_ns > search->from_ns;
}

/* Notes the state's position: at the first message that fits, or the last going backward. */
static void search_event(void *context, const struct walk_event *walked)
{
    struct search *search = context;
    bool message = walked->event->kind == EVENT_SEND || walked->event->kind == EVENT_RECEIVE;
    if (!walked->frame || !beyond(search, walked->time_ns))
        return;
    if (search->talks ? message && message_fits(search->query, walked->event) : walked->event->kind == EVENT_ENTER) {
        if (!walked->frame->wanted || search->backward)
            walked->frame->wanted_ns = walked->time_ns;
        walked->frame->wanted = true;
    }
}

/* True if it precedes the best one in the order of the search. */
static bool better(const struct search *search, const struct timeline_state *state, int64_t time_ns)
{
    const struct timeline_found *best = &search->best;
    if (!search->found)
        return true;
    if (time_ns != best->time_ns)
        return search->backward ? time_ns > best->time_ns : time_ns < best->time_ns;
    return state->row != best->state.row ? state->row < best->state.row : state->depth < best->state.depth;
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
    size_t from, behind;
    timeline_scan_range(timeline, search->from_ns, search->from_ns, &from, &behind);
    size_t at = search->backward ? (behind < count ? behind : count - 1) : from;
    for (;;) {
        int64_t begin_ns = checkpoints[at].time_ns;
        int64_t end_ns = at + 1 < count ? checkpoints[at + 1].time_ns : INT64_MAX;
        bool done =
            search->found && (search->backward ? end_ns < search->best.time_ns : begin_ns > search->best.time_ns);
        if (done)
            return STATUS_OK;
        if (worth_reading(search, &checkpoints[at]) &&
            timeline_scan_between(timeline, at, at + 1, &visitor, err) != STATUS_OK)
            return STATUS_FAILED;
        if (at == (search->backward ? 0 : count - 1))
            return STATUS_OK;
        at = search->backward ? at - 1 : at + 1;
    }
}

enum status timeline_find(struct timeline *timeline, const struct timeline_query *query, int64_t from_ns, bool backward,
                          struct timeline_found *found, struct error *err)
{
    struct timeline_view view = timeline_whole(timeline);
    view.rows = query->rows;
    view.row_count = query->rows ? query->row_count : view.row_count;
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
    return search.found ? STATUS_OK : STATUS_END;
}
