/* SPDX-License-Identifier: BSD-3-Clause */
/* Contents of a trace by processes: each reads a share, sends the ends of its messages to their owners, and matches
   those that it owns. */
#include "engine/counting.h"

#include "core/directory.h"
#include "core/memory.h"
#include "engine/share_job.h"
#include "timeline/slices.h"

#include <stdlib.h>
#include <string.h>

enum {
    PROCESSES_MOST = 128,  /* each has two buffers of ends for each other one */
    ENDS_AT_ONCE = 1 << 15 /* that are sent in one message */
};

/* A share. */
struct share {
    struct counting_part part;
    bool exact;
};

/* All ends of one owner, in several messages, and an empty one after the last; one of a byte where they are not to be
   had. */
static void ends_send(struct team *team, int to, const struct share *share, unsigned owner)
{
    struct error err = {0};
    bool good = share->exact;
    struct match_end *some = memory_new(ENDS_AT_ONCE * sizeof *some);
    for (int receives = 0; receives < 2 && good; receives++) {
        enum status status = match_ends_begin(share->part.ends, owner, receives, &err);
        while (status == STATUS_OK) {
            size_t count = 0;
            while (count < ENDS_AT_ONCE &&
                   (status = match_ends_next(share->part.ends, owner, receives, &some[count], &err)) == STATUS_OK)
                count++;
            if (count > 0)
                team_send(team, to, some, count * sizeof *some);
        }
        good = status == STATUS_END;
        if (good)
            team_send(team, to, NULL, 0);
    }
    if (!good)
        team_send(team, to, "", 1);
    free(some);
}

/* False: they are not to be had. */
static bool ends_receive(struct team *team, int from, struct match_ends *into)
{
    struct error err = {0};
    bool good = true;
    for (int receives = 0; receives < 2;) {
        size_t size;
        struct match_end *some = team_receive(team, from, &size);
        for (size_t i = 0; good && i < size / sizeof *some; i++)
            good = match_ends_add(into, 0, receives, &some[i], &err) == STATUS_OK;
        free(some);
        if (size == 1)
            return false;
        receives += size == 0;
    }
    return good;
}

/* Ends of other processes: of some shares that follow each other, in three sets. */
enum { SETS = 3 };

/* In each round a process exchanges ends with one other: no two wait for each other. The partners come in rising order,
   but begin in the middle; in each set they are in order. */
static bool exchange(struct team *team, const struct share_job *job, const struct share *share,
                     struct match_ends *const sets[SETS])
{
    unsigned shares = job->shares, own = job->index, begin = (shares - own) % shares;
    bool good = share->exact;
    for (unsigned round = 0; round < shares; round++) {
        unsigned partner = (begin + round) % shares;
        int rank = share_rank(partner, shares);
        /* The borders between sets are this process itself, and where the partners begin. */
        unsigned set = (unsigned)(partner >= own) + (unsigned)(partner >= begin);
        if (own < partner)
            ends_send(team, rank, share, partner);
        if (partner != own)
            good = ends_receive(team, rank, sets[set]) && good;
        if (own > partner)
            ends_send(team, rank, share, partner);
    }
    return good;
}

/* Ends are matched in the order of the shares. */
static struct match_counts match_with_others(struct team *team, const struct share_job *job, struct share *share)
{
    struct error err = {0};
    struct match_counts counts = {0};
    struct match_ends *const sets[SETS] = {match_ends_new(1), match_ends_new(1), match_ends_new(1)};
    unsigned own = job->index, begin = (job->shares - own) % job->shares;
    const struct match_part mine = {share->part.ends, own}, first = {sets[0], 0}, second = {sets[1], 0},
                            third = {sets[2], 0};
    const struct match_part in_order[SETS + 1] = {first, own < begin ? mine : second, own < begin ? second : mine,
                                                  third};
    share->exact = exchange(team, job, share, sets) && match_parts(in_order, SETS + 1, &counts, &err) == STATUS_OK;
    counts.ends = *match_ends_tally(share->part.ends);
    for (size_t i = 0; i < SETS; i++)
        match_ends_free(sets[i]);
    return counts;
}

static void share_read(struct reader *reader, const struct share_job *job, struct share *share, stream_watch *watch,
                       void *context)
{
    struct sink *sinks[] = {&share->part.census.sink, match_ends_sink(share->part.ends)};
    share->exact = reader && share_stand(reader, job) && slices_read(reader, sinks, 2, watch, context) &&
                   !(job->chosen && directory_missed());
}

static void share_send(struct team *team, const struct share *share, const struct match_counts *counts,
                       const struct reader *reader)
{
    char *data = NULL;
    size_t size = 0, capacity = 0;
    struct packing packing = {&data, &size, &capacity};
    packing_put(&packing, &share->exact, sizeof share->exact);
    packing_put(&packing, counts, sizeof *counts);
    census_pack(&share->part.census, &packing);
    if (share->exact)
        PACK_ARRAY(&packing, reader->records, reader->record_kinds);
    team_send(team, 0, data, size);
    free(data);
}

/* Which of another share's counts are not in those of the last share. */
enum news { NEWS_NONE, NEWS_EVENTS, NEWS_ALL };

static enum news news_of(const struct share_job *job, unsigned index, const struct reader *reader)
{
    if (!job->by_process)
        return NEWS_ALL;
    /* A reader of some processes counts all definitions, and its own events; or all there is in its slice. */
    if (!reader->format->processes->reads_all)
        return NEWS_EVENTS;
    return index / job->slices == (job->shares - 1) / job->slices ? NEWS_ALL : NEWS_NONE;
}

/* Both readers count the same kinds in the same order; names are where each has them. */
static bool take_records(struct unpacking *unpacking, struct reader *reader, enum news news)
{
    size_t kinds, capacity;
    struct record_count *records;
    UNPACK_ARRAY(unpacking, records, kinds, capacity);
    bool alike = !unpacking->failed && kinds == reader->record_kinds;
    for (size_t i = 0; alike && i < kinds; i++)
        if (news == NEWS_ALL || (news == NEWS_EVENTS && strcmp(reader->records[i].name, "event") == 0))
            reader->records[i].count += records[i].count;
    free(records);
    return alike;
}

/* Adds what another process has counted; false: nothing that could be used. */
static bool share_receive(struct team *team, const struct share_job *job, unsigned index, struct reader *reader,
                          struct counted *counted)
{
    size_t size;
    char *data = team_receive(team, share_rank(index, job->shares), &size);
    struct unpacking unpacking = {.data = data, .left = size};
    struct census census;
    struct match_counts messages;
    bool exact;
    unpacking_take(&unpacking, &exact, sizeof exact);
    unpacking_take(&unpacking, &messages, sizeof messages);
    census_unpack(&unpacking, &census);
    exact = exact && take_records(&unpacking, reader, news_of(job, index, reader));
    if (exact) {
        census_add(&counted->census, &census);
        match_tally_add(&counted->messages.ends, &messages.ends);
        match_counts_add(&counted->messages, &messages);
    }
    census_clear(&census);
    free(data);
    return exact;
}

static bool count_shares(const struct engine_request *request, const struct share_division *division,
                         struct reader *reader, struct counted *counted)
{
    struct watching watching = share_watching(request, division, ENGINE_STEP_EVENTS);
    struct share_job job = {.kind = JOB_COUNT};
    share_jobs_send(request, division, reader, &job);
    struct share share = {0};
    counting_part_start(&share.part, job.shares);
    share_read(reader, &job, &share, opening_watch, &watching);
    struct match_counts own = match_with_others(request->team, &job, &share);
    bool exact = share.exact;
    /* All have to be received, and the own slice is the last. */
    for (unsigned i = 0; i + 1 < job.shares; i++)
        exact = share_receive(request->team, &job, i, reader, counted) && exact;
    census_add(&counted->census, &share.part.census);
    match_tally_add(&counted->messages.ends, &own.ends);
    match_counts_add(&counted->messages, &own);
    if (!job.by_process || reader->format->processes->reads_all)
        reader_drop_unused_counts(reader);
    counting_part_clear(&share.part);
    return share_jobs_end(&job) && exact && !counted->messages.ends.numbered;
}

bool counting_by_processes(const struct engine_request *request, struct reader *reader, struct counted *counted)
{
    struct share_division division = share_divide(request, reader, PROCESSES_MOST);
    bool exact = false;
    counted->slices = 0;
    if (division.shares > 1) {
        counted->slices = division.shares;
        exact = count_shares(request, &division, reader, counted);
    }
    share_division_clear(&division);
    return exact;
}

void counting_do(struct team *team, const char *data)
{
    struct share_job job;
    struct reader *reader = share_job_open(data, &job);
    struct share share = {0};
    counting_part_start(&share.part, job.shares);
    share_read(reader, &job, &share, NULL, NULL);
    struct match_counts counts = match_with_others(team, &job, &share);
    share_send(team, &share, &counts, reader);
    counting_part_clear(&share.part);
    reader_close(reader);
    share_job_clear(&job);
}
