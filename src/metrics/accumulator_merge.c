/* SPDX-License-Identifier: BSD-3-Clause */
/* Joining two consecutive slices of a trace. The later one could not know which states were open at its start: its
   stray leaves and the time in which it had no state open are settled here, in the order in which they happened. */
#include "metrics/accumulator_state.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <string.h>

/* Covered time of a process or thread across the border: the earlier slice's coverage may reach into the later one. */
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

static uint32_t closing_find(const struct process_state *process, uint32_t closing)
{
    /* Closings that turned out to be the same end: a chain of links, one for each merge. */
    while (process->closings[closing - 1].same_as)
        closing = process->closings[closing - 1].same_as;
    return closing;
}

/* `first` already has the closings of both slices. */
static void seam_end(struct process_state *first, struct seam *seam, int64_t time_ns, const struct coverage *later)
{
    seam->carried = false;
    seam->ended = true;
    seam->end_ns = time_ns;
    seam->at_end = *later;
    if (!seam->first.closing)
        return;
    /* If the later slice is inside MPI at that moment, the interval goes on, and ends with the later slice's own. */
    struct closing *closing = &first->closings[closing_find(first, seam->first.closing) - 1];
    if (later->is_open)
        closing->same_as = later->closing;
    else
        closing->time_ns = time_ns;
}

/* Coverage of both slices at a moment when the later slice's own coverage is `later`. */
static struct coverage seam_joined(const struct process_state *first, const struct seam *seam,
                                   const struct coverage *later)
{
    /* No stray leave has closed the carried interval: all coverage of the later slice lies inside it. */
    if (seam->carried)
        return seam->first;
    struct coverage joined = *later;
    time_add(&joined.closed_ns, seam->first.closed_ns);
    if (!seam->ended)
        return joined;
    /* The later slice's coverage before the end of the carried interval lies inside that interval. */
    const struct coverage *at_end = &seam->at_end;
    /* What lay inside must not be counted again. */
    time_subtract(&joined.closed_ns, at_end->closed_ns);
    if (!at_end->is_open) {
        time_add(&joined.closed_ns, time_since(seam->first.since_ns, seam->end_ns));
        return joined;
    }
    /* The later slice's interval overlaps the end: the two are one, from the earlier begin. */
    uint32_t closing = closing_find(first, at_end->closing);
    if (later->is_open && later->closing && closing_find(first, later->closing) == closing) {
        joined.since_ns = seam->first.since_ns;
    } else {
        int64_t closed_at = first->closings[closing - 1].time_ns;
        time_add(&joined.closed_ns,
                 time_since(seam->first.since_ns, closed_at) - time_since(at_end->since_ns, closed_at));
    }
    return joined;
}

/* Time in which the later slice had no state open belongs to the states that the earlier one left open. */
static void give_bare_time(struct thread_state *first, int64_t bare_ns)
{
    /* As thread_advance would have done, had it known. */
    if (first->open.depth > 0)
        time_add(&first->open.frames[first->open.depth - 1].exclusive_ns, bare_ns);
    else
        time_add(&first->bare_ns, bare_ns);
}

struct process_merge {
    struct accumulator *accumulator;
    struct process_state *first, *later;
    struct seam process;
    struct seam (*threads)[COVERS]; /* by place in later->threads */
};

/* A leave without enter in the earlier slice either, if that is not the first slice itself. */
static void keep_stray(struct process_merge *merge, const struct stray_leave *stray, struct thread_state *thread,
                       struct seam seams[COVERS])
{
    struct process_state *first = merge->first;
    struct stray_leave moved = *stray;
    coverage_ask(first, &merge->process.first);
    /* It goes on to the slice before: with the sums up to this moment as they would be if the two slices were one. */
    moved.bare_ns = thread->bare_ns;
    moved.process = seam_joined(first, &merge->process, &stray->process);
    for (int kind = 0; kind < COVERS; kind++) {
        coverage_ask(first, &seams[kind].first);
        moved.by_thread[kind] = seam_joined(first, &seams[kind], &stray->by_thread[kind]);
    }
    thread->bare_ns = 0;
    ARRAY_PUSH(first->strays, first->stray_count, first->stray_capacity, moved);
}

static void merge_stray(struct process_merge *merge, const struct stray_leave *stray)
{
    struct process_state *first = merge->first;
    struct thread_state *thread = process_thread(first, stray->thread);
    struct seam *seams = merge->threads[process_thread(merge->later, stray->thread) - merge->later->threads];
    /* In the order of the strays: each one ends a stretch of time without a state. */
    give_bare_time(thread, stray->bare_ns);
    /* The same rule as in one pass: a leave closes the latest open instance of its state. */
    ptrdiff_t at = open_states_find(&thread->open, stray->state);
    if (at == OPEN_STATES_NONE) {
        if (merge->accumulator->options.later_slice)
            keep_stray(merge, stray, thread, seams);
        else
            thread_tally(thread, stray->state)->stray += stray->counted;
        return;
    }
    uint32_t mark = thread->open.frames[at].mark;
    thread_close(thread, at, stray->time_ns);
    for (int kind = 0; kind < COVERS; kind++)
        if (frame_is_covered(mark, kind) && --thread->depth[kind] == 0) {
            /* The thread first: the process leaves MPI with its last thread. */
            seam_end(first, &seams[kind], stray->time_ns, &stray->by_thread[kind]);
            if (kind == COVER_MPI && --first->mpi_threads == 0)
                seam_end(first, &merge->process, stray->time_ns, &stray->process);
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
        time_add(&tally->time_ns, more->time_ns);
        time_add(&tally->exclusive_ns, more->exclusive_ns);
        tally->stray += more->stray;
        tally->min_ns = smaller(tally->min_ns, more->min_ns);
        tally->max_ns = larger(tally->max_ns, more->max_ns);
    }
}

static void merge_thread_span(struct thread_state *first, const struct thread_state *later)
{
    if (!first->present) {
        first->begin_ns = later->begin_ns;
        first->end_ns = later->end_ns;
    } else if (later->present) {
        first->begin_ns = smaller(first->begin_ns, later->begin_ns);
        first->end_ns = larger(first->end_ns, later->end_ns);
    }
    first->present |= later->present;
}

/* Frames that the later slice left open go on top of those that the earlier one still has open. */
static void merge_thread_end(struct process_merge *merge, size_t place)
{
    struct thread_state *later = &merge->later->threads[place];
    struct thread_state *first = process_thread(merge->first, later->number);
    give_bare_time(first, later->bare_ns);
    for (size_t i = 0; i < later->open.depth; i++) {
        struct open_state *frame =
            open_states_enter(&first->open, later->open.frames[i].state, later->open.frames[i].time_ns);
        if (frame)
            /* Its counts and exclusive time so far, too. */
            *frame = later->open.frames[i];
    }
    /* A thread that was inside MPI before the border is counted already. */
    bool was_inside = first->depth[COVER_MPI] > 0;
    for (int kind = 0; kind < COVERS; kind++) {
        first->covered[kind] = seam_joined(merge->first, &merge->threads[place][kind], &later->covered[kind]);
        first->depth[kind] += later->depth[kind];
    }
    if (!was_inside && first->depth[COVER_MPI] > 0)
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
        first->begin_ns = smaller(first->begin_ns, later->begin_ns);
        first->end_ns = larger(first->end_ns, later->end_ns);
        /* The step over the border is one that neither slice has seen. */
        first->time_back += later->first_raw_ns < first->last_raw_ns;
    }
    if (later->order > 0)
        first->last_raw_ns = later->last_raw_ns;
    first->time_back += later->time_back;
    first->events += later->events;
    first->order += later->order;
    for (int direction = 0; direction < 2; direction++) {
        first->messages[direction] += later->messages[direction];
        bytes_add(&first->bytes[direction], later->bytes[direction]);
    }
}

/* A number of a closing, after `base` others; 0 stays none. */
static void move_up(uint32_t *closing, uint32_t base)
{
    if (*closing)
        *closing += base;
}

/* The closings of both slices become one row; the later slice's numbers move up. */
static void join_closings(struct process_state *first, struct process_state *later)
{
    uint32_t base = (uint32_t)first->closing_count;
    for (size_t i = 0; i < later->closing_count; i++) {
        struct closing closing = later->closings[i];
        move_up(&closing.same_as, base);
        ARRAY_PUSH(first->closings, first->closing_count, first->closing_capacity, closing);
    }
    for (size_t i = 0; i < later->stray_count; i++) {
        move_up(&later->strays[i].process.closing, base);
        for (int kind = 0; kind < COVERS; kind++)
            move_up(&later->strays[i].by_thread[kind].closing, base);
    }
    for (size_t i = 0; i < later->thread_count; i++)
        for (int kind = 0; kind < COVERS; kind++)
            move_up(&later->threads[i].covered[kind].closing, base);
    move_up(&later->mpi.closing, base);
}

/* The first slice of a trace keeps no stray leaves, so nothing refers to it. */
static void drop_closings(struct process_state *first)
{
    first->closing_count = 0;
    first->mpi.closing = 0;
    for (size_t i = 0; i < first->thread_count; i++)
        for (int kind = 0; kind < COVERS; kind++)
            first->threads[i].covered[kind].closing = 0;
}

static void merge_process(struct accumulator *accumulator, struct process_state *later)
{
    struct process_state *first = accumulator_process(accumulator, later->rank);
    struct process_merge merge = {.accumulator = accumulator, .first = first, .later = later};
    join_closings(first, later);
    merge.process = seam_new(&first->mpi);
    merge.threads = memory_new(later->thread_count * sizeof *merge.threads);
    for (size_t i = 0; i < later->thread_count; i++) {
        const struct thread_state *theirs = &later->threads[i];
        struct thread_state *mine = process_thread(first, theirs->number);
        for (int kind = 0; kind < COVERS; kind++)
            merge.threads[i][kind] = seam_new(&mine->covered[kind]);
        /* Between the last event of one slice and the first of the other no state changed: that time is nobody's
           until now. */
        if (mine->seen && theirs->seen)
            give_bare_time(mine, time_since(mine->last_ns, theirs->first_ns));
    }
    /* All of them before the sums at the end: they say what the later slice's coverage was at each moment. */
    for (size_t i = 0; i < later->stray_count; i++)
        merge_stray(&merge, &later->strays[i]);
    first->mpi = seam_joined(first, &merge.process, &later->mpi);
    for (size_t i = 0; i < later->thread_count; i++)
        merge_thread_end(&merge, i);
    merge_process_sums(first, later);
    if (!accumulator->options.later_slice)
        drop_closings(first);
    free(merge.threads);
}

/* A process that only the later slice has, and in which nothing waits for what was before, is moved as it is. */
static bool move_process(struct accumulator *first, struct process_state **later)
{
    uint32_t rank = (*later)->rank;
    struct process_state ***page = &first->pages[rank / PROCESS_PAGE];
    if ((*page && (*page)[rank % PROCESS_PAGE]) || (*later)->stray_count > 0 || (*later)->closing_count > 0)
        return false;
    if (!*page)
        *page = memory_new(PROCESS_PAGE * sizeof **page);
    (*page)[rank % PROCESS_PAGE] = *later;
    first->process_count++;
    *later = NULL;
    return true;
}

static void merge_marks(struct accumulator *first, const struct accumulator *later)
{
    for (size_t i = 0; i < later->marks.capacity; i++)
        if (later->marks.entries[i].key)
            *map_put(&first->marks, later->marks.entries[i].key - 1, 0) += later->marks.entries[i].value;
}

enum status accumulator_merge(struct accumulator *first, struct accumulator *later, struct error *err)
{
    /* Empty slices have no definitions. */
    if (!first->defs)
        first->defs = later->defs;
    for (size_t page = 0; page < PROCESS_LIMIT / PROCESS_PAGE; page++)
        for (size_t i = 0; later->pages[page] && i < PROCESS_PAGE; i++)
            if (later->pages[page][i] && !move_process(first, &later->pages[page][i]))
                merge_process(first, later->pages[page][i]);
    merge_marks(first, later);
    first->messages += later->messages;
    first->end = later->end;
    return message_tables_merge(&first->tables, &later->tables, err);
}

static size_t process_depth_bound(const struct process_state *process)
{
    size_t bound = 0;
    for (size_t i = 0; i < process->thread_count; i++)
        bound = larger(bound, process->threads[i].open.capacity);
    return bound;
}

size_t accumulator_depth_bound(const struct accumulator *accumulator)
{
    size_t bound = 0;
    for (size_t page = 0; page < PROCESS_LIMIT / PROCESS_PAGE; page++)
        for (size_t i = 0; accumulator->pages[page] && i < PROCESS_PAGE; i++) {
            const struct process_state *process = accumulator->pages[page][i];
            if (process)
                bound = larger(bound, process_depth_bound(process));
        }
    return bound;
}
