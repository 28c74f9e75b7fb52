/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_ENGINE_WHOLE_H
#define SIGHT_ENGINE_WHOLE_H

#include "convert/reader.h"
#include "engine/engine.h"
#include "metrics/accumulator.h"
#include "phases/user_spans.h"
#include "profile/counters.h"
#include "profile/profile.h"
#include "profile/resources.h"

/* For the engine: all events of a trace read into everything that an analysis of the whole run is made of. The graph
   takes as long to build as all the rest together. So where the trace allows, two readers fill them at once, each in a
   thread of its own; the result is identical to that of one reader. */

/* What is made, besides the graph, the spans and the resources. */
struct whole_plan {
    const struct engine_request *request;
    unsigned wants;   /* of enum engine_want: with ENGINE_BEFORE_HANG, they are of the time before */
    int64_t until_ns; /* when the hang begins; INT64_MAX: it is not known */
    struct accumulator_options sums;
    struct profile_select samples;
    struct counters_select counters;
    struct sink *searching; /* NULL: there is no search. It sees every event once: it has one reader */
    bool judged;            /* it is known why the run hangs */
    bool twice;             /* the trace can be read again, should the run turn out to be unfinished */
    unsigned threads;
};

/* All of it the caller's, also after a fault. */
struct whole {
    struct accumulator *accumulator;
    struct graph *graph;
    struct user_spans *spans;
    struct stuck *stuck; /* of a run that is judged already: of nothing */
    bool unfinished;     /* read the trace again for `stuck`, which is of nothing, too */
    struct profile *profile;
    struct resources *resources;
    struct counters *counters;
    struct reader *second; /* whose definitions the graph has; NULL: it has those of the first reader */
};

/* Reads to the end what `reader` was just opened on, and may replace that. */
enum status whole_read(const struct whole_plan *plan, struct reader **reader, struct whole *whole,
                       struct error *err) MUST_CHECK;

#endif
