/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_RECORD_RECORD_STREAMS_H
#define SIGHT_CONVERT_RECORD_RECORD_STREAMS_H

#include "convert/record/record_state.h"

/* The buffer files of a recording as streams in the order of time: state->heap[0] is the earliest of state->count. */

enum { RECORD_WINDOW_MAX = 1 << 20 /* bytes of a file that are mapped at once */ };

/* Puts all streams at their first record, or where reading begins late (late_bytes). The time of the earliest first
   record becomes the trace's time 0. */
void record_streams_start(struct record_state *state);

/* The first stream goes on to its next record, or to the mark of its end; after that it is no longer in the heap. */
void record_streams_advance(struct record_state *state);

/* Only those of some processes are read (struct format_processes). */
void record_streams_select(struct reader *reader, size_t from, size_t to);
void record_streams_choose(struct reader *reader, const unsigned char *chosen);

/* Sets the stream's time to these ticks, unless it is later already. */
void record_stream_set_time(struct record_state *state, struct record_stream *stream, int64_t ticks);

#endif
