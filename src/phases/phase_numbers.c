/* SPDX-License-Identifier: BSD-3-Clause */
#include "phases/phase_numbers.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "graph/wait_table.h"
#include "graph/wait_windows.h"
#include "phases/iteration_numbers.h"

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

/* The position of a process while its calls are walked. */
struct walk {
    uint32_t process;
    uint32_t phase;
    uint32_t iteration;    /* PHASE_NONE: the loop has not begun, or is not examined */
    const int64_t *starts; /* of iterations; NULL: the process has none */
};

static void put_in_phase(struct phase_counter *counter, const struct walk *walk, uint32_t phase, int kind, int64_t ns)
{
    struct phase_metrics *metrics = counter->metrics;
    struct phase_cell *cell = &metrics->cells[walk->process / metrics->per_group * metrics->phase_count + phase];
    put(&metrics->phases[phase].sums, kind, ns);
    if (kind > WAIT_NONE)
        time_add(&cell->waiting_ns, ns);
    else if (kind == SPENT_COMPUTING)
        time_add(&cell->compute_ns, ns);
    else
        time_add(&cell->mpi_ns, ns);
}

/* Splits the time over the phases. */
static void spend_in_phases(struct phase_counter *counter, struct walk *walk, int kind, int64_t begin_ns,
                            int64_t end_ns)
{
    const struct phases *phases = counter->phases;
    const int64_t *borders = phases->begins + walk->process * (phases->count + 1);
    /* Waits may begin before what was walked last; mostly the phase only goes on. */
    if (begin_ns < borders[walk->phase])
        walk->phase = phases_at(phases, walk->process, begin_ns);
    while (walk->phase + 1 < phases->count && borders[walk->phase + 1] <= begin_ns)
        walk->phase++;
    uint32_t phase = walk->phase;
    while (phase + 1 < phases->count && borders[phase + 1] < end_ns) {
        put_in_phase(counter, walk, phase, kind, time_since(begin_ns, borders[phase + 1]));
        begin_ns = borders[++phase];
    }
    put_in_phase(counter, walk, phase, kind, time_since(begin_ns, end_ns));
}

static void put_in_iteration(struct phase_counter *counter, uint32_t iteration, int kind, int64_t ns)
{
    struct iteration_metrics *to = &counter->metrics->iterations;
    put(&to->rows[iteration / counter->per_row].sums, kind, ns);
    if (kind == SPENT_COMPUTING)
        counter->own[iteration] += (double)ns / 1e9;
}

/* The same over iterations; time outside the loop belongs to none. */
static void spend_in_iterations(struct phase_counter *counter, struct walk *walk, int kind, int64_t begin_ns,
                                int64_t end_ns)
{
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
    while (iteration + 1 < count && walk->starts[iteration + 1] < end_ns) {
        put_in_iteration(counter, iteration, kind, time_since(begin_ns, walk->starts[iteration + 1]));
        begin_ns = walk->starts[++iteration];
    }
    put_in_iteration(counter, iteration, kind, time_since(begin_ns, end_ns));
}

static void spend(struct phase_counter *counter, struct walk *walk, int kind, int64_t begin_ns, int64_t end_ns)
{
    if (end_ns <= begin_ns)
        return;
    spend_in_phases(counter, walk, kind, begin_ns, end_ns);
    spend_in_iterations(counter, walk, kind, begin_ns, end_ns);
}

/* Messages count where their call begins. */
static void count_messages(struct phase_counter *counter, const struct walk *walk, const struct call *call)
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
    struct phase_cell *cell = &metrics->cells[walk->process / metrics->per_group * metrics->phase_count + walk->phase];
    metrics->phases[walk->phase].sums.messages += messages;
    bytes_add(&metrics->phases[walk->phase].sums.bytes, bytes);
    cell->messages += messages;
    bytes_add(&cell->bytes, bytes);
    if (walk->iteration == PHASE_NONE || !walk->starts || call->enter_ns < walk->starts[0] ||
        call->enter_ns >= walk->starts[metrics->iterations.count])
        return;
    struct part_sums *sums = &metrics->iterations.rows[walk->iteration / counter->per_row].sums;
    sums->messages += messages;
    bytes_add(&sums->bytes, bytes);
}

/* The wait of a call, by its parts. */
static void spend_waiting(struct phase_counter *counter, struct walk *walk, uint32_t location, uint32_t index,
                          const struct call *call)
{
    struct wait wait = wait_of(counter->graph, location, index);
    struct wait_parts parts = wait_parts(counter->graph, location, index, &wait);
    int64_t from_ns = call->enter_ns;
    for (size_t i = 0; i < parts.count; from_ns += parts.part[i++].ns)
        spend(counter, walk, (int)parts.part[i].kind, from_ns, from_ns + parts.part[i].ns);
}

static void walk_process(struct phase_counter *counter, uint32_t process)
{
    const struct graph *graph = counter->graph;
    const struct phases *phases = counter->phases;
    uint32_t location = phases->loops.locations[process];
    const struct location *where = &graph->locations[location];
    struct walk walk = {.process = process, .iteration = PHASE_NONE};
    uint32_t count = counter->metrics->iterations.count;
    if (count > 0)
        walk.starts = phases->loops.starts[phases->main_loop] + (size_t)process * (count + (size_t)1);
    if (walk.starts && walk.starts[0] == INT64_MIN)
        walk.starts = NULL;
    for (uint32_t k = 0; k < count; k++)
        /* -1: the process does not have the loop, so that its computing is in no mean. */
        counter->own[k] = walk.starts ? 0 : -1;
    int64_t before_ns = where->begin_ns;
    size_t waits = 0;
    for (uint32_t i = 0; i < where->count; i++) {
        struct call call = graph_call(graph, location, i);
        /* Computing up to the call, then the whole call, then the wait in it once more: waits are a part of MPI
           time. */
        spend(counter, &walk, SPENT_COMPUTING, before_ns, call.enter_ns);
        if (counter->rhythm)
            rhythm_add(counter->rhythm, before_ns, call.enter_ns);
        spend(counter, &walk, WAIT_NONE, call.enter_ns, call.leave_ns);
        if (wait_table_marks(graph, location, i)) {
            int kind = graph->waits[location].kinds[waits];
            int64_t until_ns = call.enter_ns + wait_ns(graph, location, waits++);
            if (kind == WAIT_EARLY_WAIT)
                spend_waiting(counter, &walk, location, i, &call);
            else
                spend(counter, &walk, kind, call.enter_ns, until_ns);
        }
        if (call.sent)
            count_messages(counter, &walk, &call);
        before_ns = larger(before_ns, call.leave_ns);
    }
    spend(counter, &walk, SPENT_COMPUTING, before_ns, where->end_ns);
    /* The starts of this process are not needed any more: their memory takes its computing (see phase_metrics_of). */
    if (count > 0)
        memcpy(counter->computing + (size_t)process * (count + (size_t)1), counter->own, count * sizeof *counter->own);
}

/* Numbers from the phases themselves. */
static void take_phases(struct phase_counter *counter)
{
    const struct phases *phases = counter->phases;
    struct phase_metrics *metrics = counter->metrics;
    metrics->source = phases->source;
    metrics->phase_count = phases->count;
    metrics->phases = memory_new(phases->count * sizeof *metrics->phases);
    for (size_t i = 0; i < phases->count; i++)
        metrics->phases[i] = (struct phase_row){.name = memory_copy_string(phases->phase[i].name),
                                                .loop = phases->phase[i].loop,
                                                .begin_ns = time_since(counter->begin_ns, phases->phase[i].begin_ns),
                                                .end_ns = time_since(counter->begin_ns, phases->phase[i].end_ns)};
    metrics->loop_count = phases->loops.count;
    metrics->loops = memory_new(phases->loops.count * sizeof *metrics->loops);
    for (size_t i = 0; i < phases->loops.count; i++) {
        metrics->loops[i] = phases->loops.rows[i];
        metrics->loops[i].similarity = phase_nano(metrics->loops[i].similarity);
        metrics->loops[i].name = memory_copy_string(phases->loops.rows[i].name);
    }
    metrics->role_count = (uint32_t)phases->loops.role_count;
    metrics->by_world = phases->loops.by_world;
    metrics->process_count = phases->loops.process_count;
    metrics->per_group = phase_group_size(metrics->process_count, phases->count, PHASE_CELLS);
    metrics->group_count = (metrics->process_count + metrics->per_group - 1) / metrics->per_group;
    metrics->cells = memory_new(metrics->group_count * phases->count * sizeof *metrics->cells);
}

struct phase_counter *phase_counter_new(const struct graph *graph, const struct user_spans *spans, unsigned threads)
{
    struct phase_counter *counter = memory_new(sizeof *counter);
    *counter = (struct phase_counter){.graph = graph,
                                      .phases = phases_in_threads(graph, spans, threads),
                                      .metrics = memory_new(sizeof *counter->metrics),
                                      .begin_ns = graph_begin_ns(graph),
                                      .per_row = 1};
    const struct phases *phases = counter->phases;
    take_phases(counter);
    counter->metrics->iterations.loop = PHASE_NONE;
    if (phases->main_loop != PHASE_NONE)
        iteration_numbers_begin(counter);
    for (uint32_t p = 0; p < phases->loops.process_count; p++)
        walk_process(counter, p);
    if (phases->main_loop != PHASE_NONE)
        iteration_numbers_find(counter);
    return counter;
}

size_t phase_counter_replays(const struct phase_counter *counter, struct replay_options *options)
{
    for (size_t i = 0; i < counter->replay_count; i++)
        options[i] = counter->replays[i];
    return counter->replay_count;
}

struct phase_metrics *phase_counter_end(struct phase_counter *counter, const struct replay *replays,
                                        struct phases **phases)
{
    struct phase_metrics *metrics = counter->metrics;
    bool whole = iteration_numbers_end(counter, replays);
    if (whole && phases)
        *phases = counter->phases;
    else
        phases_free(counter->phases);
    free(counter);
    return metrics;
}

struct phase_metrics *phase_metrics_with(const struct graph *graph, const struct user_spans *spans)
{
    struct phase_counter *counter = phase_counter_new(graph, spans, 1);
    struct replay replays[PHASE_REPLAYS];
    replay_run_all(graph, counter->replays, counter->replay_count, replays);
    return phase_counter_end(counter, replays, NULL);
}
