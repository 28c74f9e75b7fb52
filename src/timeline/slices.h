/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_SLICES_H
#define SIGHT_TIMELINE_SLICES_H

#include "convert/clog2/read_clog2.h"
#include "convert/stream.h"
#include "metrics/accumulator.h"

/* A CLOG-2 file read in slices: each is a row of blocks with a reader of its own in a thread of its own. What is made
   of them is put together in the order of the file, and is identical to what one pass makes: anything that could make a
   difference (damage, ids without definitions, states open beyond the limit) is left to one pass. A trace of so many
   processes that the sums of a slice take longer than its events is read by each thread as a whole, for some of the
   processes. */

/* True if parts of a trace just opened from `paths`, each read by itself, add up to one pass. */
bool slices_add_up(const struct reader *reader, char *const *paths, size_t count);

/* How many of the requested slices are worthwhile for a trace just opened from `paths`; below 2: read it in one pass.
 */
unsigned slices_worth(const struct reader *reader, char *const *paths, size_t count, unsigned slices);

/* How many slices of processes are worthwhile, of at most so many, where slices of the time are not because the trace
   has too many processes; below 2: none. */
unsigned slices_worth_by_process(const struct reader *reader, char *const *paths, size_t count, unsigned slices);

/* How several readers with memory of their own divide a trace among them: each of them has some processes of one slice
   of the time. */
struct slicing {
    unsigned slices, groups; /* of processes */
};

/* The fastest way for at most so many readers whose sums are then merged, by the costs that docs/scale.md has measured;
   one slice and one group: it is to be read in one pass. */
struct slicing slices_plan(const struct reader *reader, char *const *paths, size_t count, unsigned readers);

/* What another reader needs to know to read the whole trace that `reader` was just opened on from `paths`, without a
   pass for its definitions; no `end_of_log`: it cannot do without. Borrowed from `reader`. */
struct clog2_known slices_known(const struct reader *reader, char *const *paths, size_t count);

/* That other reader, in any process. NULL: it cannot be had. */
struct reader *slices_open_whole(const char *path, const struct clog2_known *known);

/* Another reader of the whole trace that `reader` was just opened on from `paths`, with the same definitions: for two
   threads that each read all of it (stream_exactly), for different sinks. NULL: it cannot be had, or reading twice at
   once would not be faster than reading once. */
struct reader *slices_second_reader(const struct reader *reader, char *const *paths, size_t count);

/* The whole trace `path`, a CLOG-2 file that can be read from the middle, in so many slices (at least 2), of the time
   or of processes. `reader` is the one that it was just opened with: it stays the caller's, and reads the last slice.
   NULL: they cannot be had. */
struct slices;
struct slices *slices_open(struct reader *reader, const char *path, unsigned count, bool by_process);

/* Reads all slices, each in a thread: that of index i into `each` sinks from i * each on. `watch` sees the reader of
   the first slice; the others are as long. Afterwards the reader that the trace was opened with is at its end, and has
   counted the records of all slices. False: the trace must be read again, in one pass, which also reports any fault. */
bool slices_run(struct slices *slices, struct sink *const *sinks, size_t each, stream_watch *watch, void *context);

/* Closes the other readers: what was made of their slices must not be used any more, unless it was given the
   definitions of the first reader. NULL: nothing. */
void slices_close(struct slices *slices);

/* Metrics of the whole trace, in the same way. NULL: it must be read again, in one pass. */
struct accumulator *slices_accumulate(struct reader *reader, const char *path, unsigned slices, bool by_process,
                                      struct accumulator_options what, stream_watch *watch, void *context);

/* The bytes of slice `index` of `count`: whole blocks of the trace that `reader` was just opened with, for reader_seek.
 */
void slices_range(const struct reader *reader, unsigned count, unsigned index, uint64_t *from, uint64_t *to);

/* Reads one slice, which is all that a reader of its own will give, and counts all kinds of records, in the order of
   clog2_count_every_kind. False: the trace must be read in one pass. */
bool slices_read(struct reader *reader, struct sink *const *sinks, size_t count, stream_watch *watch, void *context);

#endif
