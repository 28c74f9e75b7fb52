/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/sharing.h"

#include "core/directory.h"
#include "core/memory.h"
#include "engine/share_job.h"
#include "metrics/accumulator_pack.h"
#include "timeline/slices.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A part of the trace on its way up the tree. */
struct share {
    struct accumulator *accumulator; /* NULL: not to be had in slices */
    uint64_t depth;                  /* accumulator_depth_bound, added up */
};

/* No bytes stand for a share that is not to be had: the merge goes on, so that nobody waits for it. */
static void share_send(struct team *team, int to, struct share *share)
{
    char *data = NULL;
    size_t size = 0, capacity = 0;
    ARRAY_RESERVE(data, capacity, sizeof share->depth);
    memcpy(data, &share->depth, sizeof share->depth);
    size = sizeof share->depth;
    if (!share->accumulator || !accumulator_pack(share->accumulator, &data, &size, &capacity))
        size = 0;
    team_send(team, to, data, size);
    free(data);
    accumulator_free(share->accumulator);
    *share = (struct share){0};
}

static struct share share_receive(struct team *team, int from, struct accumulator_options what)
{
    struct share share = {0};
    size_t size;
    char *data = team_receive(team, from, &size);
    if (size > sizeof share.depth) {
        memcpy(&share.depth, data, sizeof share.depth);
        share.accumulator = accumulator_unpack(data + sizeof share.depth, size - sizeof share.depth, what);
    }
    free(data);
    return share;
}

/* `later` follows `first` in the trace, and is empty afterwards. */
static void share_merge(struct share *first, struct share *later)
{
    struct error err = {0};
    /* States that are open at the end of one slice go on in the next. If they might be nested beyond the limit, one
       pass would leave some out: it has to be made. */
    bool exact = first->accumulator && later->accumulator && first->depth + later->depth <= DEPTH_LIMIT &&
                 accumulator_merge(first->accumulator, later->accumulator, &err) == STATUS_OK;
    accumulator_free(later->accumulator);
    first->depth += later->depth;
    if (exact)
        return;
    accumulator_free(first->accumulator);
    first->accumulator = NULL;
}

/* The rank of the share at a place of the tree. */
static int share_at(const struct share_job *job, unsigned place)
{
    return share_rank(job->by_process ? job->shares - 1 - place : place, job->shares);
}

/* Up the tree: with each step a share takes in its neighbour, or goes to it. Slices of the time have to stay in order:
   what arrives at the first one goes to rank 0, which has the last, as the result. Where the shares are processes, rank
   0 is the root itself. */
static struct share share_reduce(struct team *team, const struct share_job *job, struct share share)
{
    struct accumulator_options what = job->what;
    unsigned shares = job->shares, place = job->by_process ? shares - 1 - job->index : job->index;
    what.later_slice = !job->by_process;
    for (unsigned step = 1; step < shares; step *= 2) {
        if (place % (2 * step) != 0) {
            share_send(team, share_at(job, place - step), &share);
            break;
        }
        if (place + step < shares) {
            struct share later = share_receive(team, share_at(job, place + step), what);
            share_merge(&share, &later);
        }
    }
    if (job->by_process)
        return share;
    what.later_slice = false;
    if (place == 0)
        share_send(team, 0, &share);
    if (place + 1 < shares)
        return (struct share){0};
    return share_receive(team, share_rank(0, shares), what);
}

static struct share share_read(struct reader *reader, const struct share_job *job, stream_watch *watch, void *context)
{
    struct share share = {0};
    struct accumulator_options what = job->what;
    what.later_slice = !job->by_process && job->index > 0;
    if (!share_stand(reader, job))
        return share;
    share.accumulator = accumulator_new(what);
    struct sink *sinks[] = {accumulator_sink(share.accumulator)};
    if (!slices_read(reader, sinks, 1, watch, context)) {
        accumulator_free(share.accumulator);
        share.accumulator = NULL;
    }
    /* All states of a process are in one share, or may go on in the next. */
    if (share.accumulator && !job->by_process)
        share.depth = accumulator_depth_bound(share.accumulator);
    return share;
}

static struct accumulator *accumulate(const struct engine_request *request, struct reader *reader,
                                      const struct share_division *division, struct accumulator_options what,
                                      struct watching *watching)
{
    struct share_job job = {.kind = JOB_SHARE, .what = what};
    share_jobs_send(request, division, reader, &job);
    struct share share = share_read(reader, &job, opening_watch, watching);
    share = share_reduce(request->team, &job, share);
    struct error err = {0};
    if (!share.accumulator)
        return NULL;
    /* It was packed without its definitions, which are those of this process's reader; so is the end of the trace. */
    struct sink *sink = accumulator_sink(share.accumulator);
    if (sink->begin(sink, reader->defs, &err) == STATUS_OK && sink->end(sink, &reader->end, &err) == STATUS_OK)
        return share.accumulator;
    accumulator_free(share.accumulator);
    return NULL;
}

bool sharing_is_possible(const struct engine_request *request)
{
    return team_size(request->team) > 1 && !directory_is_scattered(request->inputs[0]);
}

struct accumulator *sharing_accumulate(const struct engine_request *request, struct reader *reader,
                                       struct accumulator_options what, enum engine_step step, unsigned *shares)
{
    struct share_division division = share_divide(request, reader, UINT_MAX);
    struct watching watching = share_watching(request, &division, step);
    struct accumulator *accumulator = NULL;
    *shares = division.shares;
    if (division.shares > 1)
        accumulator = accumulate(request, reader, &division, what, &watching);
    free(division.borders);
    return accumulator;
}

void sharing_do(struct team *team, const char *data)
{
    struct share_job job;
    uint32_t *ranks;
    struct reader *reader = share_job_open(data, &job, &ranks);
    struct share share = {0};
    if (reader)
        share = share_read(reader, &job, NULL, NULL);
    share_reduce(team, &job, share);
    reader_close(reader);
    free(ranks);
}
