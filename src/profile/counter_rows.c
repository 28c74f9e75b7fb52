/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/counter_rows.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a process has of a counter so far. */
struct summing {
    struct counter_amount amount;
    uint64_t readings, falls;
};

static void put_sums(struct process_row *row, const struct summing *sums, size_t count)
{
    size_t capacity = 0;
    for (size_t i = 0; i < count; i++)
        if (sums[i].readings > 0)
            ARRAY_PUSH(row->counted, row->counted_count, capacity,
                       (struct counter_sum){.counter = (uint32_t)i,
                                            .readings = sums[i].readings,
                                            .falls = sums[i].falls,
                                            /* Metrics files have no infinities. */
                                            .known = sums[i].amount.known && isfinite(sums[i].amount.amount),
                                            .amount = sums[i].amount.amount,
                                            .ns = sums[i].amount.ns});
}

void counters_to_rows(const struct counters *counters, struct metrics *metrics)
{
    size_t count = smaller(counters->count, (size_t)METRICS_COUNTERS);
    struct summing *sums = memory_new((count + 1) * sizeof *sums);
    metrics->counted = memory_new((count + 1) * sizeof *metrics->counted);
    metrics->counted_count = count;
    for (size_t i = 0; i < count; i++)
        metrics->counted[i] = (struct summed_counter){counters->counter[i].mark, counters->counter[i].mode};
    for (size_t i = 0; i < counters->track_count;) {
        uint32_t rank = counters->track[i].rank;
        memset(sums, 0, count * sizeof *sums);
        for (; i < counters->track_count && counters->track[i].rank == rank; i++) {
            const struct counter_track *track = &counters->track[i];
            if (track->counter >= count)
                continue;
            struct summing *sum = &sums[track->counter];
            counter_amount_add(&sum->amount, track, counters->from_ns, counters->to_ns);
            sum->readings += track->readings;
            sum->falls += track->falls;
        }
        size_t row = metrics_row_of(metrics, rank);
        if (row != SIZE_MAX)
            put_sums(&metrics->process[row], sums, count);
    }
    free(sums);
}

/* Counters that a selection of processes has not read are left out. `places`: by counter of the metrics. */
static void counters_in_use(struct counters *counters, const struct metrics *metrics, uint32_t *places)
{
    bool *used = memory_new(metrics->counted_count + 1);
    for (size_t i = 0; i < metrics->process_count; i++)
        for (size_t k = 0; k < metrics->process[i].counted_count; k++)
            used[metrics->process[i].counted[k].counter] = true;
    counters->counter = memory_new((metrics->counted_count + 1) * sizeof *counters->counter);
    for (size_t i = 0; i < metrics->counted_count; i++) {
        const struct summed_counter *counted = &metrics->counted[i];
        const struct mark_def *mark = &metrics->defs->marks[counted->mark];
        if (!used[i])
            continue;
        places[i] = (uint32_t)counters->count;
        counters->counter[counters->count++] =
            (struct counter_info){.mark = counted->mark,
                                  .name = mark->name,
                                  .unit = mark->counter.unit ? mark->counter.unit : "",
                                  .mode = counted->mode};
    }
    free(used);
}

/* From 0 to its time it has grown by its amount. */
static struct counter_track track_of(uint32_t rank, uint32_t place, const struct counter_sum *sum)
{
    struct counter_track track = {
        .rank = rank, .counter = place, .readings = sum->readings, .falls = sum->falls, .count = 1};
    track.reading = memory_new(2 * sizeof *track.reading);
    track.capacity = 2;
    if (sum->known)
        track.reading[track.count++] = (struct counter_reading){sum->ns, sum->amount};
    return track;
}

struct counters *counters_of_rows(const struct metrics *metrics)
{
    struct counters *counters = memory_new(sizeof *counters);
    uint32_t *places = memory_new((metrics->counted_count + 1) * sizeof *places);
    size_t capacity = 0;
    *counters = (struct counters){.defs = metrics->defs, .from_ns = INT64_MIN, .to_ns = INT64_MAX, .sums = true};
    counters_in_use(counters, metrics, places);
    for (size_t i = 0; i < metrics->process_count; i++)
        for (size_t k = 0; k < metrics->process[i].counted_count; k++) {
            const struct counter_sum *sum = &metrics->process[i].counted[k];
            uint32_t place = places[sum->counter];
            counters->counter[place].readings += sum->readings;
            counters->counter[place].falls += sum->falls;
            ARRAY_PUSH(counters->track, counters->track_count, capacity,
                       track_of(metrics->process[i].rank, place, sum));
        }
    free(places);
    if (counters->count > 0)
        return counters;
    counters_free(counters);
    return NULL;
}
