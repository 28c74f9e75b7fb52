/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_ENGINE_SHARE_JOB_H
#define SIGHT_ENGINE_SHARE_JOB_H

#include "convert/clog2/read_clog2.h"
#include "convert/reader.h"
#include "core/input.h"
#include "engine/opening.h"
#include "engine/serving.h"
#include "metrics/accumulator.h"
#include "metrics/packing.h"

/* For the engine: the shares of a trace, and what rank 0 asks of the processes that read them. */

struct share_job {
    enum job_kind kind;
    unsigned shares, index;          /* the share, of so many: those of the same processes follow each other */
    unsigned slices;                 /* of the time, that each of the groups of processes is read in */
    bool by_process;                 /* there are groups; false: all processes are one */
    uint64_t from, to;               /* bytes, where there are slices */
    uint64_t first, end;             /* processes [first, end), where there are groups */
    size_t process_count;            /* where each process is read where its files are; 0: groups follow each other */
    unsigned char *chosen;           /* by process, owned: those of the share; NULL: not so */
    struct accumulator_options what; /* of JOB_SHARE */
    uint32_t *ranks;                 /* those of the options, where the job owns them */
    struct input_identity file;
    size_t path_size;
};
void share_job_clear(struct share_job *job);

/* What is known of a CLOG-2 file, in a message: packed, and taken from *data, which is then behind it. The ranges that
   `known` borrows are returned: to be freed. */
void share_known_pack(struct packing *packing, const struct clog2_known *known);
struct clog2_range *share_known_take(const char **data, struct clog2_known *known);

/* The last share is that of rank 0, whose reader sees how the trace ends; the first ones those of ranks 1, 2, ... */
int share_rank(unsigned index, unsigned shares);

/* The shares of a trace: `slices` of the time for each group of processes. */
struct share_division {
    unsigned shares; /* below 2: one process reads all */
    unsigned slices;
    bool by_process;
    uint64_t *bytes;      /* borders of slices: one more than there are */
    uint64_t *processes;  /* of groups, likewise */
    unsigned *share_of;   /* by process, of processes that are read where their files are; NULL: not so */
    size_t process_count; /* 0: not so */
};
/* Frees the borders. */
void share_division_clear(struct share_division *division);

/* Of the request's trace, which `reader` was just opened with: at most so many, and one for each process of the team.
 */
struct share_division share_divide(const struct engine_request *request, const struct reader *reader, unsigned most);

/* Watches the share of rank 0 for the request. */
struct watching share_watching(const struct engine_request *request, const struct share_division *division,
                               enum engine_step step);

/* Whether several processes may read the request's trace at once. */
bool share_is_possible(const struct engine_request *request);

/* Rank 0: sends each of the others its job. `reader` was just opened on the request's trace. Sets all of the job but
   its kind and options, and leaves it as that of rank 0 itself. From here to share_jobs_end nothing is fetched from
   other hosts, which read. */
void share_jobs_send(const struct engine_request *request, const struct share_division *division,
                     const struct reader *reader, struct share_job *job);
/* All have answered. Clears the job. False: rank 0 lacked something, and nothing of it may be used. */
bool share_jobs_end(struct share_job *job);

/* The other processes: the job of a message, and the trace opened. NULL: it cannot be, or is another file. The job is
   to be cleared, whatever is returned. */
struct reader *share_job_open(const char *data, struct share_job *job);

/* The reader gives nothing but the share from here on. False: it cannot. */
bool share_stand(struct reader *reader, const struct share_job *job);

#endif
