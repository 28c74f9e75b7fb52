/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_CLOG2_WRITE_CLOG2_RECORD_H
#define SIGHT_CONVERT_CLOG2_WRITE_CLOG2_RECORD_H

#include "convert/clog2/write_clog2.h"

/* Records of a CLOG-2 file, in blocks. */

/* Where a record comes from. */
struct clog2_place {
    int64_t time_ns;
    double seconds; /* instead of time_ns, for the end of the log */
    int32_t comm_id, rank;
    uint32_t thread;
};

/* Starts a record; returns its payload, zeroed, to be filled. */
unsigned char *clog2_put_record(struct clog2_writer *clog2, const struct clog2_place *place, enum clog2_record kind);

/* Writes the block in full; what is not used of it is zero. */
void clog2_block_write(struct clog2_writer *clog2);

#endif
