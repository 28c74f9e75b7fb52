/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/left_call.h"

#include "record/messages.h"
#include "record/real.h"
#include "record/requests.h"

#include <unwind.h>

/* Goes up the stack to the frame that has `place`. Stacks grow down: a frame reaches from its stack pointer to that of
   its caller. */
struct search {
    uintptr_t place, current; /* where the open call's frame was; somewhere in that of the call that begins */
    uintptr_t low, code;      /* of the frame before */
    bool found, gone;
};

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *argument)
{
    struct search *search = argument;
    uintptr_t high = _Unwind_GetCFA(context); /* of the caller's frame, the lowest address of this one */
    if (high > search->place) {
        bool own = search->current >= search->low && search->current < high;
        search->found = true;
        search->gone = search->low == 0 || own || !real_is_recorder((const void *)search->code);
        return _URC_END_OF_STACK;
    }
    search->low = high;
    search->code = _Unwind_GetIP(context);
    return _URC_NO_REASON;
}

/* Unknown is not gone: a call that is missing does less harm than one that ends while it goes on. */
static bool is_gone(const void *place, const void *current)
{
    struct search search = {.place = (uintptr_t)place, .current = (uintptr_t)current};
    _Unwind_Backtrace(on_frame, &search);
    return search.found && search.gone;
}

bool left_call_end(struct location *location, const void *frame)
{
    const struct open_call open = location->open;
    if (!open.frame || !is_gone(open.frame, frame))
        return false;
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
    return true;
}
