/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_FIX_CLOCKS_H
#define SIGHT_TIMELINE_FIX_CLOCKS_H

#include "clocks/clocks.h"
#include "convert/stream.h"

/* Reading a trace with its clocks corrected (clocks/clocks.h): it is read as a whole for what its clocks are wrong by,
   then its events begin anew, corrected on their way out. */

/* A trace that can be read a second time: one file (or standard input, which is kept in TMPDIR), or the files of one
   run, or their directory. NULL and a fault. */
struct reader *reader_open_twice(char *const *paths, size_t count, struct error *err);

/* Back to the first event of a trace that was opened so, with its correction. Takes the reader; NULL and a fault. */
struct reader *reader_again(struct reader *reader, char *const *paths, size_t count, struct error *err);

/* Corrects the clocks of a trace that was opened so. Takes the reader, which stands at its begin, and gives one that
   does. `watch` as stream_run has it. NULL and a fault. */
struct reader *reader_fix_clocks(struct reader *reader, char *const *paths, size_t count, stream_watch *watch,
                                 void *watch_context, struct error *err);

/* What the reader's clocks are corrected by; NULL: they are as recorded. */
const struct clocks *reader_clocks(const struct reader *reader);

#endif
