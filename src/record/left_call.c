/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/left_call.h"

#include "record/messages.h"
#include "record/outer_call.h"
#include "record/requests.h"
#include "record/stack.h"

static void left_call_end(struct location *location)
{
    const struct open_call open = location->open;
    struct call call = {.location = location,
                        .function = open.function,
                        .comm = open.comm,
                        .write = open.write,
                        .send_at = open.send_at,
                        .requests = location->scratch,
                        .request_count = open.held,
                        .starts = location->scratch,
                        .start_count = open.started};
    requests_release(&call);
    requests_not_started(&call);
    message_void(&call);
    call_leave(&call);
}

bool inner_call_begin(struct location *location, const void *frame)
{
    enum stack_answer answer = STACK_UNKNOWN;
    while (location->open.frame && (answer = stack_look(location->open.frame, frame)) == STACK_LEFT)
        left_call_end(location);
    /* What a callback calls does not matter where only a sample is kept: its calls are cut into segments. */
    return !location->inside || (answer == STACK_CALLBACK && !location->keeps && outer_call_keep(location));
}
