/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_CLOG2_READ_CLOG2_EVENTS_H
#define SIGHT_CONVERT_CLOG2_READ_CLOG2_EVENTS_H

#include "convert/clog2/read_clog2_state.h"

/* Records of a CLOG-2 trace become events. */

/* Translates the record at `at` to `event`, which is the batch's next; false if it gives none. */
bool clog2_record_event(struct clog2_state *state, uint32_t kind, const unsigned char *at, struct batch *batch,
                        struct event *event);

/* Translates the plain records that come next, with headers of 24 bytes: none, or as many as are in memory and fit the
   batch. */
void clog2_fast_events(struct clog2_state *state, struct batch *batch);

#endif
