/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_LIVE_H
#define SIGHT_CLI_LIVE_H

#include "core/output.h"
#include "metrics/metrics.h"
#include "stuck/stuck.h"

/* A program that is being recorded, read while it runs: its buffer files are only read, so that it does not notice.

   Of a large recording only the last part of each file is read. Where processes are follows from that; why they wait
   does not, since a message may have been sent long ago: if one has been waiting for a while, the whole is read. */

struct live {
    struct stuck *stuck;
    struct metrics *metrics; /* of the last seconds, which begin at: */
    int64_t from_ns, now_ns; /* and end at, on the trace's clock */
    uint32_t processes;      /* that have recorded something, of so many: */
    uint32_t declared;
    uint32_t unfinished; /* of them: not come to MPI_Finalize */
    uint64_t iterations; /* of the main loop; 0: none were found, or not counted */
    uint64_t bytes;
    bool whole;               /* the verdict is that of the whole recording */
    struct live_state *state; /* internal */
};

/* The current contents of a recording's directory; its processes were alive at `alive_ns` (of clock_ns()), 0: they are
   now. `before` is what was read of it last, or NULL. STATUS_FAILED: nothing readable. Close it if STATUS_OK. */
enum status live_open(struct live *live, const char *directory, int64_t alive_ns, bool with_iterations,
                      const struct live *before, struct error *err) MUST_CHECK;
void live_close(struct live *live);

/* The directory of the recording that a process belongs to (its own, its parents', its children's), or with pid 0 of
   any process of this user; the latest one. NULL: there is none. Freed by the caller. */
char *live_find(long pid);

/* STATUS_FAILED and a fault if files that were listed are gone: when the program has ended, sight record merges and
   removes them, perhaps while they are listed, and what was read then is only a part. */
struct recordings;
enum status live_check_whole(const struct recordings *recordings, const char *directory, struct error *err) MUST_CHECK;

#endif
