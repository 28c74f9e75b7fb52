/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_OUTER_CALL_H
#define SIGHT_RECORD_OUTER_CALL_H

#include "record/location.h"

/* MPI calls functions of the program, which may call MPI: then the thread has a call within a call. What it needs to
   go on with the outer one is put aside meanwhile, and what it waits for (struct record_pending), as it may still hang.
 */

/* Puts the open call aside. False without memory. */
bool outer_call_keep(struct location *location);

/* After the inner call: the outer one is the open one again. */
void outer_call_resume(struct location *location);

#endif
