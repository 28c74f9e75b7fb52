/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_FIX_CLOCKS_H
#define SIGHT_TIMELINE_FIX_CLOCKS_H

#include "clocks/clocks.h"
#include "convert/stream.h"

/* Reading a trace with its clocks corrected (clocks/clocks.h): it is read as a whole to find the clock errors, then
   read again with corrected events. */

/* A trace that can be read a second time: one file (or standard input, which is kept in TMPDIR), or the files of one
   run, or their directory. NULL and a fault. */
struct reader *reader_open_twice(char *const *paths, size_t count, struct error *err);

/* Back to the first event of a trace that was opened so, with its correction. Takes the reader; NULL and a fault. */
struct reader *reader_again(struct reader *reader, char *const *paths, size_t count, struct error *err);

/* Corrects the clocks of a trace that was opened so. Takes the reader, which is at its begin, and returns one that is,
   too. `watch` as in stream_run. NULL and a fault. */
struct reader *reader_fix_clocks(struct reader *reader, char *const *paths, size_t count, stream_watch *watch,
                                 void *watch_context, struct error *err);

/* The correction of the reader's clocks; NULL: they are as recorded. */
const struct clocks *reader_clocks(const struct reader *reader);

#endif
