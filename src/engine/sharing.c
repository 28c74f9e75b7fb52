/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/sharing.h"

#include "convert/clog2/read_clog2.h"
#include "core/memory.h"
#include "engine/engine.h"
#include "metrics/accumulator_pack.h"
#include "timeline/slices.h"

#include <stdlib.h>
#include <string.h>

/* What rank 0 asks of another process: this, then the ranks, the ranges of definitions, and the path. */
struct job {
    bool end; /* nothing more: the exit code */
    int code;
    unsigned slices, index; /* the slice, of so many */
    uint64_t from, to;      /* its bytes */
    struct accumulator_options what;
    size_t range_count, path_size;
    bool end_of_log;
};

/* A part of the trace on its way up the tree. */
struct share {
    struct accumulator *accumulator; /* NULL: not to be had in slices */
    uint64_t depth;                  /* accumulator_depth_bound, added up */
};

/* The last slice is that of rank 0, whose reader sees how the trace ends; the first ones those of ranks 1, 2, ... */
static int rank_of(unsigned index, unsigned slices)
{
    return index + 1 == slices ? 0 : (int)index + 1;
}

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

/* Up the tree: with each step a share takes in its neighbour, or goes to it. What arrives at the first slice goes to
   rank 0, which gets it as the result. */
static struct share share_reduce(struct team *team, unsigned slices, unsigned index, struct share share,
                                 struct accumulator_options what)
{
    what.later_slice = true;
    for (unsigned step = 1; step < slices; step *= 2) {
        if (index % (2 * step) != 0) {
            share_send(team, rank_of(index - step, slices), &share);
            break;
        }
        if (index + step < slices) {
            struct share later = share_receive(team, rank_of(index + step, slices), what);
            share_merge(&share, &later);
        }
    }
    what.later_slice = false;
    if (index == 0)
        share_send(team, 0, &share);
    if (index + 1 < slices)
        return (struct share){0};
    return share_receive(team, rank_of(0, slices), what);
}

static struct share share_read(struct reader *reader, uint64_t from, uint64_t to, struct accumulator_options what,
                               stream_watch *watch, void *context)
{
    struct share share = {.accumulator = slices_read(reader, from, to, what, watch, context)};
    if (share.accumulator)
        share.depth = accumulator_depth_bound(share.accumulator);
    return share;
}

static char *append(char *at, const void *data, size_t size)
{
    if (size > 0)
        memcpy(at, data, size);
    return at + size;
}

/* All processes run the same program on the same kind of machine: structs are sent as they are in memory. */
static void job_send(struct team *team, struct job job, const struct clog2_known *known, const char *path)
{
    size_t ranks = 0;
    if (job.what.ranks)
        ranks = job.what.rank_count * sizeof *job.what.ranks;
    size_t ranges = known->count * sizeof *known->ranges;
    size_t size = sizeof job + ranks + ranges + job.path_size;
    char *data = memory_new(size), *at = data;
    at = append(at, &job, sizeof job);
    at = append(at, job.what.ranks, ranks);
    at = append(at, known->ranges, ranges);
    append(at, path, job.path_size);
    team_send(team, rank_of(job.index, job.slices), data, size);
    free(data);
}

struct accumulator *sharing_accumulate(struct team *team, struct reader *reader, const char *path, unsigned slices,
                                       struct accumulator_options what, stream_watch *watch, void *context)
{
    struct clog2_known known = clog2_known(reader);
    struct job job = {.slices = slices,
                      .what = what,
                      .range_count = known.count,
                      .end_of_log = known.end_of_log,
                      .path_size = strlen(path) + 1};
    for (; job.index + 1 < slices; job.index++) {
        job.what.later_slice = job.index > 0;
        slices_range(reader, slices, job.index, &job.from, &job.to);
        job_send(team, job, &known, path);
    }
    slices_range(reader, slices, job.index, &job.from, &job.to);
    what.later_slice = true;
    struct share share = share_read(reader, job.from, job.to, what, watch, context);
    what.later_slice = false;
    share = share_reduce(team, slices, job.index, share, what);
    struct error err = {0};
    if (!share.accumulator)
        return NULL;
    /* It was packed without its definitions, which are those of this process's reader. */
    struct sink *sink = accumulator_sink(share.accumulator);
    return sink->begin(sink, reader->defs, &err) == STATUS_OK ? share.accumulator : NULL;
}

/* `data` is what job_send sent. */
static void job_do(struct team *team, const struct job *job, const char *data)
{
    struct accumulator_options what = job->what;
    struct error err = {0};
    uint32_t *ranks = memory_new((what.rank_count + 1) * sizeof *ranks);
    struct clog2_range *ranges = memory_new((job->range_count + 1) * sizeof *ranges);
    data += sizeof *job;
    if (what.ranks) {
        memcpy(ranks, data, what.rank_count * sizeof *ranks);
        data += what.rank_count * sizeof *ranks;
        what.ranks = ranks;
    }
    memcpy(ranges, data, job->range_count * sizeof *ranges);
    data += job->range_count * sizeof *ranges;
    struct clog2_known known = {ranges, job->range_count, job->end_of_log};
    struct reader *reader = clog2_open_known(data, &known, &err);
    struct share share = {0};
    if (reader)
        share = share_read(reader, job->from, job->to, what, NULL, NULL);
    share_reduce(team, job->slices, job->index, share, what);
    reader_close(reader);
    free(ranges);
    free(ranks);
}

int engine_serve(struct team *team)
{
    for (;;) {
        size_t size;
        struct job job;
        char *data = team_receive(team, 0, &size);
        memcpy(&job, data, sizeof job);
        if (!job.end)
            job_do(team, &job, data);
        free(data);
        if (job.end)
            return job.code;
    }
}

void engine_serve_end(struct team *team, int code)
{
    struct job job = {.end = true, .code = code};
    for (int rank = 1; rank < team_size(team); rank++)
        team_send(team, rank, &job, sizeof job);
}
