/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_RECORD_RECORD_COUNTERS_H
#define SIGHT_CONVERT_RECORD_RECORD_COUNTERS_H

#include "convert/record/record_state.h"

/* What the recorder measured besides calls: resources, counters, the machine, samples. Each function turns the stream's
   record of its kind into events like `base`. */

/* Resources that the process has used since the run began. */
void record_resources_events(struct record_state *state, const struct record_stream *stream, const struct event *base,
                             struct batch *batch);

/* A counter of the thread. */
void record_counter_event(struct record_state *state, const struct record_stream *stream, const struct event *base,
                          struct batch *batch);

/* Facts about the machine, once for each process: counters that do not change. */
void record_machine_events(struct record_state *state, const struct record_stream *stream, const struct event *base,
                           struct batch *batch);

/* A sample stands for a period of CPU time, more of them if the timer's signals were merged meanwhile. */
void record_sample_event(struct record_state *state, const struct record_stream *stream, const struct defs *defs,
                         const struct event *base, struct batch *batch);

#endif
