/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_VIEWER_SLICES_H
#define SIGHT_CONVERT_VIEWER_SLICES_H

#include "convert/reader.h"

/* What readers of viewers' formats have in common: tracks of slices, moments and counters, which come in any order.
   They are sorted by time, on disk where they are many; an end closes the innermost slice of its track. */

struct slices;

struct slices *slices_new(struct defs *defs);
void slices_free(struct slices *slices);

/* The number of the track of a thread. Processes and threads are what the format calls them: any text. */
uint32_t slices_track(struct slices *slices, const char *process, const char *thread);

/* Names that viewers show. "rank 3" is a process's number if all processes that have events are named so, each
   differently; else processes are numbered in the order of their texts, numbers first. */
void slices_name_process(struct slices *slices, const char *process, const char *name);
void slices_name_thread(struct slices *slices, uint32_t track, const char *name);

/* A place in the source, as event.site; a file or function "" is not known. No other places may be defined. */
uint32_t slices_site(struct slices *slices, const char *file, int32_t line, const char *function);

/* `site`: as event.site. Failing: the disk is full. */
enum status slices_begin(struct slices *slices, uint32_t track, int64_t time_ns, const char *name, uint32_t site,
                         struct error *err) MUST_CHECK;
enum status slices_end(struct slices *slices, uint32_t track, int64_t time_ns, struct error *err) MUST_CHECK;
enum status slices_whole(struct slices *slices, uint32_t track, int64_t time_ns, int64_t duration_ns, const char *name,
                         uint32_t site, struct error *err) MUST_CHECK;
enum status slices_moment(struct slices *slices, uint32_t track, int64_t time_ns, const char *name,
                          struct error *err) MUST_CHECK;
/* A counter that has one value that is no integer is one of reals. */
enum status slices_counter(struct slices *slices, uint32_t track, int64_t time_ns, const char *name, double value,
                           struct error *err) MUST_CHECK;
/* An end of a message: EVENT_SEND or EVENT_RECEIVE, with partner, tag and bytes; time and place are filled in. */
enum status slices_message(struct slices *slices, uint32_t track, int64_t time_ns, struct event event,
                           struct error *err) MUST_CHECK;

/* When all is there: numbers processes and threads, and describes those that have names. */
enum status slices_sort(struct slices *slices, struct error *err) MUST_CHECK;

/* Fills the batch. STATUS_END: no more. Ends of slices that were not begun are counted as records. */
enum status slices_next(struct slices *slices, struct reader *reader, struct batch *batch,
                        struct error *err) MUST_CHECK;

#endif
