/* SPDX-License-Identifier: BSD-3-Clause */
#include "clocks/clocks.h"

#include "clocks/clock_lines.h"
#include "clocks/logical_clock.h"
#include "core/map.h"
#include "core/memory.h"
#include "core/numbers.h"

#include <math.h>

/* The smallest time that a message takes is not known, so none is taken for granted; a jump is spread over a hundred
   times its length before and after it, which changes intervals by 1 % at most. */
static const double GAMMA = 0.99, SLOPE = 0.01;
enum { LATENCY_NS = 0 };

/* The times that readers take. */
static const int64_t TIME_MOST = INT64_C(9000000000000000000);

struct clock_work {
    struct clock_map *maps; /* by row */
    struct map index;       /* process -> row */
    struct clock_scale scale;
    uint32_t recent_process;
    size_t recent_row; /* SIZE_MAX: none */
};

/* The origin of lines is the middle of the run: there an error of the drift moves times least. */
static int64_t middle_of(const struct causality *causality)
{
    int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;
    for (size_t i = 0; i < causality->timeline_count; i++) {
        const struct causal_timeline *timeline = &causality->timelines[i];
        begin_ns = smaller(begin_ns, timeline->begin_ns);
        end_ns = larger(end_ns, timeline->end_ns);
    }
    if (causality->timeline_count == 0)
        return 0;
    /* Halves first: the sum of two times may overflow. */
    return begin_ns / 2 + end_ns / 2;
}

static int64_t line_time(const void *context, uint32_t timeline, int64_t time_ns)
{
    const struct clock_work *work = context;
    return clock_line_time(&work->maps[timeline], &work->scale, time_ns);
}

/* Uses offsets and drifts if they improve the result: if clocks jump or messages were recorded wrongly, they may not.
   The sum of the errors decides, not their number: a few large ones harm more than many small ones.
 */
static void align(struct clocks *clocks, struct causality *causality)
{
    struct clock_work *work = clocks->work;
    struct clock_place *places = memory_new(clocks->count * sizeof *places);
    struct causal_change lines = {line_time, work};
    clock_lines_find(causality, &work->scale, work->maps, places);
    clocks->aligned = causality_errors(causality, &lines);
    bool better = clocks->aligned.sum_ns < clocks->recorded.sum_ns;
    if (!better)
        clocks->aligned = clocks->recorded;
    for (size_t i = 0; i < clocks->count; i++) {
        struct clock_row *row = &clocks->rows[i];
        if (!better)
            work->maps[i].line = (struct clock_line){0, 0};
        row->offset_ns = time_minus(line_time(work, (uint32_t)i, work->scale.origin_ns), work->scale.origin_ns);
        row->drift = work->maps[i].line.slope;
        row->alone = places[i].alone;
        row->loose = places[i].loose;
        row->reference = places[i].reference;
        row->width_ns = -1;
        if (!row->alone && !row->loose && places[i].width_ns < 9e18)
            row->width_ns = llrint(places[i].width_ns);
    }
    causality_change(causality, &lines);
    free(places);
}

static void correct(struct clocks *clocks, struct causality *causality)
{
    align(clocks, causality);
    (void)logical_clock_run(causality, clocks->work->maps, &clocks->work->scale,
                            (struct logical_clock_options){.latency_ns = LATENCY_NS, .slope = SLOPE});
    clocks->corrected = true;
}

struct clocks *clocks_of(struct causality *causality)
{
    struct clocks *clocks = memory_new(sizeof *clocks);
    struct clock_work *work = clocks->work = memory_new(sizeof *work);
    clocks->count = causality->timeline_count;
    clocks->rows = memory_new(clocks->count * sizeof *clocks->rows);
    work->maps = memory_new(clocks->count * sizeof *work->maps);
    work->scale = (struct clock_scale){.origin_ns = middle_of(causality), .back = 1 - GAMMA};
    work->recent_row = SIZE_MAX;
    for (size_t i = 0; i < clocks->count; i++) {
        clocks->rows[i].process = causality->timelines[i].process;
        map_put(&work->index, clocks->rows[i].process, i);
    }
    clocks->recorded = clocks->aligned = causality_errors(causality, NULL);
    /* A trace that nothing contradicts is not touched: correction could only make it worse. */
    if (clocks->recorded.early + clocks->recorded.torn > 0)
        correct(clocks, causality);
    causality_free(causality);
    return clocks;
}

void clocks_free(struct clocks *clocks)
{
    if (!clocks)
        return;
    for (size_t i = 0; i < clocks->count; i++)
        clock_map_clear(&clocks->work->maps[i]);
    free(clocks->work->maps);
    map_clear(&clocks->work->index);
    free(clocks->work);
    free(clocks->rows);
    free(clocks);
}

static size_t row_of(struct clock_work *work, uint32_t process)
{
    /* Events of a process come in a row in most formats. */
    if (work->recent_row == SIZE_MAX || work->recent_process != process) {
        const uint64_t *row = map_find(&work->index, process);
        work->recent_row = SIZE_MAX;
        if (row)
            work->recent_row = (size_t)*row;
        work->recent_process = process;
    }
    return work->recent_row;
}

static int64_t apart(int64_t a, int64_t b)
{
    if (a < b)
        return time_since(a, b);
    return time_since(b, a);
}

static void note_shift(struct clock_row *row, int64_t recorded_ns, int64_t aligned_ns, int64_t corrected_ns)
{
    int64_t moved_ns = apart(recorded_ns, corrected_ns), bent_ns = apart(aligned_ns, corrected_ns);
    row->largest_ns = larger(row->largest_ns, moved_ns);
    row->bent_ns = larger(row->bent_ns, bent_ns);
}

void clocks_correct(struct clocks *clocks, struct batch *batch)
{
    struct clock_work *work = clocks->work;
    if (!clocks->corrected)
        return;
    for (size_t i = 0; i < batch->count; i++) {
        struct event *event = &batch->events[i];
        size_t row = row_of(work, event->process);
        if (row == SIZE_MAX)
            continue;
        int64_t before_ns = event->time_ns;
        int64_t after_ns = clock_map_next(&work->maps[row], &work->scale, before_ns, event_counts(event));
        clocks->events++;
        if (after_ns == before_ns)
            continue;
        event->time_ns = larger(smaller(after_ns, TIME_MOST), -TIME_MOST);
        clocks->moved++;
        note_shift(&clocks->rows[row], before_ns, clock_line_time(&work->maps[row], &work->scale, before_ns), after_ns);
    }
}

void clocks_rewind(struct clocks *clocks)
{
    clocks->events = clocks->moved = 0;
    for (size_t i = 0; i < clocks->count; i++)
        clock_map_rewind(&clocks->work->maps[i]);
}
