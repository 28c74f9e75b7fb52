/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_STREAM_H
#define SIGHT_CONVERT_STREAM_H

#include "convert/reader.h"

/* The one loop: reads a trace to its end and hands every batch to all sinks. */

/* Called about once a batch, for progress and interruption; false stops the work (status STATUS_FAILED, err untouched).
 */
typedef bool stream_watch(void *context, const struct reader *reader);

enum status stream_run(struct reader *reader, struct sink *const *sinks, size_t count, stream_watch *watch,
                       void *context, struct error *err) MUST_CHECK;

/* The same for one of several readers of a trace, whose results are to be put together. False if anything that it reads
   is damaged or without definition, or if the watch (NULL: none) ended the work: then one reader has to read all. */
bool stream_exactly(struct reader *reader, struct sink *const *sinks, size_t count, stream_watch *watch, void *context);

#endif
