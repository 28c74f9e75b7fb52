/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_TAPE_H
#define SIGHT_TIMELINE_TAPE_H

#include "core/error.h"

#include <stddef.h>
#include <stdint.h>

/* Internal: data that are written once and then read once, both from begin to end. What is more than a buffer is in an
   unlinked file in TMPDIR; unlike a spill it costs no page faults. All zero: an empty one. */
struct tape {
    unsigned char *buffer;
    size_t used, at;        /* bytes in the buffer, and of these read */
    uint64_t size;          /* of all data */
    uint64_t written, read; /* bytes of the file */
    int file;               /* 0: there is none */
    struct error fault;     /* sticky: the data were not added */
};

void tape_add(struct tape *tape, const void *data, size_t size);

/* The fault, if there was one. */
enum status tape_check(const struct tape *tape, struct error *err) MUST_CHECK;

/* The next bytes, up to `size`; fewer at the end only. From the first call on nothing can be added. */
enum status tape_read(struct tape *tape, void *data, size_t size, size_t *got, struct error *err) MUST_CHECK;

/* Appends all of another one, which is cleared. */
enum status tape_append(struct tape *tape, struct tape *other, struct error *err) MUST_CHECK;

void tape_clear(struct tape *tape);

#endif
