/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_RECORD_RECORD_KEPT_H
#define SIGHT_CONVERT_RECORD_RECORD_KEPT_H

#include "core/error.h"
#include "core/record_format.h"

#include <stdbool.h>
#include <stddef.h>

/* What a file has whose recorder kept totals and a sample (struct record_kept of record_format.h): its records as one
   stream, in which segments are left out, and the totals of all. */

struct record_file;

/* A segment, or the end of the run, whose last segment has not ended. */
struct record_kept_piece {
    struct record_segment segment;
    size_t begin, end; /* of its records, in the stream; after `end` come the numbers of its channels */
    size_t after;
    int64_t begin_ticks, end_ticks;
    uint64_t before, events;
    uint32_t why;     /* enum record_why; 0: it is of the end */
    bool whole;       /* all of it is here */
    bool selected;    /* by record_plan.h */
    bool after_gap;   /* selected, and something before it is left out */
    int64_t shift_ns; /* to subtract from its times */
};

struct record_kept_stream {
    unsigned char *bytes;
    size_t size;
    struct {
        size_t begin;      /* in the stream */
        uint64_t position; /* see record_format.h */
    } blocks[2];           /* that the recorder had not digested */
    size_t block_count;
    struct record_kept_piece *pieces; /* in order */
    size_t piece_count, piece_capacity;
    size_t *definitions; /* where they are in the stream, in order */
    size_t definition_count, definition_capacity;
    struct record_totals *totals; /* of all records */
    size_t *dropped;              /* messages that are left out, as the other end is: places in the stream, in order */
    size_t dropped_count, dropped_capacity;
    size_t piece, drop; /* while reading: the next ones */
    bool outside;       /* while reading: the last record is a definition of what is left out */
    bool gap;           /* while reading: something is left out before the record that was read last */
    int64_t shift_ns;   /* the same: of the piece that it is in */
};

/* Reads it from a file whose header has been read. On a fault NULL. */
struct record_kept_stream *record_kept_load(const char *path, const struct record_header *header, uint64_t size,
                                            struct error *err);
void record_kept_free(struct record_kept_stream *kept);

/* The position of a place in the stream; 0 outside of the last blocks. */
uint64_t record_kept_position(const struct record_kept_stream *kept, size_t at);

/* What is left out before the piece of the record that was read last. */
struct record_gap {
    uint64_t events;
    int64_t from_ticks, to_ticks;
};
struct record_gap record_kept_gap(const struct record_kept_stream *kept);

/* Where the next record is that is to be read, from a place in the stream on; the stream's end: there is none. `ticks`
   is the time of the record before, and becomes that of the one before the result. */
size_t record_kept_skip(struct record_kept_stream *kept, size_t at, int64_t *ticks);

#endif
