/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_ENDING_H
#define SIGHT_CORE_ENDING_H

#include <stddef.h>
#include <stdint.h>

enum { ENDING_TEXT_SIZE = 120 };

/* How a process ended that did not reach MPI_Finalize, from its PENDING_MARK_NAME: "crashed with signal 11 (SIGSEGV)",
   "exited with code 3 and without MPI_Finalize". `what`: enum pending_what. "": another one, or nothing is known, as of
   those that others end. */
char *ending_text(char text[ENDING_TEXT_SIZE], int32_t what, int32_t code);

/* The same in a word or two: "crashed", "exited". */
const char *ending_word(int32_t what);

#endif
