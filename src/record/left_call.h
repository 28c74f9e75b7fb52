/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_LEFT_CALL_H
#define SIGHT_RECORD_LEFT_CALL_H

#include "record/call.h"

/* Calls that never return: an error handler, or a signal handler, jumps out of them (longjmp, exceptions of C++). The
   next call finds out, by looking for the stack frame of the one before. */

/* For a call that begins while another one is open; `frame` is somewhere in the stack frame of its wrapper. If the open
   one was left, it is ended now: its state ends here, its send did not happen, and its requests go on. Otherwise
   false: MPI, or what it calls, calls MPI. */
bool left_call_end(struct location *location, const void *frame);

#endif
