/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/payload.h"
#include "timeline/overlay.h"
#include "timeline/scan.h"

#include <stdio.h>
#include <string.h>

/* The messages of a state longer than this many events of the trace are not searched: a click must be answered at once,
   and 20 million events are read in a second. */
enum { DETAIL_EVENTS = 500000 };

struct look {
    struct timeline_detail *detail;
    const struct defs *defs;
    uint32_t row, depth;
    int64_t enter_ns;
    bool inside, found;
};

static void take_text(struct look *look, const struct event *event, const unsigned char *arena)
{
    struct timeline_detail *detail = look->detail;
    if (event->payload_length == 0)
        return;
    payload_event_text(detail->text, sizeof detail->text, look->defs->states[event->state].format, event, arena);
}

static void look_event(void *context, const struct walk_event *walked)
{
    struct look *look = context;
    const struct event *event = walked->event;
    if (look->found || walked->row != look->row || !walked->frame || event->kind > EVENT_LEAVE)
        return;
    /* A state is known by row, time of entry and depth: the first of several that begin in the same nanosecond. */
    if (event->kind == EVENT_ENTER)
        walked->frame->wanted =
            !look->inside && walked->time_ns == look->enter_ns && walked->frame->depth == look->depth;
    if (!walked->frame->wanted)
        return;
    look->inside = event->kind == EVENT_ENTER;
    /* Formats have the site and the payload at the enter or at the leave; the later one wins. */
    if (event->site)
        look->detail->site = event->site;
    take_text(look, event, walked->arena);
}

static void look_state(void *context, const struct timeline_state *state, const struct walk_frame *frame,
                       int64_t exclusive_ns)
{
    struct look *look = context;
    if (look->found || state->row != look->row || state->enter_ns != look->enter_ns || state->depth != look->depth)
        return;
    look->detail->state = *state;
    /* Without its enter in the walk, the time of inner states before the walk's begin is not known. */
    look->detail->exclusive_ns = -1;
    if (frame->wanted)
        look->detail->exclusive_ns = exclusive_ns;
    look->found = true;
}

static bool within(const struct timeline_state *state, uint32_t row, int64_t time_ns)
{
    return row == state->row && time_ns >= state->enter_ns && time_ns <= state->leave_ns;
}

static void look_message(void *context, const struct timeline_message *message)
{
    struct timeline_detail *detail = ((struct look *)context)->detail;
    if (!within(&detail->state, message->send_row, message->send_ns) &&
        !within(&detail->state, message->receive_row, message->receive_ns))
        return;
    if (detail->messages_found++ < DETAIL_MESSAGES)
        detail->messages[detail->message_count++] = *message;
}

static void take_wait(struct timeline *timeline, struct timeline_detail *detail)
{
    /* Only if it was made before: making it reads the whole trace. */
    const struct timeline_overlay *overlay = timeline->overlay;
    for (size_t i = 0; overlay && i < overlay->wait_count; i++) {
        const struct overlay_wait *wait = &overlay->waits[i];
        if (wait->row != detail->state.row || wait->from_ns != detail->state.enter_ns ||
            wait->state != detail->state.state)
            continue;
        detail->wait = wait->kind;
        detail->wait_ns = time_since(wait->from_ns, wait->to_ns);
        detail->wait_row = wait->cause_row;
        return;
    }
}

/* The end of a half-open window that holds this time. */
static int64_t later(int64_t time_ns)
{
    return time_ns < INT64_MAX ? time_ns + 1 : time_ns;
}

enum status timeline_detail(struct timeline *timeline, uint32_t row, int64_t enter_ns, uint32_t depth,
                            struct timeline_detail *detail, struct error *err)
{
    *detail = (struct timeline_detail){.wait_row = TIMELINE_NONE};
    struct look look = {
        .detail = detail, .defs = timeline->info.defs, .row = row, .depth = depth, .enter_ns = enter_ns};
    struct walk_visitor visitor = {.context = &look, .event = look_event, .state = look_state};
    /* First only around its enter: the index knows the end of a state that reaches beyond. */
    enum status status = timeline_scan(timeline, enter_ns, later(enter_ns), &visitor, err);
    if (status != STATUS_OK)
        return status;
    if (!look.found)
        return STATUS_END;
    take_wait(timeline, detail);
    struct timeline_view inside = {.from_ns = enter_ns, .to_ns = later(detail->state.leave_ns)};
    detail->messages_known = timeline_cost(timeline, &inside) <= DETAIL_EVENTS;
    detail->exclusive_ns = -1;
    if (!detail->messages_known)
        return STATUS_OK;
    /* Again, with everything in it up to its leave. */
    look.found = look.inside = false;
    visitor.message = look_message;
    return timeline_scan(timeline, inside.from_ns, inside.to_ns, &visitor, err);
}
