/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/counting.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/parallel.h"
#include "engine/opening.h"
#include "engine/share_job.h"
#include "engine/sharing.h"
#include "timeline/slices.h"

#include <stdlib.h>
#include <string.h>

enum {
    SLICES_MOST = 8,       /* each thread has ends for each other one, in buffers of 1 MB and more */
    PROCESSES_MOST = 128,  /* each has two buffers of ends for each other one */
    ENDS_AT_ONCE = 1 << 15 /* that are sent in one message */
};

/* A slice. */
struct part {
    struct census census;
    struct match_ends *ends; /* by owner */
    bool exact;
};

static void part_start(struct part *part, unsigned owners)
{
    census_start(&part->census);
    part->ends = match_ends_new(owners);
}

static void part_clear(struct part *part)
{
    census_clear(&part->census);
    match_ends_free(part->ends);
}

/* By threads: each reads a slice, and then matches what it owns of all slices. */

struct owner {
    struct match_ends *const *parts;
    size_t count;
    struct match_counts messages;
    bool exact;
};

static void owner_match(void *context, size_t index)
{
    struct owner *owner = (struct owner *)context + index;
    struct error err = {0};
    owner->exact = match_parts(owner->parts, owner->count, (unsigned)index, &owner->messages, &err) == STATUS_OK;
}

/* What was read is put together; false: it does not fit. */
static bool put_together(struct part *parts, unsigned count, struct counted *counted)
{
    struct match_ends **ends = memory_new(count * sizeof *ends);
    struct owner *owners = memory_new(count * sizeof *owners);
    for (unsigned i = 0; i < count; i++) {
        ends[i] = parts[i].ends;
        owners[i] = (struct owner){.parts = ends, .count = count};
        census_add(&counted->census, &parts[i].census);
        match_tally_add(&counted->messages.ends, match_ends_tally(ends[i]));
    }
    bool exact = !counted->messages.ends.numbered;
    if (exact)
        parallel_run(count, count, owner_match, owners);
    for (unsigned i = 0; exact && i < count; i++) {
        exact = owners[i].exact;
        match_counts_add(&counted->messages, &owners[i].messages);
    }
    free(ends);
    free(owners);
    return exact;
}

bool counting_by_threads(const struct engine_request *request, struct reader *reader, struct counted *counted)
{
    struct watching watching = {.request = request, .step = ENGINE_STEP_EVENTS, .parts = counted->slices};
    struct slices *slices = slices_open(reader, request->inputs[0], counted->slices);
    if (!slices)
        return false;
    struct part *parts = memory_new(counted->slices * sizeof *parts);
    struct sink **sinks = memory_new(2 * (size_t)counted->slices * sizeof *sinks);
    for (size_t i = 0; i < counted->slices; i++) {
        part_start(&parts[i], counted->slices);
        sinks[2 * i] = &parts[i].census.sink;
        sinks[2 * i + 1] = match_ends_sink(parts[i].ends);
    }
    bool exact = slices_run(slices, sinks, 2, opening_watch, &watching);
    slices_close(slices);
    exact = exact && put_together(parts, counted->slices, counted);
    for (size_t i = 0; i < counted->slices; i++)
        part_clear(&parts[i]);
    free(parts);
    free(sinks);
    return exact;
}

/* By processes: each reads a slice, sends its ends to their owners, and matches those that it owns. */

/* All ends of one owner, in several messages, and an empty one after the last; one of a byte where they are not to be
   had. */
static void ends_send(struct team *team, int to, const struct part *part, unsigned owner)
{
    struct error err = {0};
    bool good = part->exact;
    struct match_end *some = memory_new(ENDS_AT_ONCE * sizeof *some);
    for (int receives = 0; receives < 2 && good; receives++) {
        enum status status = match_ends_begin(part->ends, owner, receives, &err);
        while (status == STATUS_OK) {
            size_t count = 0;
            while (count < ENDS_AT_ONCE &&
                   (status = match_ends_next(part->ends, owner, receives, &some[count], &err)) == STATUS_OK)
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

/* The same from this process to itself. */
static bool ends_keep(const struct part *part, unsigned owner, struct match_ends *into)
{
    struct error err = {0};
    struct match_end end;
    enum status status = part->exact ? STATUS_END : STATUS_FAILED;
    for (int receives = 0; receives < 2 && status == STATUS_END; receives++) {
        status = match_ends_begin(part->ends, owner, receives, &err);
        while (status == STATUS_OK &&
               (status = match_ends_next(part->ends, owner, receives, &end, &err)) == STATUS_OK &&
               (status = match_ends_add(into, 0, receives, &end, &err)) == STATUS_OK)
            ;
    }
    return status == STATUS_END;
}

/* In each round a process exchanges ends with one other, or with itself: no two wait for each other. The partners come
   in rising order, but begin in the middle: `first` gets the ends of the slices from there on, `then` those before it.
   What goes with a slice has to be matched after all before it. */
static bool exchange(struct team *team, const struct share_job *job, const struct part *part, struct match_ends *first,
                     struct match_ends *then)
{
    unsigned shares = job->shares, own = job->index;
    unsigned begin = (shares - own) % shares;
    bool good = true;
    for (unsigned round = 0; round < shares; round++) {
        unsigned partner = (begin + round) % shares;
        int rank = share_rank(partner, shares);
        struct match_ends *into = partner >= begin ? first : then;
        if (own < partner)
            ends_send(team, rank, part, partner);
        if (partner == own)
            good = ends_keep(part, own, into) && good;
        else
            good = ends_receive(team, rank, into) && good;
        if (own > partner)
            ends_send(team, rank, part, partner);
    }
    return good;
}

static struct match_counts match_with_others(struct team *team, const struct share_job *job, struct part *part)
{
    struct error err = {0};
    struct match_counts counts = {0};
    struct match_ends *first = match_ends_new(1), *then = match_ends_new(1);
    struct match_ends *const in_order[] = {then, first};
    part->exact = exchange(team, job, part, first, then) && match_parts(in_order, 2, 0, &counts, &err) == STATUS_OK;
    counts.ends = *match_ends_tally(part->ends);
    match_ends_free(first);
    match_ends_free(then);
    return counts;
}

static void part_read(struct reader *reader, const struct share_job *job, struct part *part, stream_watch *watch,
                      void *context)
{
    struct sink *sinks[] = {&part->census.sink, match_ends_sink(part->ends)};
    part->exact = reader && share_stand(reader, job) && slices_read(reader, sinks, 2, watch, context);
}

static void part_send(struct team *team, const struct part *part, const struct match_counts *counts,
                      const struct reader *reader)
{
    char *data = NULL;
    size_t size = 0, capacity = 0;
    struct packing packing = {&data, &size, &capacity};
    packing_put(&packing, &part->exact, sizeof part->exact);
    packing_put(&packing, counts, sizeof *counts);
    census_pack(&part->census, &packing);
    if (part->exact)
        PACK_ARRAY(&packing, reader->records, reader->record_kinds);
    team_send(team, 0, data, size);
    free(data);
}

/* Both readers count the same kinds in the same order; names are where each has them. */
static bool take_records(struct unpacking *unpacking, struct reader *reader)
{
    size_t kinds, capacity;
    struct record_count *records;
    UNPACK_ARRAY(unpacking, records, kinds, capacity);
    bool alike = !unpacking->failed && kinds == reader->record_kinds;
    for (size_t i = 0; alike && i < kinds; i++)
        reader->records[i].count += records[i].count;
    free(records);
    return alike;
}

/* Adds what another process has counted; false: nothing that could be used. */
static bool part_receive(struct team *team, int from, struct reader *reader, struct counted *counted)
{
    size_t size;
    char *data = team_receive(team, from, &size);
    struct unpacking unpacking = {.data = data, .left = size};
    struct census census;
    struct match_counts messages;
    bool exact;
    unpacking_take(&unpacking, &exact, sizeof exact);
    unpacking_take(&unpacking, &messages, sizeof messages);
    census_unpack(&unpacking, &census);
    exact = exact && take_records(&unpacking, reader);
    if (exact) {
        census_add(&counted->census, &census);
        match_tally_add(&counted->messages.ends, &messages.ends);
        match_counts_add(&counted->messages, &messages);
    }
    census_clear(&census);
    free(data);
    return exact;
}

static bool count_by_processes(const struct engine_request *request, struct reader *reader, struct counted *counted)
{
    struct watching watching = {.request = request, .step = ENGINE_STEP_EVENTS, .parts = counted->slices};
    struct share_job job = {.kind = JOB_COUNT, .shares = counted->slices};
    uint64_t *borders = share_borders(reader, job.shares);
    share_jobs_send(request->team, &job, borders, reader, request->inputs[0]);
    free(borders);
    struct part part = {0};
    part_start(&part, job.shares);
    part_read(reader, &job, &part, opening_watch, &watching);
    struct match_counts own = match_with_others(request->team, &job, &part);
    bool exact = part.exact;
    /* All have to be received, and the own slice is the last. */
    for (unsigned i = 0; i + 1 < job.shares; i++)
        exact = part_receive(request->team, share_rank(i, job.shares), reader, counted) && exact;
    census_add(&counted->census, &part.census);
    match_tally_add(&counted->messages.ends, &own.ends);
    match_counts_add(&counted->messages, &own);
    reader_drop_unused_counts(reader);
    part_clear(&part);
    return exact && !counted->messages.ends.numbered;
}

void counting_do(struct team *team, const char *data)
{
    struct share_job job;
    uint32_t *ranks;
    struct reader *reader = share_job_open(data, &job, &ranks);
    struct part part = {0};
    part_start(&part, job.shares);
    part_read(reader, &job, &part, NULL, NULL);
    struct match_counts counts = match_with_others(team, &job, &part);
    part_send(team, &part, &counts, reader);
    part_clear(&part);
    reader_close(reader);
    free(ranks);
}

bool counting_in_slices(const struct engine_request *request, struct reader *reader, struct counted *counted)
{
    bool by_processes = sharing_is_possible(request);
    unsigned most = opening_threads(request, SLICES_MOST);
    if (by_processes)
        most = (unsigned)smaller(team_size(request->team), PROCESSES_MOST);
    counted->slices = slices_worth(reader, request->inputs, request->input_count, most);
    if (counted->slices < 2)
        return false;
    if (by_processes)
        return count_by_processes(request, reader, counted);
    return counting_by_threads(request, reader, counted);
}
