/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/find.h"

#include "core/memory.h"
#include "timeline/scan.h"

struct search {
    const struct timeline_query *query;
    const struct defs *defs;
    uint32_t *places;
    int64_t from_ns;
    bool backward, found;
    struct timeline_state best;
};

static bool message_fits(const struct timeline_query *query, const struct event *event)
{
    return (query->partner == EVENT_UNKNOWN || event->partner == query->partner) &&
           (query->tag == EVENT_UNKNOWN || event->tag == query->tag);
}

static void search_event(void *context, const struct walk_event *told)
{
    struct search *search = context;
    bool message = told->event->kind == EVENT_SEND || told->event->kind == EVENT_RECEIVE;
    if (told->frame && message && message_fits(search->query, told->event))
        told->frame->wanted = true;
}

/* True if `state` comes before the best in the order in which they are looked for. */
static bool better(const struct search *search, const struct timeline_state *state)
{
    const struct timeline_state *best = &search->best;
    if (!search->found)
        return true;
    if (state->enter_ns != best->enter_ns)
        return search->backward ? state->enter_ns > best->enter_ns : state->enter_ns < best->enter_ns;
    return state->row != best->row ? state->row < best->row : state->depth < best->depth;
}

static void search_state(void *context, const struct timeline_state *state, const struct walk_frame *frame,
                         int64_t exclusive_ns)
{
    (void)exclusive_ns;
    struct search *search = context;
    const struct timeline_query *query = search->query;
    bool beyond = search->backward ? state->enter_ns >= search->from_ns : state->enter_ns <= search->from_ns;
    bool message = query->partner != EVENT_UNKNOWN || query->tag != EVENT_UNKNOWN;
    if (beyond || search->places[state->row] == TIMELINE_NONE || (message && !frame->wanted) ||
        (query->state != EVENT_UNKNOWN && (int32_t)search->defs->states[state->state].first_of_name != query->state) ||
        time_since(state->enter_ns, state->leave_ns) < query->least_ns || !better(search, state))
        return;
    search->best = *state;
    search->found = true;
}

enum status timeline_find(struct timeline *timeline, const struct timeline_query *query, int64_t from_ns, bool backward,
                          struct timeline_state *found, struct error *err)
{
    struct timeline_view view = timeline_whole(timeline);
    view.rows = query->rows;
    view.row_count = query->rows ? query->row_count : view.row_count;
    struct search search = {.query = query,
                            .defs = timeline->info.defs,
                            .places = timeline_places(timeline, &view),
                            .from_ns = from_ns,
                            .backward = backward};
    const struct walk_visitor visitor = {.context = &search, .state = search_state, .event = search_event};
    enum status status = timeline_scan(timeline, view.from_ns, view.to_ns, &visitor, err);
    free(search.places);
    if (status != STATUS_OK)
        return status;
    *found = search.best;
    return search.found ? STATUS_OK : STATUS_END;
}
