/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_CALL_H
#define SIGHT_RECORD_CALL_H

#include "record/comms.h"
#include "record/recorder.h"

/* One call of an MPI function: passed between the wrappers and their hooks. */
struct call {
    struct location *location;
    int64_t enter_ticks, leave_ticks; /* leave_ticks 0: not yet read */
    uint32_t function;
    uint32_t comm;         /* or window of the call as this process numbers it; RECORD_WORLD if it has none */
    uint32_t matched_comm; /* of the message for a matched receive */
    bool write;            /* its events are recorded */
    bool comm_new;         /* `comm` is not known yet: call_comm_end */
    bool bytes_unknown;    /* of its send: message_sent */
    uint64_t send_at;      /* where its send is recorded; 0: nowhere */
    struct record_request **requests; /* that the call may complete, by their places in its arguments; see requests.h */
    size_t request_count;
    struct request_start *starts; /* of persistent requests, in the same way */
    size_t start_count;
    MPI_Status status; /* where the program asks for none */
};

/* See left_call.h. */
bool inner_call_begin(struct location *location, enum function function, const void *frame);

/* Begins a call: false if it is not to be recorded, because recording is off or MPI calls itself. One that the program
   makes where MPI has called it is recorded within the other. */
static inline bool call_begin(struct call *call, enum function function)
{
    struct location *location = location_mine;
    if (__builtin_expect(!location, 0)) {
        location = recorder_started() ? recorder_attach() : NULL;
        if (!location)
            return false;
    }
    if (!recorder_started())
        return false;
    if (__builtin_expect(location->inside, 0) && !inner_call_begin(location, function, call))
        return false;
    location_busy(location);
    call->location = location;
    call->function = function;
    call->write = recorder.on && !recorder.skip[function];
    call->comm_new = false;
    call->send_at = 0;
    return true;
}

/* Where the return address of the current wrapper is: on the stack, where that is known. */
#ifdef __x86_64__
enum { CALLER_ON_STACK = 1 };
#define CALLER ((const uintptr_t *)__builtin_dwarf_cfa() - 1)
#else
enum { CALLER_ON_STACK = 0 };
#define CALLER (&(const uintptr_t){(uintptr_t)__builtin_return_address(0)})
#endif

/* Records the entry; `caller` is CALLER. */
void call_enter(struct call *call, const uintptr_t *caller, uint32_t comm);

/* call_begin, and the entry of a function without a communicator, with one, and with a window; `caller` is CALLER. */
bool call_of(struct call *call, enum function function, const uintptr_t *caller);
bool call_on(struct call *call, enum function function, const uintptr_t *caller, MPI_Comm comm);
bool call_on_window(struct call *call, enum function function, const uintptr_t *caller, MPI_Win win);

/* After a call on a communicator that was not known (comm_new): MPI can be asked about it if the call has succeeded. */
void call_comm_end(struct call *call, MPI_Comm comm, int outcome);

/* The time at which the call ended, taken once: a receive has the time of the leave that follows. */
int64_t call_end(struct call *call);

/* Ends a call: records the leave. */
void call_leave(struct call *call);

#endif
