/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/share_job.h"

#include "core/directory.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "engine/gathering.h"
#include "engine/outline.h"
#include "timeline/slices.h"

#include <stdlib.h>
#include <string.h>

int share_rank(unsigned index, unsigned shares)
{
    return index + 1 == shares ? 0 : (int)index + 1;
}

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

/* A share for each of some processes, which are separate files. */
static struct share_division divide_files(const struct reader *reader, unsigned most)
{
    size_t count;
    uint64_t *bytes = reader->format->processes->bytes(reader, &count), total = 0;
    struct share_division division = {.shares = 1, .slices = 1, .by_process = true};
    for (size_t i = 0; bytes && i < count; i++)
        total += bytes[i];
    if (bytes)
        division.shares = (unsigned)smaller(smaller((uint64_t)most, (uint64_t)count), total / SHARE_LEAST);
    if (division.shares > 1)
        division.processes = borders_between(bytes, count, total, division.shares);
    free(bytes);
    return division;
}

static unsigned share_index(int rank, unsigned shares)
{
    return rank == 0 ? shares - 1 : (unsigned)rank - 1;
}

/* Of the ranks that have a process's file the one with least to read so far; -1: none of those that take part. */
static int place_process(const struct gathered_file *file, const uint64_t *load, unsigned shares)
{
    int best = -1;
    for (size_t i = 0; file && i < file->rank_count; i++)
        if (file->ranks[i] < (int)shares && (best < 0 || load[file->ranks[i]] < load[best]))
            best = file->ranks[i];
    return best;
}

/* Each process is read by a rank that has its files: all threads of a process have theirs on one host. */
static struct share_division divide_places(const struct reader *reader, unsigned most)
{
    const struct format_processes *processes = reader->format->processes;
    struct share_division division = {.shares = 1, .slices = 1, .by_process = true};
    uint64_t *bytes = processes && processes->paths ? processes->bytes(reader, &division.process_count) : NULL;
    if (!bytes)
        return division;
    const char **paths = processes->paths(reader, &division.process_count);
    uint64_t *load = memory_new(most * sizeof *load);
    division.share_of = memory_new(division.process_count * sizeof *division.share_of);
    division.shares = most;
    for (size_t i = 0; i < division.process_count; i++) {
        int rank = place_process(gathering_file(paths[i]), load, most);
        if (rank < 0 && bytes[i] == 0)
            rank = 0; /* a process without events need have no file */
        if (rank < 0) {
            division.shares = 1;
            break;
        }
        load[rank] += bytes[i];
        division.share_of[i] = share_index(rank, most);
    }
    free(load);
    free(paths);
    free(bytes);
    return division;
}

struct share_division share_divide(const struct engine_request *request, const struct reader *reader, unsigned most)
{
    most = smaller(most, (unsigned)team_size(request->team));
    const struct format_processes *processes = reader->format->processes;
    if (directory_is_scattered(request->inputs[0]))
        return divide_places(reader, most);
    if (processes && !processes->reads_all && slices_add_up(reader, request->inputs, request->input_count))
        return divide_files(reader, most);
    struct slicing plan = slices_plan(reader, request->inputs, request->input_count, most);
    struct share_division division = {
        .shares = plan.slices * plan.groups, .slices = plan.slices, .by_process = plan.groups > 1};
    if (division.shares < 2)
        return division;
    division.bytes = memory_new((plan.slices + 1) * sizeof *division.bytes);
    for (unsigned i = 0; i < plan.slices; i++)
        slices_range(reader, plan.slices, i, &division.bytes[i], &division.bytes[i + 1]);
    division.processes = memory_new((plan.groups + 1) * sizeof *division.processes);
    for (unsigned i = 0; i <= plan.groups; i++)
        division.processes[i] = (uint64_t)reader->defs->processes * i / plan.groups;
    return division;
}

void share_division_clear(struct share_division *division)
{
    free(division->bytes);
    free(division->processes);
    free(division->share_of);
}

bool share_is_possible(const struct engine_request *request)
{
    const char *input = request->inputs[0];
    return team_size(request->team) > 1 && (!directory_is_scattered(input) || gathering_in_pieces(input));
}

struct watching share_watching(const struct engine_request *request, const struct share_division *division,
                               enum engine_step step)
{
    struct watching watching = {.request = request, .step = step};
    /* All slices are about as long: the progress of one is that of all. */
    if (division->slices > 1)
        watching.parts = division->slices;
    return watching;
}

/* All processes run the same program on the same kind of machine: structs are sent as they are in memory. */
void share_known_pack(struct packing *packing, const struct clog2_known *known)
{
    packing_put(packing, &known->count, sizeof known->count);
    packing_put(packing, &known->end_of_log, sizeof known->end_of_log);
    packing_put(packing, known->ranges, known->count * sizeof *known->ranges);
}

struct clog2_range *share_known_take(const char **data, struct clog2_known *known)
{
    memcpy(&known->count, *data, sizeof known->count);
    *data += sizeof known->count;
    memcpy(&known->end_of_log, *data, sizeof known->end_of_log);
    *data += sizeof known->end_of_log;
    struct clog2_range *ranges = memory_new((known->count + 1) * sizeof *ranges);
    memcpy(ranges, *data, known->count * sizeof *ranges);
    *data += known->count * sizeof *ranges;
    known->ranges = ranges;
    return ranges;
}

static void job_send(struct team *team, struct share_job job, const struct clog2_known *known, const char *path)
{
    char *data = NULL;
    size_t size = 0, capacity = 0;
    struct packing packing = {&data, &size, &capacity};
    packing_put(&packing, &job, sizeof job);
    if (job.what.ranks)
        packing_put(&packing, job.what.ranks, job.what.rank_count * sizeof *job.what.ranks);
    share_known_pack(&packing, known);
    packing_put(&packing, path, job.path_size);
    if (job.chosen) {
        packing_put(&packing, job.chosen, job.process_count);
        outline_pack(&packing, path, share_rank(job.index, job.shares));
    }
    team_send(team, share_rank(job.index, job.shares), data, size);
    free(data);
}

void share_jobs_send(const struct engine_request *request, const struct share_division *division,
                     const struct reader *reader, struct share_job *job)
{
    const char *path = request->inputs[0];
    struct clog2_known known = clog2_known(reader);
    job->shares = division->shares;
    job->slices = division->slices;
    job->by_process = division->by_process;
    job->file = input_identity(reader->input);
    job->path_size = strlen(path) + 1;
    job->process_count = division->process_count;
    if (job->process_count > 0)
        job->chosen = memory_new(job->process_count);
    for (job->index = 0;; job->index++) {
        unsigned slice = job->index % job->slices, group = job->index / job->slices;
        if (job->slices > 1) {
            job->from = division->bytes[slice];
            job->to = division->bytes[slice + 1];
        }
        for (size_t i = 0; i < job->process_count; i++)
            job->chosen[i] = division->share_of[i] == job->index;
        if (job->by_process && !job->chosen) {
            job->first = division->processes[group];
            job->end = division->processes[group + 1];
        }
        if (job->index + 1 == job->shares)
            break;
        job_send(request->team, *job, &known, path);
    }
    directory_alone(job->chosen);
}

bool share_jobs_end(struct share_job *job)
{
    share_job_clear(job);
    directory_alone(false);
    return !directory_missed();
}

void share_job_clear(struct share_job *job)
{
    free(job->chosen);
    free(job->ranks);
    job->chosen = NULL;
    job->ranks = NULL;
}

/* What follows the job in its message. */
struct share_source {
    struct clog2_known known;
    struct clog2_range *ranges;
    char *path;
};

/* False: what a scattered directory has here cannot be kept. */
static bool source_take(const char *data, struct share_job *job, struct share_source *source)
{
    size_t rank_size = job->what.rank_count * sizeof *job->ranks;
    job->ranks = memory_new(rank_size);
    if (job->what.ranks) {
        memcpy(job->ranks, data, rank_size);
        data += rank_size;
        job->what.ranks = job->ranks;
    }
    source->ranges = share_known_take(&data, &source->known);
    source->path = memory_copy_string(data);
    data += job->path_size;
    job->chosen = NULL;
    if (job->process_count == 0)
        return true;
    job->chosen = memory_copy(data, job->process_count);
    struct unpacking unpacking = {.data = data + job->process_count, .left = SIZE_MAX};
    return outline_take(&unpacking, source->path);
}

struct reader *share_job_open(const char *data, struct share_job *job)
{
    struct error err = {0};
    struct share_source source;
    struct reader *reader = NULL;
    memcpy(job, data, sizeof *job);
    bool taken = source_take(data + sizeof *job, job, &source);
    if (taken && source.known.end_of_log)
        reader = clog2_open_known(source.path, &source.known, &err);
    else if (taken)
        reader = reader_open(&source.path, 1, &err);
    free(source.ranges);
    free(source.path);
    if (!reader || input_identity_is(&job->file, reader->input))
        return reader;
    /* Another file of this name, on another host, or the trace was replaced. */
    reader_close(reader);
    return NULL;
}

bool share_stand(struct reader *reader, const struct share_job *job)
{
    struct error err = {0};
    const struct format_processes *processes = reader->format->processes;
    /* Where the trace was replaced in the meantime, it may be of another format. */
    if (job->by_process && (!processes || (job->chosen && !processes->choose)))
        return false;
    if (job->chosen)
        processes->choose(reader, job->chosen);
    else if (job->by_process)
        processes->select(reader, (size_t)job->first, (size_t)job->end);
    return job->slices == 1 || reader_seek(reader, job->from, job->to, &err) == STATUS_OK;
}
