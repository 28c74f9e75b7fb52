/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/sharing.h"

#include "convert/clog2/read_clog2.h"
#include "core/directory.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "engine/opening.h"
#include "engine/serving.h"
#include "metrics/accumulator_pack.h"
#include "timeline/slices.h"

#include <stdlib.h>
#include <string.h>

/* What rank 0 asks of another process: this, then the ranks, the ranges of definitions, and the path. */
struct job {
    enum job_kind kind;     /* JOB_SHARE */
    unsigned shares, index; /* the share, of so many */
    bool by_process;
    uint64_t from, to; /* its processes or bytes */
    struct accumulator_options what;
    size_t range_count, path_size;
    bool end_of_log;
};

/* A part of the trace on its way up the tree. */
struct share {
    struct accumulator *accumulator; /* NULL: not to be had in slices */
    uint64_t depth;                  /* accumulator_depth_bound, added up */
};

struct division {
    unsigned shares; /* below 2: one process reads all */
    bool by_process;
    uint64_t *borders; /* of shares, in processes or bytes: one more than there are */
};

enum { SHARE_LEAST = 1 << 20 }; /* bytes of processes that are worth a rank: it reads the definitions, too */

/* Borders of shares that are about as long as each other. */
static uint64_t *borders_between(const uint64_t *bytes, size_t count, uint64_t total, unsigned shares)
{
    uint64_t *borders = memory_new((shares + 1) * sizeof *borders), before = 0;
    size_t at = 0;
    for (unsigned i = 1; i < shares; i++) {
        /* A process belongs to the share in which its middle is. */
        for (; at < count && before + bytes[at] / 2 < total / shares * i; at++)
            before += bytes[at];
        borders[i] = at;
    }
    borders[shares] = count;
    return borders;
}

static struct division divide_processes(const struct reader *reader, unsigned most)
{
    size_t count;
    uint64_t *bytes = reader->format->processes->bytes(reader, &count), total = 0;
    struct division division = {.shares = 1, .by_process = true};
    for (size_t i = 0; bytes && i < count; i++)
        total += bytes[i];
    if (bytes)
        division.shares = (unsigned)smaller(smaller((uint64_t)most, (uint64_t)count), total / SHARE_LEAST);
    if (division.shares > 1)
        division.borders = borders_between(bytes, count, total, division.shares);
    free(bytes);
    return division;
}

static struct division divide(const struct engine_request *request, const struct reader *reader)
{
    unsigned most = (unsigned)team_size(request->team);
    if (reader->format->processes && slices_add_up(reader, request->inputs, request->input_count))
        return divide_processes(reader, most);
    struct division division = {.shares = slices_worth(reader, request->inputs, request->input_count, most)};
    if (division.shares < 2)
        return division;
    division.borders = memory_new((division.shares + 1) * sizeof *division.borders);
    for (unsigned i = 0; i < division.shares; i++)
        slices_range(reader, division.shares, i, &division.borders[i], &division.borders[i + 1]);
    return division;
}

/* The last share is that of rank 0, whose reader sees how the trace ends; the first ones those of ranks 1, 2, ... */
static int rank_of(unsigned index, unsigned shares)
{
    return index + 1 == shares ? 0 : (int)index + 1;
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

/* Up the tree: with each step a share takes in its neighbour, or goes to it. What arrives at the first share goes to
   rank 0, which gets it as the result. */
static struct share share_reduce(struct team *team, const struct job *job, struct share share)
{
    struct accumulator_options what = job->what;
    unsigned shares = job->shares, index = job->index;
    what.later_slice = !job->by_process;
    for (unsigned step = 1; step < shares; step *= 2) {
        if (index % (2 * step) != 0) {
            share_send(team, rank_of(index - step, shares), &share);
            break;
        }
        if (index + step < shares) {
            struct share later = share_receive(team, rank_of(index + step, shares), what);
            share_merge(&share, &later);
        }
    }
    what.later_slice = false;
    if (index == 0)
        share_send(team, 0, &share);
    if (index + 1 < shares)
        return (struct share){0};
    return share_receive(team, rank_of(0, shares), what);
}

/* The reader gives nothing but the share from here on. */
static bool stand_at(struct reader *reader, const struct job *job)
{
    struct error err = {0};
    if (!job->by_process)
        return reader_seek(reader, job->from, job->to, &err) == STATUS_OK;
    /* Where the trace was replaced in the meantime, it may be of another format. */
    if (!reader->format->processes)
        return false;
    reader->format->processes->select(reader, (size_t)job->from, (size_t)job->to);
    return true;
}

static struct share share_read(struct reader *reader, const struct job *job, stream_watch *watch, void *context)
{
    struct share share = {0};
    struct accumulator_options what = job->what;
    what.later_slice = !job->by_process && job->index > 0;
    if (stand_at(reader, job))
        share.accumulator = slices_read(reader, what, watch, context);
    /* All states of a process are in one share, or may go on in the next. */
    if (share.accumulator && !job->by_process)
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
    team_send(team, rank_of(job.index, job.shares), data, size);
    free(data);
}

static struct accumulator *accumulate(const struct engine_request *request, struct reader *reader,
                                      const struct division *division, struct accumulator_options what,
                                      struct watching *watching)
{
    struct team *team = request->team;
    const char *path = request->inputs[0];
    struct clog2_known known = {0};
    if (!division->by_process)
        known = clog2_known(reader);
    struct job job = {.kind = JOB_SHARE,
                      .shares = division->shares,
                      .by_process = division->by_process,
                      .what = what,
                      .range_count = known.count,
                      .end_of_log = known.end_of_log,
                      .path_size = strlen(path) + 1};
    for (;; job.index++) {
        job.from = division->borders[job.index];
        job.to = division->borders[job.index + 1];
        if (job.index + 1 == job.shares)
            break;
        job_send(team, job, &known, path);
    }
    struct share share = share_read(reader, &job, opening_watch, watching);
    share = share_reduce(team, &job, share);
    struct error err = {0};
    if (!share.accumulator)
        return NULL;
    /* It was packed without its definitions, which are those of this process's reader. */
    struct sink *sink = accumulator_sink(share.accumulator);
    return sink->begin(sink, reader->defs, &err) == STATUS_OK ? share.accumulator : NULL;
}

bool sharing_is_possible(const struct engine_request *request)
{
    return team_size(request->team) > 1 && !directory_is_scattered(request->inputs[0]);
}

struct accumulator *sharing_accumulate(const struct engine_request *request, struct reader *reader,
                                       struct accumulator_options what, enum engine_step step, unsigned *shares)
{
    struct watching watching = {.request = request, .step = step};
    struct division division = divide(request, reader);
    struct accumulator *accumulator = NULL;
    *shares = division.shares;
    /* All slices are about as long: the progress of one is that of all. */
    if (!division.by_process)
        watching.parts = division.shares;
    if (division.shares > 1)
        accumulator = accumulate(request, reader, &division, what, &watching);
    free(division.borders);
    return accumulator;
}

void sharing_do(struct team *team, char *data)
{
    struct job job;
    memcpy(&job, data, sizeof job);
    struct error err = {0};
    uint32_t *ranks = memory_new((job.what.rank_count + 1) * sizeof *ranks);
    struct clog2_range *ranges = memory_new((job.range_count + 1) * sizeof *ranges);
    data += sizeof job;
    if (job.what.ranks) {
        memcpy(ranks, data, job.what.rank_count * sizeof *ranks);
        data += job.what.rank_count * sizeof *ranks;
        job.what.ranks = ranks;
    }
    memcpy(ranges, data, job.range_count * sizeof *ranges);
    data += job.range_count * sizeof *ranges;
    struct clog2_known known = {ranges, job.range_count, job.end_of_log};
    struct reader *reader;
    if (job.by_process)
        reader = reader_open(&data, 1, &err);
    else
        reader = clog2_open_known(data, &known, &err);
    struct share share = {0};
    if (reader)
        share = share_read(reader, &job, NULL, NULL);
    share_reduce(team, &job, share);
    reader_close(reader);
    free(ranges);
    free(ranks);
}
