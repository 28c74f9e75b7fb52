/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_RECORD_RECORD_TALLIES_H
#define SIGHT_CONVERT_RECORD_RECORD_TALLIES_H

#include "convert/record/record_file.h"

/* The tallies of a file (struct record_tally): places up to which its records have been counted when it was written.
   Recordings of earlier versions have none, nor do those whose sends became void. */

struct record_mark {
    uint64_t at, end; /* positions: it counts what is before `at`; records go on at `end` */
    int64_t ticks;    /* of the record before */
};
struct record_marks {
    struct record_mark *marks; /* the first is the begin of the file, which has no tally */
    size_t count, capacity;
};

/* Those before a position. */
void record_marks_find(struct record_marks *marks, const struct record_file *file, uint64_t before);
void record_marks_free(struct record_marks *marks);

/* The last one; false: there is none. */
bool record_marks_last(const struct record_file *file, struct record_mark *mark);

/* A tally: rows in order of record_tally_order; of the begin of the file there is none. */
struct record_tally_rows {
    struct record_tally *rows;
    size_t count;
    uint32_t function, site; /* of the last entry before it */
};

/* False: it is not whole. */
bool record_tally_load(struct record_tally_rows *rows, const struct record_file *file, const struct record_mark *mark);
void record_tally_clear(struct record_tally_rows *rows);

/* By what they count: below, equal to or above 0. */
int record_tally_order(const struct record_tally *left, const struct record_tally *right);

#endif
