/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/computing.h"

#include "core/heap.h"
#include "core/memory.h"
#include "core/numbers.h"

/* A location's next beginning or end of computing. */
struct runner {
    int64_t time_ns;
    uint32_t location;
    size_t call; /* which the computing comes before; the location's count: after the last */
    bool computes;
};

static bool is_before(const void *context, const void *left, const void *right)
{
    const struct runner *a = left, *b = right;
    (void)context;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns;
    return a->location < b->location;
}

static const struct heap_order BY_TIME = {sizeof(struct runner), is_before, NULL};

/* Moves a runner that has ended computing, or not begun, to its location's next computing. False: there is none. */
static bool find_computing(const struct graph *graph, struct runner *runner, int64_t from_ns)
{
    const struct location *location = &graph->locations[runner->location];
    /* Calls without computing between them are passed at once; one may end after the next begins. */
    for (; runner->call < location->count; runner->call++) {
        struct call call = graph_call(graph, runner->location, (uint32_t)runner->call);
        if (call.enter_ns > from_ns)
            break;
        from_ns = larger(call.leave_ns, from_ns);
    }
    runner->time_ns = from_ns;
    runner->computes = false;
    return runner->call < location->count || location->end_ns > from_ns;
}

static int64_t end_of_computing(const struct graph *graph, const struct runner *runner)
{
    const struct location *location = &graph->locations[runner->location];
    if (runner->call >= location->count)
        return location->end_ns;
    return graph_call(graph, runner->location, (uint32_t)runner->call).enter_ns;
}

void computing_each(const struct graph *graph, computing_change *change, void *context)
{
    struct runner *heap = memory_new(graph->location_count * sizeof *heap);
    size_t size = 0;
    for (uint32_t i = 0; i < graph->location_count; i++) {
        struct runner runner = {.location = i};
        if (find_computing(graph, &runner, graph->locations[i].begin_ns))
            heap[size++] = runner;
    }
    /* All begins and ends in the order of time, without sorting them: memory for those at hand only. */
    heap_make(heap, size, &BY_TIME, NULL);
    while (size > 0) {
        struct runner *runner = &heap[0];
        change(context, runner->time_ns, runner->location, !runner->computes);
        runner->computes = !runner->computes;
        if (runner->computes)
            runner->time_ns = end_of_computing(graph, runner);
        else if (!find_computing(graph, runner, runner->time_ns)) {
            size = heap_drop(heap, size, &BY_TIME, NULL);
            continue;
        }
        heap_down(heap, size, 0, &BY_TIME, NULL);
    }
    free(heap);
}
