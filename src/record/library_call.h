/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_LIBRARY_CALL_H
#define SIGHT_RECORD_LIBRARY_CALL_H

#include "record/location.h"

/* Calls of MPI by a library that the program uses: from where in the program's own file that library was called.

   Unwinding takes microseconds. But from one place in the code its caller's return address is always equally far up the
   stack, unless the function has an array of variable length. So the way up is remembered, and later calls that find
   the same return addresses there have come the same way, from wherever the program has called. */

/* True for an address in the program's own file. */
bool library_call_is_own(uintptr_t address);

/* Where the program has called the library, which calls MPI at `caller`; the return address is at `stack`. 0: by no way
   that is known. What was not there before is to be compared with library_call_unwind(). */
uintptr_t library_call_outer(const struct location *location, uintptr_t caller, const uintptr_t *stack);

/* The same by unwinding; the way is known from now on. 0: there is no such place, or there are too many ways. */
uintptr_t library_call_unwind(struct location *location, uintptr_t caller, const uintptr_t *stack);

#endif
