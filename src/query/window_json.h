/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_QUERY_WINDOW_JSON_H
#define SIGHT_QUERY_WINDOW_JSON_H

#include "query/tables.h"
#include "timeline/window.h"

/* A window of a timeline for programs: "sight-timeline/1", as sight-timeline(1) describes it. Times are on the trace's
   own clock. */

/* Reads what the analysis across processes says of the run: *trace, to be freed. NULL without a fault: standard input
   or a pipe cannot be read twice, or the run has more than OVERLAY_EVENTS events. */
enum status window_json_trace(const struct engine_request *request, const struct timeline_info *info,
                              struct query_trace **trace, struct error *err) MUST_CHECK;

/* States, messages and marks of the window; calls, waits, collectives, communicators and places in the source as the
   tables of queries have them, null where `trace` is. */
void window_json_write(struct output *output, const struct timeline *timeline, const struct timeline_view *view,
                       const struct timeline_window *window, struct query_trace *trace);

#endif
