/* SPDX-License-Identifier: BSD-3-Clause */
/* Joining two consecutive slices of a trace. The later one could not know which states were open at its start: its stray leaves
   and the time in which it had no state open are settled here, in the order in which they happened. */
#include "metrics/accumulator_state.h"

#include "core/memory.h"

#include <string.h>

/* MPI time of a process or thread across the border: the earlier slice's coverage may reach into the later one. */
struct seam {
    struct coverage first;  /* at the end of the earlier slice */
    bool carried;           /* the earlier slice's interval goes on */
    bool ended;             /* it was carried and ended in the later slice: */
    int64_t end_ns;         /* when */
    struct coverage at_end; /* the later slice's own coverage at that moment */
};

static struct seam seam_new(const struct coverage *first)
{
    return (struct seam){.first = *first, .carried = first->is_open};
}

static void seam_end(struct seam *seam, int64_t time_ns, const struct coverage *later)
{
    seam->carried = false;
    seam->ended = true;
    seam->end_ns = time_ns;
    seam->at_end = *later;
}

/* Coverage of both slices at a moment when the later slice's own coverage is `later`. */
static struct coverage seam_joined(const struct seam *seam, const struct coverage *later)
{
    if (seam->carried)
        return seam->first;
    struct coverage joined = *later;
    joined.closed_ns += seam->first.closed_ns;
    if (!seam->ended)
        return joined;
    /* What the later slice covered before the carried interval ended is inside that interval. */
    joined.closed_ns -= seam->at_end.closed_ns;
    if (!seam->at_end.is_open) {
        joined.closed_ns += not_negative(seam->end_ns - seam->first.since_ns);
    } else if (later->is_open && later->closed_ns == seam->at_end.closed_ns) {
        joined.since_ns = seam->first.since_ns;
    } else {
        joined.closed_ns += not_negative(seam->at_end.since_ns - seam->first.since_ns);
    }
    return joined;
}

/* Time in which the later slice had no state open belongs to what the earlier one left open. */
static void give_bare_time(struct thread_state *first, int64_t bare_ns)
{
    if (first->open.depth > 0)
        first->open.frames[first->open.depth - 1].exclusive_ns += bare_ns;
    else
        first->bare_ns += bare_ns;
}

struct process_merge {
    struct accumulator *accumulator;
    struct process_state *first, *later;
    struct seam process;
    struct seam *threads; /* by thread */
};

static void merge_stray(struct process_merge *merge, const struct stray_leave *stray)
{
    struct thread_state *thread = process_thread(merge->first, stray->thread);
    struct seam *seam = &merge->threads[stray->thread];
    give_bare_time(thread, stray->bare_ns);
    ptrdiff_t at = open_states_find(&thread->open, stray->state);
    if (at == OPEN_STATES_NONE && !merge->accumulator->options.later_slice) {
        thread_tally(thread, stray->state)->stray += stray->counted;
        return;
    }
    if (at == OPEN_STATES_NONE) {
        struct stray_leave moved = *stray;
        moved.bare_ns = thread->bare_ns;
        moved.order += merge->first->order;
        moved.process = seam_joined(&merge->process, &stray->process);
        moved.by_thread = seam_joined(seam, &stray->by_thread);
        thread->bare_ns = 0;
        ARRAY_PUSH(merge->first->strays, merge->first->stray_count, merge->first->stray_capacity, moved);
        return;
    }
    bool is_mpi = thread->open.frames[at].mark & FRAME_MPI;
    thread_close(thread, at, stray->time_ns);
    if (is_mpi && --thread->mpi_depth == 0) {
        seam_end(seam, stray->time_ns, &stray->by_thread);
        if (--merge->first->mpi_threads == 0)
            seam_end(&merge->process, stray->time_ns, &stray->process);
    }
}

static void merge_tallies(struct thread_state *first, const struct thread_state *later)
{
    for (size_t i = 0; i < later->tally_capacity; i++) {
        const struct tally *more = &later->tallies[i];
        if (!more->key)
            continue;
        struct tally *tally = thread_tally(first, more->key - 1);
        tally->count += more->count;
        tally->time_ns += more->time_ns;
        tally->exclusive_ns += more->exclusive_ns;
        tally->stray += more->stray;
        tally->min_ns = more->min_ns < tally->min_ns ? more->min_ns : tally->min_ns;
        tally->max_ns = more->max_ns > tally->max_ns ? more->max_ns : tally->max_ns;
    }
}

static void merge_thread_span(struct thread_state *first, const struct thread_state *later)
{
    if (!first->present) {
        first->begin_ns = later->begin_ns;
        first->end_ns = later->end_ns;
    } else if (later->present) {
        first->begin_ns = later->begin_ns < first->begin_ns ? later->begin_ns : first->begin_ns;
        first->end_ns = later->end_ns > first->end_ns ? later->end_ns : first->end_ns;
    }
    first->present |= later->present;
}

/* Frames that the later slice left open go on top of what the earlier one still has open. */
static void merge_thread_end(struct process_merge *merge, uint32_t number)
{
    struct thread_state *first = process_thread(merge->first, number), *later = &merge->later->threads[number];
    give_bare_time(first, later->bare_ns);
    for (size_t i = 0; i < later->open.depth; i++) {
        struct open_state *frame = open_states_enter(&first->open, later->open.frames[i].state, later->open.frames[i].time_ns);
        if (frame)
            *frame = later->open.frames[i];
    }
    first->mpi = seam_joined(&merge->threads[number], &later->mpi);
    bool was_inside = first->mpi_depth > 0;
    first->mpi_depth += later->mpi_depth;
    if (!was_inside && first->mpi_depth > 0)
        merge->first->mpi_threads++;
    merge_tallies(first, later);
    merge_thread_span(first, later);
    if (later->seen) {
        if (!first->seen)
            first->first_ns = later->first_ns;
        first->seen = true;
        first->last_ns = later->last_ns;
    }
}

static void merge_process_sums(struct process_state *first, const struct process_state *later)
{
    if (first->order == 0) {
        first->begin_ns = later->begin_ns;
        first->end_ns = later->end_ns;
        first->first_raw_ns = later->first_raw_ns;
    } else if (later->order > 0) {
        first->begin_ns = later->begin_ns < first->begin_ns ? later->begin_ns : first->begin_ns;
        first->end_ns = later->end_ns > first->end_ns ? later->end_ns : first->end_ns;
        first->time_back += later->first_raw_ns < first->last_raw_ns;
    }
    if (later->order > 0)
        first->last_raw_ns = later->last_raw_ns;
    first->time_back += later->time_back;
    first->events += later->events;
    first->order += later->order;
    for (int direction = 0; direction < 2; direction++) {
        first->messages[direction] += later->messages[direction];
        first->bytes[direction] += later->bytes[direction];
    }
}

static void merge_process(struct accumulator *accumulator, struct process_state *later)
{
    struct process_state *first = accumulator_process(accumulator, later->rank);
    struct process_merge merge = {.accumulator = accumulator, .first = first, .later = later};
    merge.process = seam_new(&first->mpi);
    merge.threads = memory_new(later->thread_count * sizeof *merge.threads);
    for (uint32_t i = 0; i < later->thread_count; i++) {
        struct thread_state *mine = process_thread(first, i), *theirs = &later->threads[i];
        merge.threads[i] = seam_new(&mine->mpi);
        if (mine->seen && theirs->seen)
            give_bare_time(mine, not_negative(theirs->first_ns - mine->last_ns));
    }
    for (size_t i = 0; i < later->stray_count; i++)
        merge_stray(&merge, &later->strays[i]);
    first->mpi = seam_joined(&merge.process, &later->mpi);
    for (uint32_t i = 0; i < later->thread_count; i++)
        merge_thread_end(&merge, i);
    merge_process_sums(first, later);
    free(merge.threads);
}

static void merge_marks(struct accumulator *first, const struct accumulator *later)
{
    for (size_t i = 0; i < later->marks.capacity; i++)
        if (later->marks.entries[i].key)
            *map_put(&first->marks, later->marks.entries[i].key - 1, 0) += later->marks.entries[i].value;
}

enum status accumulator_merge(struct accumulator *first, struct accumulator *later, struct error *err)
{
    if (!first->defs)
        first->defs = later->defs;
    for (size_t page = 0; page < PROCESS_LIMIT / PROCESS_PAGE; page++)
        for (size_t i = 0; later->pages[page] && i < PROCESS_PAGE; i++)
            if (later->pages[page][i])
                merge_process(first, later->pages[page][i]);
    merge_marks(first, later);
    first->messages += later->messages;
    first->end = later->end;
    return message_tables_merge(&first->tables, &later->tables, err);
}
