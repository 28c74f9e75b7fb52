/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_ENGINE_CONTENTS_H
#define SIGHT_ENGINE_CONTENTS_H

#include "engine/engine.h"
#include "graph/match.h"
#include "metrics/census.h"

/* What a trace holds, before any question about its performance. Owned by the engine: valid until
   engine_contents_free. */
struct contents {
    const char *format; /* as in JSON: "clog2" */
    const struct defs *defs;
    const struct record_count *records; /* as the format counts them */
    size_t record_kinds;
    const struct trace_end *end;  /* how the trace ended, and its damage */
    const struct clocks *clocks;  /* what was corrected; NULL: nothing was asked for */
    struct census census;         /* events */
    unsigned slices;              /* in which the trace was read, each by a thread or process; 0: in one pass */
    struct match_counts messages; /* messages, and how far clocks contradict them */
};

/* Reads the whole trace: the request's window, ranks and wants do not count. NULL and a fault, also of a metrics file.
   Damage of the trace is no fault. */
struct contents *engine_contents(const struct engine_request *request, struct error *err);
void engine_contents_free(struct contents *contents); /* NULL: nothing */

#endif
