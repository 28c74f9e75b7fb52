/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_VIEWER_PERFETTO_SCHED_H
#define SIGHT_CONVERT_VIEWER_PERFETTO_SCHED_H

#include "convert/viewer/protobuf.h"
#include "convert/viewer/slices.h"

/* What the kernel's scheduler did, from Perfetto's packets of kernel events (sched_switch, sched_waking): how long each
   thread was on a core, and how long it waited for one, as the counters that recordings have of that
   (core/resource_counter.h). */

struct perfetto_sched;
struct perfetto_sched *perfetto_sched_new(void);
void perfetto_sched_free(struct perfetto_sched *sched); /* NULL: nothing */

/* Takes an FtraceEventBundle: the events of one core, in the order of time. */
enum status perfetto_sched_take(struct perfetto_sched *sched, struct protobuf_message bundle,
                                struct error *err) MUST_CHECK;

/* A thread of the kernel's number `tid` has its slices on this track: readings are made while it has some. */
void perfetto_sched_thread(struct perfetto_sched *sched, uint32_t tid, uint32_t track);

/* When all is there: hands the readings to the slices. What is left out is counted as records. */
enum status perfetto_sched_read(struct perfetto_sched *sched, struct slices *slices, struct reader *reader,
                                struct error *err) MUST_CHECK;

#endif
