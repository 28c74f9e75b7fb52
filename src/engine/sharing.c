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

/* Some of the shares: the first one, and the distance from each to the next. */
struct row {
    int first, distance, count;
};

static int row_rank(const struct share_job *job, const struct row *row, int place)
{
    return share_rank((unsigned)(row->first + place * row->distance), job->shares);
}

/* Merges the row in a tree until its first share has everything: in each step a share takes in its neighbour, or is
   sent to it. */
static void row_reduce(struct team *team, const struct share_job *job, const struct row *row, int place,
                       struct accumulator_options what, struct share *share)
{
    for (int step = 1; step < row->count; step *= 2) {
        if (place % (2 * step) != 0) {
            share_send(team, row_rank(job, row, place - step), share);
            return;
        }
        if (place + step < row->count) {
            struct share later = share_receive(team, row_rank(job, row, place + step), what);
            share_merge(share, &later);
        }
    }
}

/* First the slices of each group, in the order of the time; then the groups, whose first slices have their sums. All
   arrives at rank 0, which has the last slice of the last group. */
static struct share share_reduce(struct team *team, const struct share_job *job, struct share share)
{
    struct accumulator_options what = job->what;
    int shares = (int)job->shares, slices = (int)job->slices, index = (int)job->index, groups = shares / slices;
    int slice = index % slices, group = index / slices;
    const struct row time = {group * slices, 1, slices}, processes = {shares - slices, -slices, groups};
    what.later_slice = true;
    row_reduce(team, job, &time, slice, what, &share);
    what.later_slice = false;
    share.depth = 0; /* no state goes on from one group to another */
    if (slice == 0)
        row_reduce(team, job, &processes, groups - 1 - group, what, &share);
    if (slices == 1)
        return share;
    if (index == processes.first)
        share_send(team, 0, &share);
    if (index + 1 < shares)
        return (struct share){0};
    return share_receive(team, share_rank(job->shares - job->slices, job->shares), what);
}

static struct share share_read(struct reader *reader, const struct share_job *job, stream_watch *watch, void *context)
{
    struct share share = {0};
    struct accumulator_options what = job->what;
    what.later_slice = job->index % job->slices > 0;
    if (!share_stand(reader, job))
        return share;
    share.accumulator = accumulator_new(what);
    struct sink *sinks[] = {accumulator_sink(share.accumulator)};
    if (!slices_read(reader, sinks, 1, watch, context) || (job->chosen && directory_missed())) {
        accumulator_free(share.accumulator);
        share.accumulator = NULL;
    }
    /* All states of a process are in one share, or may go on in the next. */
    if (share.accumulator && job->slices > 1)
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
    if (!share_jobs_end(&job)) {
        accumulator_free(share.accumulator);
        return NULL;
    }
    if (!share.accumulator)
        return NULL;
    /* It was packed without its definitions, which are those of this process's reader; so is the end of the trace. */
    struct sink *sink = accumulator_sink(share.accumulator);
    if (sink->begin(sink, reader->defs, &err) == STATUS_OK && sink->end(sink, &reader->end, &err) == STATUS_OK)
        return share.accumulator;
    accumulator_free(share.accumulator);
    return NULL;
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
    share_division_clear(&division);
    return accumulator;
}

void sharing_do(struct team *team, const char *data)
{
    struct share_job job;
    struct reader *reader = share_job_open(data, &job);
    struct share share = {0};
    if (reader)
        share = share_read(reader, &job, NULL, NULL);
    share_reduce(team, &job, share);
    reader_close(reader);
    share_job_clear(&job);
}
