/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_ENGINE_SHARE_JOB_H
#define SIGHT_ENGINE_SHARE_JOB_H

#include "convert/reader.h"
#include "engine/serving.h"
#include "metrics/accumulator.h"
#include "team/team.h"

/* For the engine: the shares of a trace, and what rank 0 asks of the processes that read them. */

struct share_job {
    enum job_kind kind;
    unsigned shares, index; /* the share, of so many */
    bool by_process;
    uint64_t from, to;               /* its processes or bytes */
    struct accumulator_options what; /* of JOB_SHARE */
    size_t range_count, path_size;
    bool end_of_log;
};

/* The last share is that of rank 0, whose reader sees how the trace ends; the first ones those of ranks 1, 2, ... */
int share_rank(unsigned index, unsigned shares);

/* Borders of shares that are slices of the time, for the trace that `reader` was just opened with; free() them. */
uint64_t *share_borders(const struct reader *reader, unsigned shares);

/* Rank 0: tells the others what to do with the trace at `path` that `reader` was just opened with. `borders` of shares
   in processes or bytes, one more than there are. The job is then that of rank 0 itself. */
void share_jobs_send(struct team *team, struct share_job *job, const uint64_t *borders, const struct reader *reader,
                     const char *path);

/* The other processes: the job of a message, and the trace opened. NULL: it cannot be. The ranks of its options are to
   be freed, whatever is returned. */
struct reader *share_job_open(const char *data, struct share_job *job, uint32_t **ranks);

/* The reader gives nothing but the share from here on. False: it cannot. */
bool share_stand(struct reader *reader, const struct share_job *job);

#endif
