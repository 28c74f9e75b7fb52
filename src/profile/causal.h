/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_PROFILE_CAUSAL_H
#define SIGHT_PROFILE_CAUSAL_H

#include "profile/profile_rows.h"
#include "replay/replay.h"

/* What the whole run would gain if some code were faster on all processes (Curtsinger and Berger, "Coz: finding code
   that counts with causal profiling", SOSP 2015, who slow everything else down; here the recorded run is replayed with
   less computing).

   Samples are too rare to show what each stretch between two calls computes: a stretch with CAUSAL_OWN samples is
   shortened by their share in the code; of shorter ones those of a location before the same call (section_label) count
   together, and, with fewer than CAUSAL_POOL samples, those of all locations that have so few. Stretches of which
   nothing is known stay as they are. Samples of threads that do not call MPI count for their process's first location.
 */

enum { CAUSAL_OWN = 16, CAUSAL_POOL = 8 };

struct causal;

/* `profile` has each sample (profile_select.each), of the run of the graph. Both borrowed. */
struct causal *causal_new(const struct graph *graph, const struct profile *profile);
void causal_free(struct causal *causal); /* NULL: nothing */

/* Replays the run with these options, which have no `pace`, and `part` (0 to 1) less time in the code itself of rows
   with `chosen`; what these call takes as long as before. `row_of`: by path, as in profile_rows. */
struct replay causal_replay(const struct causal *causal, const uint32_t *row_of, const bool *chosen, double part,
                            struct replay_options options);

/* By how much functions are made faster, in per cent of their time. */
enum { CAUSAL_SPEEDS = 4, CAUSAL_ROWS = 10 };
extern const int causal_percent[CAUSAL_SPEEDS]; /* ascending; the last is 100 */

struct causal_row {
    uint32_t row; /* of the functions */
    int64_t end_ns[CAUSAL_SPEEDS];
};

/* The functions with most samples that have at least a hundredth of the computing, those whose absence saves most
   first; at most CAUSAL_ROWS. How many. Replays in up to `threads` threads. */
size_t causal_table(const struct causal *causal, const struct profile_rows *functions, unsigned threads,
                    struct causal_row table[CAUSAL_ROWS]);

#endif
