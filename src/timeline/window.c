/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/window.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/payload.h"
#include "timeline/scan.h"

struct collect {
    const struct defs *defs;
    const struct timeline_view *view;
    struct timeline_window *window;
    uint32_t *places;
    size_t limit;
};

/* True if [from, to] overlaps the window; an interval without length must be inside. */
static bool in_window(const struct timeline_view *view, int64_t from_ns, int64_t to_ns)
{
    return from_ns < view->to_ns && (to_ns > view->from_ns || (from_ns == to_ns && from_ns == view->from_ns));
}

static bool shown(const struct collect *collect, uint32_t row)
{
    return row != TIMELINE_NONE && collect->places[row] != TIMELINE_NONE;
}

static void collect_state(void *context, const struct timeline_state *state, const struct walk_frame *frame,
                          int64_t exclusive_ns)
{
    (void)frame;
    (void)exclusive_ns;
    struct collect *collect = context;
    struct timeline_window *window = collect->window;
    if (!shown(collect, state->row) || !in_window(collect->view, state->enter_ns, state->leave_ns))
        return;
    if (window->states_found++ < collect->limit)
        ARRAY_PUSH(window->states, window->state_count, window->state_capacity, *state);
}

static void collect_message(void *context, const struct timeline_message *message)
{
    struct collect *collect = context;
    struct timeline_window *window = collect->window;
    /* Clocks may let a message arrive before it was sent: it is drawn all the same. */
    int64_t first_ns = smaller(message->send_ns, message->receive_ns);
    int64_t last_ns = larger(message->receive_ns, message->send_ns);
    if ((!shown(collect, message->send_row) && !shown(collect, message->receive_row)) ||
        first_ns >= collect->view->to_ns || last_ns < collect->view->from_ns)
        return;
    if (window->messages_found++ < collect->limit)
        ARRAY_PUSH(window->messages, window->message_count, window->message_capacity, *message);
}

static void collect_mark(void *context, const struct walk_event *walked)
{
    struct collect *collect = context;
    struct timeline_window *window = collect->window;
    if (walked->event->kind != EVENT_MARK || !shown(collect, walked->row) || walked->time_ns < collect->view->from_ns ||
        walked->time_ns >= collect->view->to_ns ||
        payload_mark_is_ours(collect->defs->marks[walked->event->state].name))
        return;
    if (window->marks_found++ < collect->limit)
        ARRAY_PUSH(window->marks, window->mark_count, window->mark_capacity,
                   (struct timeline_mark){.time_ns = walked->time_ns,
                                          .row = walked->row,
                                          .mark = walked->event->state,
                                          .text = walk_mark_text(collect->defs, walked)});
}

static int by_place(const void *a, const void *b, void *context)
{
    const struct timeline_state *left = a, *right = b;
    const uint32_t *places = context;
    if (left->row != right->row)
        return order_by(places[left->row], places[right->row]);
    if (left->enter_ns != right->enter_ns)
        return order_by(left->enter_ns, right->enter_ns);
    return order_by(left->depth, right->depth);
}

/* By all that distinguishes messages, so that the order does not depend on that in which the walk completes them. */
static int by_send(const void *a, const void *b)
{
    const struct timeline_message *left = a, *right = b;
    if (left->send_ns != right->send_ns)
        return order_by(left->send_ns, right->send_ns);
    if (left->receive_ns != right->receive_ns)
        return order_by(left->receive_ns, right->receive_ns);
    if (left->send_process != right->send_process)
        return order_by(left->send_process, right->send_process);
    if (left->receive_process != right->receive_process)
        return order_by(left->receive_process, right->receive_process);
    return order_by(left->tag, right->tag);
}

static int by_time(const void *a, const void *b)
{
    const struct timeline_mark *left = a, *right = b;
    if (left->time_ns != right->time_ns)
        return order_by(left->time_ns, right->time_ns);
    return order_by(left->row, right->row);
}

static void sort_window(struct timeline_window *window, uint32_t *places)
{
    if (window->state_count)
        qsort_r(window->states, window->state_count, sizeof *window->states, by_place, places);
    if (window->message_count)
        qsort(window->messages, window->message_count, sizeof *window->messages, by_send);
    if (window->mark_count)
        qsort(window->marks, window->mark_count, sizeof *window->marks, by_time);
}

static void clear_texts(struct timeline_window *window)
{
    for (size_t i = 0; i < window->mark_count; i++)
        free(window->marks[i].text);
}

enum status timeline_window(struct timeline *timeline, const struct timeline_view *view, size_t limit,
                            struct timeline_window *window, struct error *err)
{
    *window = (struct timeline_window){0};
    struct collect collect = {.defs = timeline->info.defs, .view = view, .window = window, .limit = limit};
    const struct walk_visitor visitor = {
        .context = &collect, .state = collect_state, .event = collect_mark, .message = collect_message};
    if (view->to_ns <= view->from_ns)
        return STATUS_OK;
    collect.places = timeline_places(timeline, view);
    enum status status = timeline_scan(timeline, view->from_ns, view->to_ns, &visitor, err);
    /* All or nothing: a part of the states would look like all of them. Counting goes on, so that a caller can say how
       many there are. */
    window->too_many = window->states_found > limit || window->messages_found > limit || window->marks_found > limit;
    if (window->too_many) {
        clear_texts(window);
        window->state_count = window->message_count = window->mark_count = 0;
    }
    sort_window(window, collect.places);
    free(collect.places);
    if (status != STATUS_OK)
        timeline_window_clear(window);
    return status;
}

void timeline_window_clear(struct timeline_window *window)
{
    free(window->states);
    free(window->messages);
    clear_texts(window);
    free(window->marks);
    *window = (struct timeline_window){0};
}
