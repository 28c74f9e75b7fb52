/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/openmp_rows.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/openmp.h"

#include <string.h>

/* A region of the process: the part of its name that its states share, and what all threads have of it. */
struct region {
    const char *place;
    uint64_t count;
    int64_t time_ns;
};

struct regions {
    struct region *region;
    size_t count, capacity;
};

static struct region *region_of(struct regions *regions, const struct state_def *state)
{
    const char *place = openmp_place(state);
    for (size_t i = 0; i < regions->count; i++)
        if (strcmp(regions->region[i].place, place) == 0)
            return &regions->region[i];
    ARRAY_PUSH(regions->region, regions->count, regions->capacity, (struct region){.place = place});
    return &regions->region[regions->count - 1];
}

static bool is_short(const struct region *region)
{
    return region->count > 0 && region->time_ns / (int64_t)region->count < OPENMP_SHORT_NS;
}

/* Visits the states of OpenMP on a thread: *at is 0 first. False: there are no more. */
static bool next_part(const struct defs *defs, const struct thread_state *thread, size_t *at,
                      const struct tally **tally, enum openmp_part *part)
{
    while (*at < thread->tally_capacity) {
        *tally = &thread->tallies[(*at)++];
        *part = (*tally)->key ? openmp_part_of(&defs->states[(*tally)->key - 1]) : OPENMP_PART_NONE;
        if (*part != OPENMP_PART_NONE)
            return true;
    }
    return false;
}

/* Regions that are open at the end last to it. How long they would have been is not known: they are not short. */
static void fill_open(const struct defs *defs, const struct thread_state *thread, int64_t end_ns,
                      struct thread_row *row)
{
    for (size_t i = 0; i < thread->open.depth; i++) {
        const struct open_state *frame = &thread->open.frames[i];
        enum openmp_part part = openmp_part_of(&defs->states[frame->state]);
        if (part == OPENMP_PART_PARALLEL)
            row->regions += frame->mark & FRAME_COUNTED;
        else if (part == OPENMP_PART_WAITING)
            time_add(&row->waiting_ns, time_since(frame->time_ns, end_ns));
    }
}

static void fill(const struct defs *defs, const struct thread_state *thread, struct regions *regions,
                 struct thread_row *row)
{
    const struct tally *tally;
    enum openmp_part part;
    for (size_t at = 0; next_part(defs, thread, &at, &tally, &part);) {
        bool brief = is_short(region_of(regions, &defs->states[tally->key - 1]));
        if (part == OPENMP_PART_PARALLEL) {
            row->regions += tally->count;
            time_add(&row->short_ns, brief ? tally->time_ns : 0);
        } else {
            time_add(&row->waiting_ns, tally->time_ns);
            time_add(&row->short_waiting_ns, brief ? tally->time_ns : 0);
        }
    }
}

/* A region within a region counts once, and what is part of a time is no more than that. */
static void fill_covered(const struct thread_state *thread, int64_t end_ns, struct thread_row *row)
{
    int64_t regions_ns = coverage_until(&thread->covered[COVER_REGIONS], end_ns),
            either_ns = coverage_until(&thread->covered[COVER_EITHER], end_ns);
    row->parallel_ns = regions_ns;
    /* Where clocks go back, the three need not fit together. */
    row->parallel_mpi_ns = larger(row->communication_ns - time_since(regions_ns, either_ns), INT64_C(0));
    row->parallel_mpi_ns = smaller(row->parallel_mpi_ns, row->parallel_ns);
    row->waiting_ns = smaller(row->waiting_ns, row->parallel_ns);
    row->short_ns = smaller(row->short_ns, row->parallel_ns);
    row->short_waiting_ns = smaller(row->short_waiting_ns, row->short_ns);
}

static void fill_row(const struct defs *defs, const struct thread_state *thread, const struct process_row *span,
                     struct regions *regions, struct thread_row *row)
{
    fill(defs, thread, regions, row);
    fill_open(defs, thread, span->end_ns, row);
    fill_covered(thread, span->end_ns, row);
}

void openmp_rows_fill(const struct defs *defs, const struct process_state *process, const struct process_row *span,
                      struct process_row *row)
{
    struct regions regions = {0};
    const struct tally *tally;
    enum openmp_part part;
    for (size_t i = 0; i < process->thread_count; i++)
        for (size_t at = 0; next_part(defs, &process->threads[i], &at, &tally, &part);)
            if (part == OPENMP_PART_PARALLEL) {
                struct region *region = region_of(&regions, &defs->states[tally->key - 1]);
                region->count += tally->count;
                time_add(&region->time_ns, tally->time_ns);
            }
    for (size_t i = 0; i < process->thread_count; i++)
        for (size_t k = 0; k < row->thread_count; k++)
            if (row->threads[k].thread == process->threads[i].number)
                fill_row(defs, &process->threads[i], span, &regions, &row->threads[k]);
    free(regions.region);
}
