/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_KEEP_H
#define SIGHT_RECORD_KEEP_H

#include "record/location.h"

/* Keeps exact totals of a thread and a sample of its records in a file that does not grow: see struct record_kept. It
   takes no time while records are written; when a block is full, the one before it is digested.

   Kept are the first segments; the longest; of the others one of 2^level groups of successive ones, by a hash of their
   numbers; and the last two blocks. When the area is full, the level rises, and what is no longer in the sample goes.
   All processes number segments alike, and see nearly the same durations: the merge takes those that all have kept. */

struct keep;

/* Sizes for a thread that may have so many bytes in recording and trace; never below what is needed to work at all. */
struct record_kept keep_sizes(uint64_t bytes, uint32_t *block_size);

/* Makes the file so large, and maps it. NULL and errno. */
struct keep *keep_open(struct own_file *file, const struct record_kept *sizes, uint32_t block_size, uint32_t world);

/* Unmaps the file. NULL: nothing. */
void keep_close(struct keep *keep);

/* Block `number` of the run, while it is one of the last two. */
unsigned char *keep_block(const struct keep *keep, uint64_t number);

/* Where that block is in the file. */
uint64_t keep_block_place(uint64_t number, uint32_t block_size);

/* Bytes that what is kept may take. */
uint64_t keep_area_size(const struct keep *keep);

/* Block `number` is full: the next one is ready afterwards. */
void keep_turn(struct keep *keep, uint64_t number);

#endif
