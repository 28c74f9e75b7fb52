/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/stack.h"

#include "record/real.h"

#include <stdbool.h>
#include <unwind.h>

/* Goes up the stack to the frame that has `place`. Stacks grow down: a frame reaches from its stack pointer to that of
   its caller. */
struct search {
    uintptr_t place, current; /* where the open call's frame was; somewhere in that of the call that begins */
    uintptr_t low;            /* of the frame before */
    const void *code, *below; /* code of the frame before, and of the one before that */
    const void *caller;       /* the first that is not the recorder's; NULL: not there yet */
    unsigned wrappers;        /* frames of wrappers above it */
    bool interrupted;         /* a signal's handler is above it */
    bool found, gone;
};

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *argument)
{
    struct search *search = argument;
    uintptr_t high = _Unwind_GetCFA(context); /* of the caller's frame, the lowest address of this one */
    if (high > search->place) {
        /* The first frames, to that of the call that begins, are new. */
        search->found = true;
        search->gone = search->low <= search->current || !real_is_recorder(search->code);
        return _URC_END_OF_STACK;
    }
    search->low = high;
    search->below = search->code;
    int signal = 0;
    search->code = (const void *)_Unwind_GetIPInfo(context, &signal);
    search->interrupted |= signal != 0;
    /* Below the frame of the call that begins is the recorder, of which a program that contains it knows the wrappers
       only. */
    if (high <= search->current)
        return _URC_NO_REASON;
    if (search->caller)
        search->wrappers += real_is_recorder(search->code) && !real_stands_between(search->code);
    else if (!real_is_recorder(search->code) && !real_called_from_fortran(search->code))
        search->caller = search->code;
    return _URC_NO_REASON;
}

enum stack_answer stack_look(const void *open, const void *current)
{
    struct search search = {.place = (uintptr_t)open, .current = (uintptr_t)current};
    _Unwind_Backtrace(on_frame, &search);
    /* Unknown is not gone: a call that is missing does less harm than one that ends while it goes on. */
    if (!search.found)
        return STACK_UNKNOWN;
    if (search.gone)
        return STACK_LEFT;
    /* Only where the open call's wrapper waits for MPI: a signal's handler may have interrupted the recorder while it
       writes, or the allocator, and have little stack. */
    bool waits = !search.interrupted && search.wrappers == 1 && search.below && real_may_be_mpi(search.below);
    return waits && !real_is_mpi(search.caller) ? STACK_CALLBACK : STACK_UNKNOWN;
}
