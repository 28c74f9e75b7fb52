/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_LEFT_CALL_H
#define SIGHT_RECORD_LEFT_CALL_H

#include "record/call.h"

/* Calls that never return: an error handler, or a signal handler, jumps out of them (longjmp, exceptions of C++). The
   next call finds out, by looking for the stack frame of the one before. */

/* For a call that begins while another one is open; `frame` is somewhere in the frame of its wrapper. If that was left,
   it is ended now: its state ends here, its send did not happen, and its requests go on. True if the call is to be
   recorded: nothing is open any more, or MPI has called the program, which makes this call. */
bool inner_call_begin(struct location *location, enum function function, const void *frame);

#endif
