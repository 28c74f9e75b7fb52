/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_CLOG2_READ_CLOG2_H
#define SIGHT_CONVERT_CLOG2_READ_CLOG2_H

#include "convert/clog2/clog2_scan.h"
#include "convert/reader.h"

/* Reading a part of a CLOG-2 trace (reader_seek): the additional functions for an index. Any record of a merged file
   with headers of 24 bytes can be reached if the file is uncompressed and not a pipe. */

/* Where the block of records begins in which byte `at` lies. */
uint64_t clog2_block_of(const struct reader *reader, uint64_t at);

/* Where the trace has records that are not events, so that clog2_open_known need not search them. */
struct clog2_known {
    const struct clog2_range *ranges; /* in the order of the file */
    size_t count;
    bool end_of_log; /* the trace has its end, and what follows it */
};
/* Borrowed from a reader that was opened as usual; nothing of another format's. */
struct clog2_known clog2_known(const struct reader *reader);

/* Opens a merged trace, reading no more than its definitions. It does not search for damage, nor count records,
   and leaves other threads to other readers of the trace. NULL and a fault. */
struct reader *clog2_open_known(const char *path, const struct clog2_known *known, struct error *err);

/* Before events are read: the reader has a count for every kind of record, also those that it will not meet, in the
   same order as all other readers. Nothing for a reader of another format. */
void clog2_count_every_kind(struct reader *reader);

/* Defines an event id without a definition, as if an event with it had been read: states and marks
   get their indices in this order. */
void clog2_define(struct reader *reader, int32_t id);

#endif
