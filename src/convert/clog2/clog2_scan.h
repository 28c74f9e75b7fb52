/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_CLOG2_CLOG2_SCAN_H
#define SIGHT_CONVERT_CLOG2_CLOG2_SCAN_H

#include "convert/clog2/clog2_file.h"

#include <stddef.h>

/* Looking for the records of a file that are not events. */

/* Bytes of the file with such records. */
struct clog2_range {
    uint64_t from, to;
};
struct clog2_found {
    struct clog2_range *ranges; /* in the order of the file */
    size_t count, capacity;
    uint64_t bytes; /* of all ranges */
    uint64_t used;  /* where the records end */
};

/* Steps over events in the buffered part of the current block; it may stop at one. */
void clog2_skip_events(struct clog2_file *file);

/* True for the kinds that are stepped over. */
static inline bool clog2_is_plain_event(uint32_t kind)
{
    return kind == CLOG2_BARE || kind == CLOG2_CARGO || kind == CLOG2_MESSAGE;
}

/* Notes a record of `size` bytes at byte `at`, which follows those noted before. Records near each other share a range.
 */
void clog2_found_note(struct clog2_found *found, uint64_t at, size_t size);

/* Looks through a merged file, of which `file` has read the preamble, in several threads, each with an input
   of its own. False: there is only one thread, or anything that is not as it should be, or so many such records that
   all of it must be read once more anyway: then it must be looked through from begin to end. */
bool clog2_scan_parts(const struct clog2_file *file, struct clog2_found *found);

#endif
