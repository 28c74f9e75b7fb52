/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_CLOG2_READ_CLOG2_STATE_H
#define SIGHT_CONVERT_CLOG2_READ_CLOG2_STATE_H

#include "convert/clog2/clog2_defs.h"
#include "convert/clog2/clog2_file.h"
#include "convert/clog2/clog2_scan.h"
#include "convert/reader.h"

/* What the parts of the reader of CLOG-2 share (reader->state). */

/* One file of the trace; a merged trace is one. */
struct clog2_part {
    char *path; /* NULL: the input that the reader was given */
    struct clog2_part_defs defs;
};

struct clog2_state {
    struct clog2_file file; /* of the current part */
    struct clog2_defs defs;
    struct clog2_part *parts;
    size_t part_count, current;
    double shift; /* seconds to add to the times of a local file */
    uint64_t kinds[CLOG2_KINDS];
    size_t ended; /* parts that had their end-of-log record */
    uint64_t used, total;
    uint64_t limit; /* byte at which reading stops; see clog2_pass_seek */
    bool selecting; /* only events of `selected` processes from `first` on are given */
    uint32_t first, selected;
    struct clog2_found found; /* definitions of the first part */
};

/* True if events of this process are given. */
static inline bool clog2_selects(const struct clog2_state *state, uint32_t process)
{
    return !state->selecting || process - state->first < state->selected;
}

#endif
