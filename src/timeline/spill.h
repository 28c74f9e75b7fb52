/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_SPILL_H
#define SIGHT_TIMELINE_SPILL_H

#include "core/error.h"

#include <stddef.h>

/* Internal: a growing array in an unlinked file in TMPDIR, mapped to memory: what it holds can be changed, and the
   system can put it to disk when memory gets short. */
struct spill {
    unsigned char *data; /* moves as it grows */
    size_t size, capacity;
    int file;
    bool failed; /* no room: sticky, the data were not added */
};

enum status spill_open(struct spill *spill, struct error *err) MUST_CHECK;
void spill_close(struct spill *spill); /* of one that was never opened: must be all zero */

/* Appends; nothing once it failed. */
void spill_add(struct spill *spill, const void *data, size_t size);

/* Makes room for so many bytes at its end, which are 0 until they are set; false once it failed. */
bool spill_make_room(struct spill *spill, size_t size) MUST_CHECK;

/* The fault, if there was one. */
enum status spill_check(const struct spill *spill, struct error *err) MUST_CHECK;

#endif
