/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_RECORD_RECORD_TRANSLATE_H
#define SIGHT_CONVERT_RECORD_RECORD_TRANSLATE_H

#include "convert/record/record_state.h"

/* One record becomes events of all formats' kind. */

/* Adds the events of the stream's record to the batch, EVENTS_PER_RECORD at most. Without a record: of its end. */
void record_translate(struct reader *reader, const struct record_stream *stream, struct batch *batch);

/* Whether a record has the length that its kind needs: a shorter one of a damaged file would be read beyond its end. */
bool record_is_whole(const struct record_base *record);

/* event.site of the stream's record, a struct record_enter. */
uint32_t record_site(const struct record_state *state, const struct record_stream *stream);

#endif
