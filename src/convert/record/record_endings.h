/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_RECORD_RECORD_ENDINGS_H
#define SIGHT_CONVERT_RECORD_RECORD_ENDINGS_H

#include "convert/record/record_state.h"

/* How processes ended that did not finalise MPI: marks with what each was waiting for, and until when it lived. */

/* At the mark of a stream's end: if its process crashed or exited, its state at that time. */
void record_died_events(struct record_state *state, const struct record_stream *stream, const struct defs *defs,
                        struct batch *batch);

/* After all records: adds as many of the marks as there is room for. False: none was left. */
bool record_endings_report(struct record_state *state, const struct defs *defs, struct batch *batch);

#endif
