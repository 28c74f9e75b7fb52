/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_LIVE_H
#define SIGHT_CLI_LIVE_H

#include "core/output.h"
#include "metrics/metrics.h"
#include "stuck/stuck.h"

/* A program that is being recorded, read while it runs: its buffer files are only read, so that it does not notice. */

enum { LIVE_PARTS_MAX_BYTES = 64 << 20 /* beyond this, counting iterations takes too long */ };

struct live {
    struct stuck *stuck;
    struct metrics *metrics;
    uint32_t processes; /* that have recorded something, of so many: */
    uint32_t declared;
    uint32_t unfinished; /* of them: not come to MPI_Finalize */
    uint32_t iterations; /* of the main loop; 0: none were found, or not counted */
    uint64_t events, bytes;
    struct live_state *state; /* internal */
};

/* The current contents of a recording's directory. STATUS_FAILED: nothing readable. Close it if STATUS_OK. */
enum status live_open(struct live *live, const char *directory, bool with_iterations, struct error *err) MUST_CHECK;
void live_close(struct live *live);

/* The directory of the recording that a process belongs to (its own, its parents', its children's), or with pid 0 of
   any process of this user; the latest one. NULL: there is none. Freed by the caller. */
char *live_find(long pid);

#endif
