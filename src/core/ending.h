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
const char *ending_word(int32_t what, int32_t code);

/* Those of several processes that ended so: the first two of them, and the word for all: "killed", or "ended early" if
   they differ. Others are not added. */
enum { ENDINGS_NAMED = 2 };
struct endings {
    size_t count;
    uint32_t process[ENDINGS_NAMED];
    const char *word;
};
void endings_add(struct endings *endings, uint32_t process, int32_t what, int32_t code);

/* "37 killed", "37 and 40 killed", "5 of 16 killed" or "all 16 killed"; there is one at least. */
char *endings_text(char text[ENDING_TEXT_SIZE], const struct endings *endings, size_t all);

#endif
