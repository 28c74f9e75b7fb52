/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/call.h"

#include "record/clock.h"
#include "record/outer_call.h"
#include "record/real.h"

/* Inline in all of its callers here. */
static inline void enter(struct call *call, const uintptr_t *caller, uint32_t comm)
{
    call->comm = comm;
    call->leave_ticks = 0;
    call->location->open =
        (struct open_call){.frame = call, .function = call->function, .comm = comm, .write = call->write};
    if (!call->write)
        return;
    /* The clock is read before anything is written, so that writing counts as part of the call. */
    call->enter_ticks = clock_entry();
    recorder_enter(call->location, call->function, real_caller((const void *)*caller), CALLER_ON_STACK ? caller : NULL,
                   comm, call->enter_ticks);
}

void call_enter(struct call *call, const uintptr_t *caller, uint32_t comm)
{
    enter(call, caller, comm);
}

bool call_of(struct call *call, enum function function, const uintptr_t *caller)
{
    if (!call_begin(call, function))
        return false;
    enter(call, caller, RECORD_WORLD);
    return true;
}

bool call_on(struct call *call, enum function function, const uintptr_t *caller, MPI_Comm comm)
{
    if (!call_begin(call, function))
        return false;
    enter(call, caller, comm_number(call->location, comm, &call->comm_new));
    return true;
}

void call_comm_end(struct call *call, MPI_Comm comm, int outcome)
{
    if (outcome == MPI_SUCCESS)
        comm_look(call->location, call->comm, comm);
    else
        /* A failed call that should have made it known leaves nothing: the handle may not exist. */
        comm_drop(call->comm, comm);
}

bool call_on_window(struct call *call, enum function function, const uintptr_t *caller, MPI_Win win)
{
    if (!call_begin(call, function))
        return false;
    enter(call, caller, window_number(call->location, win));
    return true;
}

int64_t call_end(struct call *call)
{
    /* Read once: records written at the end of the call all have its time. */
    if (call->leave_ticks == 0)
        call->leave_ticks = clock_now();
    return call->leave_ticks;
}

void call_leave(struct call *call)
{
    if (call->write)
        location_put(call->location, RECORD_LEAVE, call_end(call), call->function, call->comm);
    if (__builtin_expect(call->location->outer != NULL, 0)) {
        outer_call_resume(call->location);
        return;
    }
    call->location->open.frame = NULL;
    location_done(call->location, false);
}
