/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_PYTHON_H
#define SIGHT_RECORD_PYTHON_H

#include "record/location.h"

/* Places in programs of Python: for calls of MPI that an extension module makes, and for samples. They are addresses
   like those of machine code, with RECORD_PYTHON_ADDRESS; the functions are numbered by each location, by what their
   code objects say and not by where these are: a code object that is freed and another one in its place have different
   numbers. */

/* Whether samples of this thread will need python_path: takes memory for it. */
void python_start(struct location *location);

/* The place in the program for a call that returns to `caller`: the line of Python that has called the extension module
   whose code that is; or, in other code, `caller` itself. New functions are defined at `ticks`. Where no line can be
   had for a call of an extension module it is `caller` with PYTHON_NO_PLACE: the next call from there may have one. */
#define PYTHON_NO_PLACE (UINT64_C(1) << 62)
uintptr_t python_caller(struct location *location, uintptr_t caller, int64_t ticks);

/* A frame of a thread's stack, and the lowest address of its part of the stack. */
struct python_level {
    uintptr_t address, low;
};

/* The thread ends: gives the memory back. */
void python_end(struct location *location);

/* In the handler of a sample: replaces the interpreter's frames among `levels` (the innermost first, `count` of at most
   `most`) by those of the program in Python. Returns how many there are then. */
size_t python_path(struct location *location, struct python_level *levels, size_t count, size_t most, int64_t ticks);

#endif
