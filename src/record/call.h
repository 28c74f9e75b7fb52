/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_CALL_H
#define SIGHT_RECORD_CALL_H

#include "record/comms.h"
#include "record/recorder.h"

/* One call of an MPI function: what the wrappers and their hooks hand on. */
struct call {
    struct lane *lane;
    int64_t enter_ticks, leave_ticks; /* leave_ticks 0: not yet read */
    uint32_t function;
    uint32_t comm;         /* or window of the call as this process numbers it; RECORD_WORLD where it has none */
    uint32_t matched_comm; /* of the message that a matched receive takes */
    bool write;            /* its events are recorded */
    uint64_t send_at;      /* where its send is recorded; 0: nowhere */
    uintptr_t *requests;   /* handles before the call, for those that complete requests */
    uintptr_t request;     /* the same of a single one */
    MPI_Status status;     /* where the program asks for none */
};

/* Begins a call: false where it is not to be followed, because nothing is recorded or MPI calls itself. */
static inline bool call_begin(struct call *call, enum function function)
{
    struct lane *lane = lane_mine;
    if (__builtin_expect(!lane, 0)) {
        lane = recorder.started ? recorder_attach() : NULL;
        if (!lane)
            return false;
    }
    if (lane->inside || !recorder.started)
        return false;
    lane->inside = true;
    call->lane = lane;
    call->function = function;
    call->write = recorder.on && !recorder.skip[function];
    call->send_at = 0;
    return true;
}

/* Records the entry. */
void call_enter(struct call *call, const void *caller, uint32_t comm);

/* The address to which the wrapper at hand returns. */
#define CALLER __builtin_return_address(0)

/* call_begin, and the entry of a function without a communicator, with one, and with a window; `caller` is CALLER. */
bool call_of(struct call *call, enum function function, const void *caller);
bool call_on(struct call *call, enum function function, const void *caller, MPI_Comm comm);
bool call_on_window(struct call *call, enum function function, const void *caller, MPI_Win win);

/* The time at which the call ended, taken once: a receive has the time of the leave that follows. */
int64_t call_end(struct call *call);

/* Ends a call: records the leave. */
void call_leave(struct call *call);

#endif
