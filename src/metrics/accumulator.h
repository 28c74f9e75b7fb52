/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_METRICS_ACCUMULATOR_H
#define SIGHT_METRICS_ACCUMULATOR_H

#include "core/sink.h"
#include "metrics/metrics.h"

/* Computes metrics from events in one streaming pass: a sink.

   Two consecutive slices of a trace, each in an accumulator of its own, merge to what one pass over both gives, digit
   for digit (design: "Accumulators merge"; see accumulator_depth_bound). Associative, not commutative. */

struct accumulator;

struct accumulator_options {
    bool have_from, have_to;
    int64_t from_ns,
        to_ns; /* window [from, to) on the trace's clock: states are clipped, counts go by where they begin */
    const uint32_t *ranks; /* only these processes, sorted; NULL: all. Borrowed. */
    size_t rank_count;
    bool later_slice; /* other events of the same trace came before: leaves may close what was opened there */
};

struct accumulator *accumulator_new(struct accumulator_options options);
void accumulator_free(struct accumulator *accumulator);

/* The sink to feed; owned by the accumulator. */
struct sink *accumulator_sink(struct accumulator *accumulator);

/* Adds the slice `later`, which followed `first` in the trace, to `first`. Both must have been fed with the same
   definitions (indices); `later` was made with later_slice and is empty afterwards (free it). */
enum status accumulator_merge(struct accumulator *first, struct accumulator *later, struct error *err) MUST_CHECK;

/* No thread has had more states open at once than this: of what was fed, and, added up over slices, of what they merge
   to. Merging is exact where that is within DEPTH_LIMIT: what one pass drops beyond it a slice cannot know. */
size_t accumulator_depth_bound(const struct accumulator *accumulator);

/* The metrics of everything fed. Closes nothing: more can be fed afterwards. Free with metrics_free. */
struct metrics *accumulator_metrics(struct accumulator *accumulator, struct error *err);

#endif
