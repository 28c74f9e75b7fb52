/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_ENGINE_SPAN_H
#define SIGHT_ENGINE_SPAN_H

#include "engine/engine.h"
#include "metrics/accumulator.h"

/* For the engine: a request's window on the clock of its trace. */

/* The accumulator's options for a run from begin_ns to end_ns. A bound that cuts nothing off is dropped: the trace's
   last event belongs to a window that reaches to its end. A window with nothing of the run is a fault. */
enum status span_window(const struct engine_window *window, int64_t begin_ns, int64_t end_ns,
                        struct accumulator_options *found, struct error *err) MUST_CHECK;

/* The same where begin and end are not known yet: reads the trace for them and opens it again. The reader is replaced;
   NULL on a fault. Standard input is one. */
enum status span_find(const struct engine_request *request, struct reader **reader, struct accumulator_options *found,
                      struct error *err) MUST_CHECK;

/* As the view of a timeline: `to_ns` is after the last event if the window reaches to the run's end. */
enum status span_view(const struct engine_window *window, const struct timeline_info *info, struct timeline_view *view,
                      struct error *err) MUST_CHECK;

#endif
