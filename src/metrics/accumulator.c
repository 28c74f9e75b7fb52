/* SPDX-License-Identifier: BSD-3-Clause */
/* Feeding: adds each event to the sums. */
#include "metrics/accumulator_state.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/payload.h"

#include <string.h>

/* `ranks` is sorted. Asked once for each process: its answer is kept with it. */
static bool rank_selected(const struct accumulator_options *options, uint32_t rank)
{
    return !options->ranks || is_among(rank, options->ranks, options->rank_count);
}

struct process_state *accumulator_process(struct accumulator *accumulator, uint32_t rank)
{
    /* Two levels: world ranks go up to PROCESS_LIMIT, but a run has few of them, and events find theirs without
       hashing. */
    struct process_state ***page = &accumulator->pages[rank / PROCESS_PAGE];
    if (!*page)
        *page = memory_new(PROCESS_PAGE * sizeof **page);
    struct process_state **place = &(*page)[rank % PROCESS_PAGE];
    if (!*place) {
        *place = memory_new(sizeof **place);
        (*place)->rank = rank;
        (*place)->selected = rank_selected(&accumulator->options, rank);
        accumulator->process_count++;
    }
    return *place;
}

struct thread_state *process_thread_find(struct process_state *process, uint32_t number)
{
    const uint64_t *place = map_find(&process->thread_places, number);
    if (place)
        return &process->threads[*place];
    /* Threads are numbered from 0 in nearly all traces: then the number is the place, and the map stays empty. */
    if (process->thread_count != number)
        map_put(&process->thread_places, number, process->thread_count);
    /* Most processes have one thread: with room for more, there would be more room than data where processes are many.
     */
    if (process->thread_capacity == 0) {
        process->thread_capacity = 1;
        process->threads = memory_new(sizeof *process->threads);
    }
    ARRAY_PUSH(process->threads, process->thread_count, process->thread_capacity,
               (struct thread_state){.number = number});
    return &process->threads[process->thread_count - 1];
}

void coverage_ask(struct process_state *process, struct coverage *coverage)
{
    /* Only coverage that is open can end later, and one number is enough for its end. */
    if (!coverage->is_open || coverage->closing)
        return;
    ARRAY_PUSH(process->closings, process->closing_count, process->closing_capacity, (struct closing){0});
    coverage->closing = (uint32_t)process->closing_count;
}

static void tallies_double(struct thread_state *thread)
{
    struct tally *old = thread->tallies;
    /* A full table is at most half full, so that probing soon meets a free place. */
    size_t count = thread->tally_capacity;
    thread->tally_capacity = count ? count * 2 : 4;
    thread->tallies = memory_new(thread->tally_capacity * sizeof *thread->tallies);
    thread->tally_count = 0;
    for (size_t i = 0; i < count; i++)
        if (old[i].key)
            *thread_tally(thread, old[i].key - 1) = old[i];
    free(old);
}

struct tally *thread_tally_find(struct thread_state *thread, uint32_t state)
{
    if ((thread->tally_count + 1) * 2 > thread->tally_capacity)
        tallies_double(thread);
    /* States are numbered one after the other: the number itself spreads well enough. */
    for (size_t at = state;; at++) {
        struct tally *tally = &thread->tallies[at & (thread->tally_capacity - 1)];
        if (tally->key == state + 1)
            return tally;
        if (tally->key == 0) {
            *tally = (struct tally){.key = state + 1, .min_ns = INT64_MAX, .max_ns = INT64_MIN};
            thread->tally_count++;
            return tally;
        }
    }
}

/* The time since the last change belongs to the most recently entered open state. */
static inline void thread_advance(struct thread_state *thread, int64_t time_ns)
{
    /* 0 if time goes back, which process_time_unusual counts. */
    int64_t passed = time_since(thread->last_ns, time_ns);
    if (thread->open.depth > 0)
        time_add(&thread->open.frames[thread->open.depth - 1].exclusive_ns, passed);
    else if (thread->seen)
        time_add(&thread->bare_ns, passed);
    if (!thread->seen)
        thread->first_ns = time_ns;
    thread->seen = true;
    thread->last_ns = time_ns;
}

static inline void close_frame(struct thread_state *thread, ptrdiff_t at, int64_t time_ns)
{
    const struct open_state *frame = &thread->open.frames[at];
    struct tally *tally = thread_tally(thread, frame->state);
    /* Inclusive time counts for every open instance; exclusive time only for the latest one (thread_advance). */
    int64_t duration = time_since(frame->time_ns, time_ns);
    time_add(&tally->time_ns, duration);
    time_add(&tally->exclusive_ns, frame->exclusive_ns);
    /* A state entered before the window has time in it, but is not one of its calls. */
    if (frame->mark & FRAME_COUNTED) {
        tally->count++;
        tally->min_ns = duration < tally->min_ns ? duration : tally->min_ns;
        tally->max_ns = duration > tally->max_ns ? duration : tally->max_ns;
    }
    open_states_remove(&thread->open, at);
}

void thread_close(struct thread_state *thread, ptrdiff_t at, int64_t time_ns)
{
    close_frame(thread, at, time_ns);
}

/* Time in MPI is time in any MPI call of any thread: it begins with the first and ends with the last, so that nested
   calls and threads do not count twice. */
static void cover(struct process_state *process, struct thread_state *thread, uint32_t mark, int64_t time_ns)
{
    for (int kind = 0; kind < COVERS; kind++)
        if (frame_is_covered(mark, kind) && thread->depth[kind]++ == 0) {
            coverage_open(&thread->covered[kind], time_ns);
            if (kind == COVER_MPI && process->mpi_threads++ == 0)
                coverage_open(&process->mpi, time_ns);
        }
}

static void uncover(struct process_state *process, struct thread_state *thread, uint32_t mark, int64_t time_ns)
{
    for (int kind = 0; kind < COVERS; kind++)
        if (frame_is_covered(mark, kind) && --thread->depth[kind] == 0) {
            coverage_close(process, &thread->covered[kind], time_ns);
            if (kind == COVER_MPI && --process->mpi_threads == 0)
                coverage_close(process, &process->mpi, time_ns);
        }
}

static void state_enter(struct accumulator *accumulator, struct process_state *process, struct thread_state *thread,
                        const struct event *event, int64_t time_ns, bool counted)
{
    thread_advance(thread, time_ns);
    const struct state_def *state = &accumulator->defs->states[event->state];
    struct open_state *frame = open_states_enter(&thread->open, event->state, time_ns);
    /* NULL: as deep as DEPTH_LIMIT, which is damage. */
    if (!frame)
        return;
    frame->mark =
        (counted ? FRAME_COUNTED : 0) | (state->is_mpi ? FRAME_MPI : 0) | (state->is_parallel ? FRAME_REGION : 0);
    if (frame->mark & ~(uint32_t)FRAME_COUNTED)
        cover(process, thread, frame->mark, time_ns);
}

static void state_stray(struct accumulator *accumulator, struct process_state *process, struct thread_state *thread,
                        const struct event *event, int64_t time_ns, bool counted)
{
    /* The first slice of a trace knows that nothing was open before it; a later one leaves the decision to the
       merge. */
    if (!accumulator->options.later_slice) {
        thread_tally(thread, event->state)->stray += counted;
        return;
    }
    /* The merge needs to know when what is open now ends, which is not known yet. */
    coverage_ask(process, &process->mpi);
    struct stray_leave stray = {.state = event->state,
                                .thread = event->thread,
                                .time_ns = time_ns,
                                .bare_ns = thread->bare_ns,
                                .counted = counted,
                                .process = process->mpi};
    for (int kind = 0; kind < COVERS; kind++) {
        coverage_ask(process, &thread->covered[kind]);
        stray.by_thread[kind] = thread->covered[kind];
    }
    ARRAY_PUSH(process->strays, process->stray_count, process->stray_capacity, stray);
    /* From here on time without a state belongs to whatever is open below the stray one: it is counted anew. */
    thread->bare_ns = 0;
}

static void state_leave(struct accumulator *accumulator, struct process_state *process, struct thread_state *thread,
                        const struct event *event, int64_t time_ns, bool counted)
{
    thread_advance(thread, time_ns);
    ptrdiff_t at = open_states_find(&thread->open, event->state);
    if (at == OPEN_STATES_NONE) {
        state_stray(accumulator, process, thread, event, time_ns, counted);
        return;
    }
    uint32_t mark = thread->open.frames[at].mark;
    close_frame(thread, at, time_ns);
    if (mark & ~(uint32_t)FRAME_COUNTED)
        uncover(process, thread, mark, time_ns);
}

static void message(struct accumulator *accumulator, struct process_state *process, const struct event *event)
{
    /* The trace's total counts messages of processes that are not selected, too; MPI_PROC_NULL is no message. */
    if (event->partner != PARTNER_NONE)
        accumulator->messages++;
    if (!process->selected)
        return;
    int direction = event->kind == EVENT_RECEIVE;
    if (event->partner != PARTNER_NONE) {
        process->messages[direction]++;
        bytes_add(&process->bytes[direction], event_message_bytes(event));
    }
    /* MPI_PROC_NULL has a cell, too: that a program sends to nobody is worth a row. */
    message_tables_add(&accumulator->tables, event, &process->cell_hint);
}

static inline int64_t window_clamp(const struct accumulator *accumulator, int64_t time_ns)
{
    const struct accumulator_options *options = &accumulator->options;
    if (options->have_from && time_ns < options->from_ns)
        return options->from_ns;
    if (options->have_to && time_ns > options->to_ns)
        return options->to_ns;
    return time_ns;
}

static inline bool window_has(const struct accumulator *accumulator, int64_t time_ns)
{
    const struct accumulator_options *options = &accumulator->options;
    /* [from, to): an event at the border is in one of two windows, never in both. */
    return !(options->have_from && time_ns < options->from_ns) && !(options->have_to && time_ns >= options->to_ns);
}

/* The rare case: a process's first event, or one that goes back in time. */
static __attribute__((noinline)) void process_time_unusual(struct process_state *process, int64_t time_ns)
{
    if (process->order == 0)
        process->begin_ns = process->end_ns = process->first_raw_ns = time_ns;
    else
        process->time_back++;
    process->begin_ns = smaller(process->begin_ns, time_ns);
}

static inline void process_time(struct process_state *process, int64_t time_ns)
{
    if (process->order == 0 || time_ns < process->last_raw_ns)
        process_time_unusual(process, time_ns);
    process->order++;
    process->end_ns = larger(process->end_ns, time_ns);
    process->last_raw_ns = time_ns;
}

static inline void thread_time(struct thread_state *thread, int64_t time_ns)
{
    if (!thread->present) {
        thread->present = true;
        thread->begin_ns = thread->end_ns = time_ns;
    }
    thread->begin_ns = smaller(thread->begin_ns, time_ns);
    thread->end_ns = larger(thread->end_ns, time_ns);
}

static inline struct process_state *find_process(struct accumulator *accumulator, uint32_t rank)
{
    struct process_state **page = accumulator->pages[rank / PROCESS_PAGE];
    if (page && page[rank % PROCESS_PAGE])
        return page[rank % PROCESS_PAGE];
    return accumulator_process(accumulator, rank);
}

/* Compiled twice, with and without a window: the common case has no test for it. */
static inline __attribute__((always_inline)) void add_event(struct accumulator *accumulator, const struct event *event,
                                                            const bool windowed)
{
    struct process_state *process = find_process(accumulator, event->process);
    bool counted = true;
    int64_t time_ns = event->time_ns;
    process_time(process, time_ns);
    if (windowed) {
        /* Events outside the window still open and close states: clamped to its border, they give exactly the time
           inside. */
        counted = window_has(accumulator, time_ns);
        time_ns = window_clamp(accumulator, time_ns);
    }
    process->events += counted;
    struct thread_state *thread = process_thread(process, event->thread);
    thread_time(thread, time_ns);
    if (event->kind <= EVENT_LEAVE) {
        if (!process->selected)
            return;
        if (event->kind == EVENT_ENTER)
            state_enter(accumulator, process, thread, event, time_ns, counted);
        else
            state_leave(accumulator, process, thread, event, time_ns, counted);
    } else if (!counted) {
        return;
    } else if (event->kind <= EVENT_RECEIVE) {
        message(accumulator, process, event);
    } else if (event->kind == EVENT_MARK && process->selected &&
               /* Marks of the recorder are notes for us, not events of the program. */
               !payload_mark_is_ours(accumulator->defs->marks[event->state].name)) {
        ++*map_put(&accumulator->marks, map_pair(event->process, event->state), 0);
    }
}

static enum status accumulator_begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    (void)err;
    ((struct accumulator *)sink)->defs = defs;
    return STATUS_OK;
}

static enum status accumulator_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    struct accumulator *accumulator = (struct accumulator *)sink;
    const struct event *event = batch->events, *end = event + batch->count;
    if (accumulator->windowed) {
        for (; event < end; event++)
            if (event_counts(event))
                add_event(accumulator, event, true);
    } else {
        for (; event < end; event++)
            if (event_counts(event))
                add_event(accumulator, event, false);
    }
    /* Once for each batch: tags in memory may exceed the bound by what one batch adds. */
    return message_tables_bound(&accumulator->tables, err);
}

static enum status accumulator_end(struct sink *sink, const struct trace_end *end, struct error *err)
{
    (void)err;
    ((struct accumulator *)sink)->end = *end;
    return STATUS_OK;
}

struct accumulator *accumulator_new(struct accumulator_options options)
{
    struct accumulator *accumulator = memory_new(sizeof *accumulator);
    accumulator->options = options;
    accumulator->windowed = options.have_from || options.have_to;
    accumulator->sink = (struct sink){.begin = accumulator_begin, .events = accumulator_events, .end = accumulator_end};
    return accumulator;
}

struct sink *accumulator_sink(struct accumulator *accumulator)
{
    return &accumulator->sink;
}

bool accumulator_span(const struct accumulator *accumulator, int64_t *begin_ns, int64_t *end_ns)
{
    bool any = false;
    for (size_t page = 0; page < PROCESS_LIMIT / PROCESS_PAGE; page++)
        for (size_t i = 0; accumulator->pages[page] && i < PROCESS_PAGE; i++) {
            const struct process_state *process = accumulator->pages[page][i];
            if (!process || process->order == 0)
                continue;
            *begin_ns = any ? smaller(*begin_ns, process->begin_ns) : process->begin_ns;
            *end_ns = any ? larger(*end_ns, process->end_ns) : process->end_ns;
            any = true;
        }
    return any;
}

static void process_free(struct process_state *process)
{
    if (!process)
        return;
    for (size_t i = 0; i < process->thread_count; i++) {
        open_states_free(&process->threads[i].open);
        free(process->threads[i].tallies);
    }
    free(process->threads);
    map_clear(&process->thread_places);
    free(process->strays);
    free(process->closings);
    free(process);
}

void accumulator_free(struct accumulator *accumulator)
{
    if (!accumulator)
        return;
    for (size_t page = 0; page < PROCESS_LIMIT / PROCESS_PAGE; page++) {
        for (size_t i = 0; accumulator->pages[page] && i < PROCESS_PAGE; i++)
            process_free(accumulator->pages[page][i]);
        free(accumulator->pages[page]);
    }
    message_tables_clear(&accumulator->tables);
    map_clear(&accumulator->marks);
    free(accumulator);
}
