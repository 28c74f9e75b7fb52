/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_STORE_H
#define SIGHT_TIMELINE_STORE_H

#include "convert/stream.h"

/* Internal: stores a trace of any format, or one that is not in order of time, as an event file in order of time.
   Nothing of its events and definitions is lost. Within a row time never goes back: an event that does is stored at the
   latest time before it. The reader stands at its begin; its end is reader->end afterwards. */
enum status store_events(struct reader *reader, const char *path, stream_watch *watch, void *watch_context,
                         struct error *err) MUST_CHECK;

#endif
