/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/share_job.h"

#include "convert/clog2/read_clog2.h"
#include "core/memory.h"
#include "metrics/packing.h"
#include "timeline/slices.h"

#include <stdlib.h>
#include <string.h>

int share_rank(unsigned index, unsigned shares)
{
    return index + 1 == shares ? 0 : (int)index + 1;
}

uint64_t *share_borders(const struct reader *reader, unsigned shares)
{
    uint64_t *borders = memory_new((shares + 1) * sizeof *borders);
    for (unsigned i = 0; i < shares; i++)
        slices_range(reader, shares, i, &borders[i], &borders[i + 1]);
    return borders;
}

/* All processes run the same program on the same kind of machine: structs are sent as they are in memory. */
static void job_send(struct team *team, struct share_job job, const struct clog2_known *known, const char *path)
{
    char *data = NULL;
    size_t size = 0, capacity = 0;
    struct packing packing = {&data, &size, &capacity};
    packing_put(&packing, &job, sizeof job);
    if (job.what.ranks)
        packing_put(&packing, job.what.ranks, job.what.rank_count * sizeof *job.what.ranks);
    packing_put(&packing, known->ranges, known->count * sizeof *known->ranges);
    packing_put(&packing, path, job.path_size);
    team_send(team, share_rank(job.index, job.shares), data, size);
    free(data);
}

void share_jobs_send(struct team *team, struct share_job *job, const uint64_t *borders, const struct reader *reader,
                     const char *path)
{
    struct clog2_known known = {0};
    if (!job->by_process)
        known = clog2_known(reader);
    job->range_count = known.count;
    job->end_of_log = known.end_of_log;
    job->path_size = strlen(path) + 1;
    for (job->index = 0;; job->index++) {
        job->from = borders[job->index];
        job->to = borders[job->index + 1];
        if (job->index + 1 == job->shares)
            break;
        job_send(team, *job, &known, path);
    }
}

struct reader *share_job_open(const char *data, struct share_job *job, uint32_t **ranks)
{
    struct error err = {0};
    memcpy(job, data, sizeof *job);
    *ranks = memory_new((job->what.rank_count + 1) * sizeof **ranks);
    struct clog2_range *ranges = memory_new((job->range_count + 1) * sizeof *ranges);
    data += sizeof *job;
    if (job->what.ranks) {
        memcpy(*ranks, data, job->what.rank_count * sizeof **ranks);
        data += job->what.rank_count * sizeof **ranks;
        job->what.ranks = *ranks;
    }
    memcpy(ranges, data, job->range_count * sizeof *ranges);
    char *path = memory_copy_string(data + job->range_count * sizeof *ranges);
    struct clog2_known known = {ranges, job->range_count, job->end_of_log};
    struct reader *reader;
    if (job->by_process)
        reader = reader_open(&path, 1, &err);
    else
        reader = clog2_open_known(path, &known, &err);
    free(ranges);
    free(path);
    return reader;
}

bool share_stand(struct reader *reader, const struct share_job *job)
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
