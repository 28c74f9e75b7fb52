/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/payload.h"
#include "timeline/overlay.h"
#include "timeline/scan.h"

#include <stdio.h>
#include <string.h>

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
    payload_text(detail->text, sizeof detail->text,
                 event->flags & EVENT_PAYLOAD_TEXT ? NULL : look->defs->states[event->state].format,
                 arena + event->payload, event->payload_length);
}

static void look_event(void *context, const struct walk_event *told)
{
    struct look *look = context;
    const struct event *event = told->event;
    if (look->found || told->row != look->row || !told->frame || event->kind > EVENT_LEAVE)
        return;
    if (event->kind == EVENT_ENTER)
        told->frame->wanted = !look->inside && told->time_ns == look->enter_ns && told->frame->depth == look->depth;
    if (!told->frame->wanted)
        return;
    look->inside = event->kind == EVENT_ENTER;
    look->detail->site = event->site ? event->site : look->detail->site;
    take_text(look, event, told->arena);
}

static void look_state(void *context, const struct timeline_state *state, const struct walk_frame *frame,
                       int64_t exclusive_ns)
{
    struct look *look = context;
    if (look->found || state->row != look->row || state->enter_ns != look->enter_ns || state->depth != look->depth)
        return;
    look->detail->state = *state;
    look->detail->exclusive_ns = frame->wanted ? exclusive_ns : -1;
    look->found = true;
}

static bool within(const struct timeline_state *state, uint32_t row, int64_t time_ns)
{
    return row == state->row && time_ns >= state->enter_ns && time_ns <= state->leave_ns;
}

static void attach_message(void *context, const struct timeline_message *message)
{
    struct timeline_detail *detail = context;
    if (!within(&detail->state, message->send_row, message->send_ns) &&
        !within(&detail->state, message->receive_row, message->receive_ns))
        return;
    if (detail->messages_found++ < DETAIL_MESSAGES)
        detail->messages[detail->message_count++] = *message;
}

static void take_wait(struct timeline *timeline, struct timeline_detail *detail)
{
    struct error ignored = {0};
    const struct timeline_overlay *overlay = timeline->overlay ? timeline_overlay(timeline, &ignored) : NULL;
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

enum status timeline_detail(struct timeline *timeline, uint32_t row, int64_t enter_ns, uint32_t depth,
                            struct timeline_detail *detail, struct error *err)
{
    *detail = (struct timeline_detail){.wait_row = TIMELINE_NONE};
    struct look look = {
        .detail = detail, .defs = timeline->info.defs, .row = row, .depth = depth, .enter_ns = enter_ns};
    const struct walk_visitor looking = {.context = &look, .event = look_event, .state = look_state};
    int64_t after_ns = enter_ns < INT64_MAX ? enter_ns + 1 : enter_ns;
    enum status status = timeline_scan(timeline, enter_ns, after_ns, &looking, err);
    if (status != STATUS_OK || !look.found)
        return status == STATUS_OK ? STATUS_END : status;
    const struct walk_visitor attaching = {.context = detail, .message = attach_message};
    int64_t leave_ns = detail->state.leave_ns;
    status = timeline_scan(timeline, enter_ns, leave_ns < INT64_MAX ? leave_ns + 1 : leave_ns, &attaching, err);
    take_wait(timeline, detail);
    return status;
}
