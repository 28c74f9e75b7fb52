/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_ENGINE_SHARE_JOB_H
#define SIGHT_ENGINE_SHARE_JOB_H

#include "convert/reader.h"
#include "core/input.h"
#include "engine/opening.h"
#include "engine/serving.h"
#include "metrics/accumulator.h"

/* For the engine: the shares of a trace, and what rank 0 asks of the processes that read them. */

struct share_job {
    enum job_kind kind;
    unsigned shares, index; /* the share, of so many */
    bool by_process;
    uint64_t from, to;               /* its processes or bytes */
    struct accumulator_options what; /* of JOB_SHARE */
    struct input_identity file;
    size_t range_count, path_size;
    bool end_of_log;
};

/* The last share is that of rank 0, whose reader sees how the trace ends; the first ones those of ranks 1, 2, ... */
int share_rank(unsigned index, unsigned shares);

/* The shares of a trace. */
struct share_division {
    unsigned shares; /* below 2: one process reads all */
    bool by_process;
    uint64_t *borders; /* of shares, in processes or bytes: one more than there are; free() them */
};

/* Of the request's trace, which `reader` was just opened with: at most so many, and one for each process of the team.
 */
struct share_division share_divide(const struct engine_request *request, const struct reader *reader, unsigned most);

/* Watches the share of rank 0 for the request. */
struct watching share_watching(const struct engine_request *request, const struct share_division *division,
                               enum engine_step step);

/* Rank 0: sends each of the others its job. `reader` was just opened on the request's trace. Sets all of the job but
   its kind and options, and leaves it as that of rank 0 itself. */
void share_jobs_send(const struct engine_request *request, const struct share_division *division,
                     const struct reader *reader, struct share_job *job);

/* The other processes: the job of a message, and the trace opened. NULL: it cannot be, or is another file. The ranks of
   its options are to be freed, whatever is returned. */
struct reader *share_job_open(const char *data, struct share_job *job, uint32_t **ranks);

/* The reader gives nothing but the share from here on. False: it cannot. */
bool share_stand(struct reader *reader, const struct share_job *job);

#endif
