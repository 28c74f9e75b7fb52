/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_PROFILE_PROFILE_H
#define SIGHT_PROFILE_PROFILE_H

#include "core/sink.h"

/* What processes compute, by call path, from the samples of a trace: how many there are of each path on each process,
   and the time for which they stand. Everything else about samples is computed from this. */

struct profile_cell {
    uint32_t path; /* of defs->paths */
    uint32_t rank;
    uint64_t samples;
    int64_t ns;
};

/* One sample, where each is wanted. */
struct profile_sample {
    int64_t time_ns, ns; /* when it was taken, on the trace's clock; the time for which it stands */
    uint32_t path, rank, thread;
    uint32_t phase, iteration; /* numbers of the phase and of the main loop's iteration; PROFILE_NO_PHASE: none */
};
#define PROFILE_NO_PHASE UINT32_MAX

struct profile {
    const struct defs *defs;    /* borrowed */
    struct profile_cell *cells; /* by path, then by rank */
    size_t cell_count;
    uint64_t samples;
    int64_t ns;        /* of all samples */
    bool is_estimated; /* the trace does not say for how long a sample stands (sample_period.h) */
    uint32_t *ranks;   /* those with samples, ascending */
    size_t rank_count;
    struct profile_sample *taken; /* each sample, by rank, thread and time; NULL: not wanted, or none */
    size_t taken_count;
};

/* Which samples count; all zero: all. */
struct profile_select {
    bool have_from, have_to;
    int64_t from_ns, to_ns; /* [from, to) on the trace's clock */
    const uint32_t *ranks;  /* ascending; NULL: all. Borrowed. */
    size_t rank_count;
    bool each; /* fill in `taken`: 40 bytes a sample */
};

struct profile_builder;

struct profile_builder *profile_builder_new(const struct profile_select *select);
struct sink *profile_builder_sink(struct profile_builder *builder); /* owned by the builder */

/* Frees the builder. The profile is empty where the trace has no samples. */
struct profile *profile_builder_end(struct profile_builder *builder);
void profile_free(struct profile *profile); /* NULL: nothing */

/* The samples of one phase, on the processes of `select`, whose times do not count; of a profile with each sample.
   profile_free. */
struct profile *profile_of_phase(const struct profile *whole, uint32_t phase, const struct profile_select *select);

/* The same of some iterations of the main loop: `numbers`, ascending. */
struct profile *profile_of_iterations(const struct profile *whole, const uint32_t *numbers, size_t count,
                                      const struct profile_select *select);

/* The place of a path in the source, and its function: of the region where paths have one. "?" where nothing is
   known. */
const struct site_def *profile_site(const struct defs *defs, uint32_t path); /* NULL: not known */
const char *profile_function(const struct defs *defs, uint32_t path);

/* The path, or the innermost one above it, in the program's own code; the path itself where there is none, and where a
   library waits for threads or processes by turning in circles: that is no computing of the program. */
uint32_t profile_own_path(const struct defs *defs, uint32_t path);
bool profile_is_waiting(const char *function);

#endif
