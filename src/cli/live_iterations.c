/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/live_iterations.h"

#include "convert/record/read_record.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "graph/graph.h"
#include "phases/phases.h"

#include <string.h>

enum { CALLS_COUNTED = 8 /* of an iteration, at most */ };

struct live_iterations {
    struct sink sink;
    bool whole;
    uint32_t process; /* of the first event: the only one of a part */
    bool begun;
    struct graph_builder *graphs;
    struct user_spans_builder *spans;
    struct batch kept;
};

static struct sink *part(struct live_iterations *iterations, int i)
{
    return i == 0 ? graph_builder_sink(iterations->graphs) : user_spans_builder_sink(iterations->spans);
}

static enum status begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    struct live_iterations *iterations = (struct live_iterations *)sink;
    enum status status = STATUS_OK;
    for (int i = 0; i < 2 && status == STATUS_OK; i++)
        if (part(iterations, i)->begin)
            status = part(iterations, i)->begin(part(iterations, i), defs, err);
    return status;
}

/* The parts of processes begin at different iterations: together they would seem to have no loop in common. */
static const struct batch *of_one_process(struct live_iterations *iterations, const struct batch *batch)
{
    struct batch *kept = &iterations->kept;
    if (!iterations->begun && batch->count > 0) {
        iterations->process = batch->events[0].process;
        iterations->begun = true;
    }
    kept->arena = batch->arena;
    kept->arena_length = batch->arena_length;
    kept->count = 0;
    for (size_t i = 0; i < batch->count; i++)
        if (batch->events[i].process == iterations->process)
            kept->events[kept->count++] = batch->events[i];
    return kept;
}

static enum status events(struct sink *sink, const struct batch *batch, struct error *err)
{
    struct live_iterations *iterations = (struct live_iterations *)sink;
    enum status status = STATUS_OK;
    if (!iterations->whole)
        batch = of_one_process(iterations, batch);
    for (int i = 0; i < 2 && status == STATUS_OK; i++)
        status = part(iterations, i)->events(part(iterations, i), batch, err);
    return status;
}

static enum status end(struct sink *sink, const struct trace_end *end, struct error *err)
{
    struct live_iterations *iterations = (struct live_iterations *)sink;
    enum status status = STATUS_OK;
    for (int i = 0; i < 2 && status == STATUS_OK; i++)
        if (part(iterations, i)->end)
            status = part(iterations, i)->end(part(iterations, i), end, err);
    return status;
}

struct live_iterations *live_iterations_new(bool whole)
{
    struct live_iterations *iterations = memory_new(sizeof *iterations);
    iterations->sink = (struct sink){.begin = begin, .events = events, .end = end};
    iterations->whole = whole;
    iterations->graphs = graph_builder_new();
    iterations->spans = user_spans_builder_new();
    return iterations;
}

struct sink *live_iterations_sink(struct live_iterations *iterations)
{
    return &iterations->sink;
}

/* Adds a call to those of the iterations; there may be more kinds than are counted. */
static size_t add_call(struct record_calls *calls, size_t count, const struct call *call)
{
    size_t i = 0;
    while (i < count && (calls[i].state != call->state || calls[i].site != call->site))
        i++;
    if (i == count && count < CALLS_COUNTED)
        calls[count++] = (struct record_calls){.state = call->state, .site = call->site};
    if (i < count)
        calls[i].count++;
    return count;
}

/* Those that each of `iterations` has equally often; their number. `in_each` says how often. */
static size_t keep_regular(struct record_calls *calls, size_t count, uint64_t iterations, uint64_t *in_each)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (calls[i].count > 0 && calls[i].count % iterations == 0) {
            in_each[kept] = calls[i].count / iterations;
            calls[kept++] = calls[i];
        }
    return kept;
}

/* The call may be made elsewhere, too: the least of all counts is closest. */
static uint64_t count_from_begin(struct reader *reader, uint32_t process, struct record_calls *calls, size_t count,
                                 const uint64_t *in_each)
{
    uint64_t least = UINT64_MAX;
    record_reader_count(reader, process, calls, count);
    for (size_t i = 0; i < count; i++)
        least = smaller(least, calls[i].count / in_each[i]);
    return count > 0 ? least : 0;
}

static uint64_t count_by_calls(struct live_iterations *iterations, const struct graph *graph,
                               const struct phases *phases, struct reader *reader)
{
    const struct common_loops *loops = &phases->loops;
    uint32_t row = phases->main_loop, found = loops->rows[row].matched, location = loops->locations[0];
    int64_t from_ns = common_loops_start(loops, row, 0, 0), to_ns = common_loops_start(loops, row, 0, found);
    struct record_calls calls[CALLS_COUNTED];
    uint64_t in_each[CALLS_COUNTED];
    size_t count = 0;
    for (size_t i = 0; i < graph->locations[location].count; i++) {
        struct call call = graph_call(graph, location, (uint32_t)i);
        if (call.enter_ns >= from_ns && call.leave_ns <= to_ns)
            count = add_call(calls, count, &call);
    }
    count = keep_regular(calls, count, found, in_each);
    return count_from_begin(reader, iterations->process, calls, count, in_each);
}

uint64_t live_iterations_end(struct live_iterations *iterations, struct reader *reader)
{
    struct graph *graph = graph_builder_end(iterations->graphs);
    struct user_spans *spans = user_spans_builder_end(iterations->spans);
    struct phases *phases = graph->too_large ? NULL : phases_of(graph, spans);
    uint64_t count = 0;
    if (phases && phases->main_loop != PHASE_NONE && phases->loops.rows[phases->main_loop].matched > 0)
        count = iterations->whole ? phases->loops.rows[phases->main_loop].matched
                                  : count_by_calls(iterations, graph, phases, reader);
    phases_free(phases);
    user_spans_free(spans);
    graph_free(graph);
    free(iterations);
    return count;
}
