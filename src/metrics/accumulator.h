/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_METRICS_ACCUMULATOR_H
#define SIGHT_METRICS_ACCUMULATOR_H

#include "core/sink.h"
#include "metrics/metrics.h"

/* A sink that computes metrics from events in one streaming pass.

   Two consecutive slices of a trace, each in an accumulator of its own, merge to what one pass over both gives, digit
   for digit (design: "Accumulators merge"; see accumulator_depth_bound). Associative, not commutative. */

struct accumulator;

struct accumulator_options {
    bool have_from, have_to;
    int64_t from_ns,
        to_ns; /* window [from, to) on the trace's clock: states are clipped, events are counted where they begin */
    const uint32_t *ranks; /* only these processes, sorted; NULL: all. Borrowed. */
    size_t rank_count;
    bool later_slice; /* other events of the same trace came before: leaves may close what was opened there */
};

struct accumulator *accumulator_new(struct accumulator_options options);
void accumulator_free(struct accumulator *accumulator);

/* The sink to feed; owned by the accumulator. */
struct sink *accumulator_sink(struct accumulator *accumulator);

/* Adds the slice `later`, which followed `first` in the trace, to `first`. Both must have the same definitions
   (indices); `later` was made with later_slice and is empty afterwards (free it). */
enum status accumulator_merge(struct accumulator *first, struct accumulator *later, struct error *err) MUST_CHECK;

/* An upper bound of the states that a thread had open at once: of the events fed, and, added up over slices, of their
   merged result. Merging is exact if it is within DEPTH_LIMIT: a slice cannot know which states one pass would drop
   beyond it. */
size_t accumulator_depth_bound(const struct accumulator *accumulator);

/* When the events of all processes began and ended, selected or not. False: there was none. */
bool accumulator_span(const struct accumulator *accumulator, int64_t *begin_ns, int64_t *end_ns);

/* The metrics of everything fed. Closes nothing: more can be fed afterwards. Free with metrics_free. */
struct metrics *accumulator_metrics(struct accumulator *accumulator, struct error *err);

#endif
