/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_OPENMP_RUNTIME_H
#define SIGHT_RECORD_OPENMP_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

/* OpenMP's parallel regions, as the runtime of an unmodified program shows them: GCC's libgomp is called through the
   functions of gomp.def, LLVM's libomp calls back (OMPT, OpenMP 5.0, chapter 4). Only outermost regions:
   nested ones are part of them. What is done with them is the business of the file that defines these functions;
   openmp.c adds up times, openmp_states.c records states. */

/* Variables of a thread: in a library that is loaded with the program, reading them needs no call. */
#define OPENMP_OWN __attribute__((tls_model("initial-exec")))

/* A region begins on this thread, its master; the byte before `address` is in its code. The result identifies the team
   in the other calls; 0: this execution is not recorded. */
uint64_t openmp_begin(uintptr_t address);

/* This thread takes part, and then does nothing more but wait for the region's end. */
void openmp_join(uint64_t team, bool master);
void openmp_idle(uint64_t team, bool master);

/* The region has ended on its master, which need not have been idle: one thread alone waits for nobody. */
void openmp_end(uint64_t team);

/* The address that openmp_begin was given. */
uintptr_t openmp_address(uint64_t team);

#endif
