/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_RECORD_RECORD_PAST_H
#define SIGHT_CONVERT_RECORD_RECORD_PAST_H

#include "convert/record/record_file.h"

/* The records of a file that were passed over (record_file_skip), counted: some ns for each, instead of the hundred
   that an event costs. */

enum { RECORD_PAST_LAST = 4 };

/* Messages of one kind to or from a partner. */
struct record_past_channel {
    uint8_t kind; /* RECORD_SEND, RECORD_RECEIVE */
    uint16_t function;
    uint32_t comm, site; /* function and site of the last send */
    int32_t partner, tag;
    uint64_t count;
};

/* Collectives on a communicator. */
struct record_past_collectives {
    uint32_t comm;
    uint64_t count;
    uint64_t known;                  /* of the last ones the functions are known */
    uint16_t last[RECORD_PAST_LAST]; /* that of number n at n % RECORD_PAST_LAST */
};

struct record_past {
    uint8_t needs[RECORD_FUNCTIONS_MAX]; /* enum past_need (core/past.h) */
    /* A record of a function with PAST_EVENTS, or the definition of a communicator. */
    void (*event)(void *context, const struct record_base *record);
    /* Progress was made then: called once in `progress_ticks`, and with the time up to the end of MPI_Init. */
    void (*progress)(void *context, int64_t from_ticks, int64_t to_ticks);
    int64_t progress_ticks;
    int64_t last_ticks; /* of the last progress; 0: there was none */
    uint64_t failed;    /* tests since then */
    void *context;
    uint64_t pause_bytes; /* to read, at most, only to find out how long pauses were */
    struct record_past_channel *channels;
    size_t channel_count, channel_capacity;
    uint32_t *index; /* of channels, by hash: place + 1 */
    size_t index_size;
    struct record_past_collectives *collectives;
    size_t collective_count, collective_capacity;
    /* While it is read. */
    const struct record_file *file;
    int64_t ticks, progress_at;
    uint32_t site;
    uint16_t function;
    bool open, result; /* a call is open; it has completed something */
};

/* Counts what was passed over. The caller has set the needs, the functions, their context and the ticks. False: it is
   damaged. */
bool record_past_read(struct record_past *past, const struct record_file *file);

/* For record_past_walk.c: counts the records from one position to another, a call of the past's function being open;
   adds messages like those of a row of a tally; and collectives. */
bool record_past_span(struct record_past *past, uint64_t from, uint64_t to);
void record_past_add_messages(struct record_past *past, const struct record_tally *row, uint64_t count);
void record_past_add_collectives(struct record_past *past, uint32_t comm, uint64_t count);

void record_past_clear(struct record_past *past);

#endif
