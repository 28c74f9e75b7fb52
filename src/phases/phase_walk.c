/* SPDX-License-Identifier: BSD-3-Clause */
#include "phases/phase_walk.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/parallel.h"
#include "graph/wait_table.h"
#include "graph/wait_windows.h"

#include <stdlib.h>
#include <string.h>

/* Time of one kind. */
enum { SPENT_COMPUTING = -1 }; /* else a call's; WAIT_NONE: its whole time, else its wait */

static void put(struct part_sums *sums, int kind, int64_t ns)
{
    if (kind > WAIT_NONE) {
        time_add(&sums->waits_ns[kind], ns);
        return;
    }
    time_add(&sums->time_ns, ns);
    if (kind == SPENT_COMPUTING)
        time_add(&sums->compute_ns, ns);
    else
        time_add(&sums->mpi_ns, ns);
}

/* Processes that a thread walks one after the other, and its position in the current one. */
struct walk {
    struct part_sums *phases, *rows; /* of these processes, by phase and by row of iterations */
    double *own;                     /* by iteration: computing of the current process, in s */
    uint32_t process;
    struct phase_cell *cells; /* of its group, by phase */
    uint32_t phase;
    uint32_t iteration;    /* PHASE_NONE: the loop has not begun, or is not examined */
    const int64_t *starts; /* of iterations; NULL: the process has none */
    /* Most pieces of time lie in the same phase and iteration as the one before: from here to there. */
    struct within {
        int64_t from_ns, to_ns;
    } same_phase, same_iteration;
};

static bool is_within(const struct within *within, int64_t begin_ns, int64_t end_ns)
{
    return begin_ns >= within->from_ns && end_ns <= within->to_ns;
}

static void put_in_phase(const struct walk *walk, uint32_t phase, int kind, int64_t ns)
{
    struct phase_cell *cell = &walk->cells[phase];
    put(&walk->phases[phase], kind, ns);
    if (kind > WAIT_NONE)
        time_add(&cell->waiting_ns, ns);
    else if (kind == SPENT_COMPUTING)
        time_add(&cell->compute_ns, ns);
    else
        time_add(&cell->mpi_ns, ns);
}

/* Splits the time over the phases. */
static void spend_in_phases(const struct phase_counter *counter, struct walk *walk, int kind, int64_t begin_ns,
                            int64_t end_ns)
{
    if (is_within(&walk->same_phase, begin_ns, end_ns)) {
        put_in_phase(walk, walk->phase, kind, time_since(begin_ns, end_ns));
        return;
    }
    const struct phases *phases = counter->phases;
    const int64_t *borders = phases->begins + walk->process * (phases->count + 1);
    /* Waits may begin before what was walked last; mostly the phase only goes on. */
    if (begin_ns < borders[walk->phase])
        walk->phase = phases_at(phases, walk->process, begin_ns);
    while (walk->phase + 1 < phases->count && borders[walk->phase + 1] <= begin_ns)
        walk->phase++;
    uint32_t phase = walk->phase;
    walk->same_phase = (struct within){borders[phase], borders[phase + 1]};
    while (phase + 1 < phases->count && borders[phase + 1] < end_ns) {
        put_in_phase(walk, phase, kind, time_since(begin_ns, borders[phase + 1]));
        begin_ns = borders[++phase];
    }
    put_in_phase(walk, phase, kind, time_since(begin_ns, end_ns));
}

static void put_in_iteration(const struct phase_counter *counter, const struct walk *walk, uint32_t iteration, int kind,
                             int64_t ns)
{
    put(&walk->rows[iteration / counter->per_row], kind, ns);
    if (kind == SPENT_COMPUTING)
        walk->own[iteration] += (double)ns / 1e9;
}

/* The same over iterations; time outside the loop belongs to none. */
static void spend_in_iterations(const struct phase_counter *counter, struct walk *walk, int kind, int64_t begin_ns,
                                int64_t end_ns)
{
    if (is_within(&walk->same_iteration, begin_ns, end_ns)) {
        put_in_iteration(counter, walk, walk->iteration, kind, time_since(begin_ns, end_ns));
        return;
    }
    uint32_t count = counter->metrics->iterations.count;
    if (!walk->starts || end_ns <= walk->starts[0] || begin_ns >= walk->starts[count])
        return;
    begin_ns = larger(begin_ns, walk->starts[0]);
    end_ns = smaller(end_ns, walk->starts[count]);
    if (walk->iteration == PHASE_NONE || begin_ns < walk->starts[walk->iteration])
        walk->iteration = phases_iteration_at(counter->phases, counter->phases->main_loop, walk->process, begin_ns);
    while (walk->iteration + 1 < count && walk->starts[walk->iteration + 1] <= begin_ns)
        walk->iteration++;
    uint32_t iteration = walk->iteration;
    walk->same_iteration = (struct within){walk->starts[iteration], walk->starts[iteration + 1]};
    while (iteration + 1 < count && walk->starts[iteration + 1] < end_ns) {
        put_in_iteration(counter, walk, iteration, kind, time_since(begin_ns, walk->starts[iteration + 1]));
        begin_ns = walk->starts[++iteration];
    }
    put_in_iteration(counter, walk, iteration, kind, time_since(begin_ns, end_ns));
}

static void spend(const struct phase_counter *counter, struct walk *walk, int kind, int64_t begin_ns, int64_t end_ns)
{
    if (end_ns <= begin_ns)
        return;
    spend_in_phases(counter, walk, kind, begin_ns, end_ns);
    spend_in_iterations(counter, walk, kind, begin_ns, end_ns);
}

/* Messages count where their call begins. */
static void count_messages(const struct phase_counter *counter, const struct walk *walk, const struct call *call)
{
    struct phase_metrics *metrics = counter->metrics;
    uint64_t messages = 0, bytes = 0;
    struct message m;
    for (uint32_t at = call->sent; at; at = graph_next_sent(counter->graph, at - 1)) {
        m = graph_message(counter->graph, at - 1);
        if (m.bytes > 0)
            bytes_add(&bytes, (uint64_t)m.bytes);
        messages++;
    }
    struct phase_cell *cell = &walk->cells[walk->phase];
    walk->phases[walk->phase].messages += messages;
    bytes_add(&walk->phases[walk->phase].bytes, bytes);
    cell->messages += messages;
    bytes_add(&cell->bytes, bytes);
    if (walk->iteration == PHASE_NONE || !walk->starts || call->enter_ns < walk->starts[0] ||
        call->enter_ns >= walk->starts[metrics->iterations.count])
        return;
    struct part_sums *sums = &walk->rows[walk->iteration / counter->per_row];
    sums->messages += messages;
    bytes_add(&sums->bytes, bytes);
}

/* The wait of a call, by its parts. */
static void spend_waiting(const struct phase_counter *counter, struct walk *walk, uint32_t location, uint32_t index,
                          const struct call *call)
{
    struct wait wait = wait_of(counter->graph, location, index);
    struct wait_parts parts = wait_parts(counter->graph, location, index, &wait);
    int64_t from_ns = call->enter_ns;
    for (size_t i = 0; i < parts.count; from_ns += parts.part[i++].ns)
        spend(counter, walk, (int)parts.part[i].kind, from_ns, from_ns + parts.part[i].ns);
}

/* Before the first call of a process. */
static void walk_begin(const struct phase_counter *counter, struct walk *walk, uint32_t process)
{
    const struct phases *phases = counter->phases;
    uint32_t count = counter->metrics->iterations.count;
    walk->process = process;
    walk->cells = &counter->metrics->cells[process / counter->metrics->per_group * counter->metrics->phase_count];
    walk->phase = 0;
    walk->same_phase = walk->same_iteration = (struct within){INT64_MAX, INT64_MIN};
    walk->iteration = PHASE_NONE;
    walk->starts = NULL;
    if (count > 0)
        walk->starts = phases->loops.starts[phases->main_loop] + (size_t)process * (count + (size_t)1);
    if (walk->starts && walk->starts[0] == INT64_MIN)
        walk->starts = NULL;
    for (uint32_t k = 0; k < count; k++)
        /* -1: the process does not have the loop, so that its computing is in no mean. */
        walk->own[k] = walk->starts ? 0 : -1;
}

static void walk_process(struct phase_counter *counter, struct walk *walk, uint32_t process)
{
    const struct graph *graph = counter->graph;
    uint32_t location = counter->phases->loops.locations[process], count = counter->metrics->iterations.count;
    const struct location *where = &graph->locations[location];
    int64_t before_ns = where->begin_ns;
    size_t waits = 0;
    walk_begin(counter, walk, process);
    for (uint32_t i = 0; i < where->count; i++) {
        struct call call = graph_call(graph, location, i);
        /* Computing up to the call, then the whole call, then the wait in it once more: waits are a part of MPI
           time. */
        spend(counter, walk, SPENT_COMPUTING, before_ns, call.enter_ns);
        spend(counter, walk, WAIT_NONE, call.enter_ns, call.leave_ns);
        if (wait_table_marks(graph, location, i)) {
            int kind = graph->waits[location].kinds[waits];
            int64_t until_ns = call.enter_ns + wait_ns(graph, location, waits++);
            if (kind == WAIT_EARLY_WAIT)
                spend_waiting(counter, walk, location, i, &call);
            else
                spend(counter, walk, kind, call.enter_ns, until_ns);
        }
        if (call.sent)
            count_messages(counter, walk, &call);
        before_ns = larger(before_ns, call.leave_ns);
    }
    spend(counter, walk, SPENT_COMPUTING, before_ns, where->end_ns);
    /* The starts of this process are not needed any more: their memory takes its computing (see phase_metrics_of). */
    if (count > 0)
        memcpy(counter->computing + (size_t)process * (count + (size_t)1), walk->own, count * sizeof *walk->own);
}

/* When processes compute, in the time whose rhythm is examined. */
static void follow_rhythm(struct phase_counter *counter)
{
    const struct graph *graph = counter->graph;
    for (size_t p = 0; p < counter->phases->loops.process_count; p++) {
        uint32_t location = counter->phases->loops.locations[p];
        uint32_t from = graph_first_left(graph, location, counter->rhythm->begin_ns);
        int64_t before_ns = graph_left_before_ns(graph, location, from);
        for (uint32_t i = from; i < graph->locations[location].count && before_ns < counter->rhythm->end_ns; i++) {
            struct call call = graph_call(graph, location, i);
            rhythm_add(counter->rhythm, before_ns, call.enter_ns);
            before_ns = larger(before_ns, call.leave_ns);
        }
    }
}

/* Groups of processes [first, end), which have cells of their own. */
struct part {
    struct walk walk;
    size_t first, end;
};
struct parts {
    struct phase_counter *counter;
    struct part *part;
    size_t count;
};

static void walk_part(void *context, size_t index)
{
    struct parts *parts = context;
    struct phase_counter *counter = parts->counter;
    const struct phase_metrics *metrics = counter->metrics;
    if (index == parts->count) {
        follow_rhythm(counter);
        return;
    }
    struct part *part = &parts->part[index];
    for (size_t p = part->first * metrics->per_group; p < part->end * metrics->per_group && p < metrics->process_count;
         p++)
        walk_process(counter, &part->walk, (uint32_t)p);
}

static void part_begin(const struct phase_metrics *metrics, struct part *part)
{
    part->walk.phases = memory_new(metrics->phase_count * sizeof *part->walk.phases);
    part->walk.rows = memory_new(metrics->iterations.row_count * sizeof *part->walk.rows);
    part->walk.own = memory_new(metrics->iterations.count * sizeof *part->walk.own);
}

static void add_sums(struct part_sums *to, const struct part_sums *from)
{
    time_add(&to->time_ns, from->time_ns);
    time_add(&to->compute_ns, from->compute_ns);
    time_add(&to->mpi_ns, from->mpi_ns);
    for (int kind = 0; kind < WAIT_KIND_COUNT; kind++)
        time_add(&to->waits_ns[kind], from->waits_ns[kind]);
    to->messages += from->messages;
    bytes_add(&to->bytes, from->bytes);
}

static void part_end(struct phase_metrics *metrics, struct part *part)
{
    for (size_t i = 0; i < metrics->phase_count; i++)
        add_sums(&metrics->phases[i].sums, &part->walk.phases[i]);
    for (size_t i = 0; i < metrics->iterations.row_count; i++)
        add_sums(&metrics->iterations.rows[i].sums, &part->walk.rows[i]);
    free(part->walk.phases);
    free(part->walk.rows);
    free(part->walk.own);
}

void phase_walk(struct phase_counter *counter, unsigned threads)
{
    struct phase_metrics *metrics = counter->metrics;
    struct parts parts = {.counter = counter, .count = smaller((size_t)larger(threads, 1U), metrics->group_count)};
    parts.part = memory_new(parts.count * sizeof *parts.part);
    for (size_t i = 0; i < parts.count; i++) {
        parts.part[i].first = metrics->group_count * i / parts.count;
        parts.part[i].end = metrics->group_count * (i + 1) / parts.count;
        part_begin(metrics, &parts.part[i]);
    }
    parallel_run(threads, parts.count + (counter->rhythm != NULL), walk_part, &parts);
    for (size_t i = 0; i < parts.count; i++)
        part_end(metrics, &parts.part[i]);
    free(parts.part);
}
