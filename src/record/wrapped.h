/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_WRAPPED_H
#define SIGHT_RECORD_WRAPPED_H

#include <stdint.h>

/* Small functions of the program that may do nothing but call MPI for others. */

/* The program has called MPI, and the return address is at `stack`. If the function that it is in is a small one with a
   small frame: so many bytes above `stack` is the return address of that function. 0: it is none, or not known. The
   distance is the same in all calls from there, unless the function has an array of variable length. */
uint32_t wrapped_depth(const uintptr_t *stack);

#endif
