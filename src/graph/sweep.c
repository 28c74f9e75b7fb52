/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/sweep.h"

#include "core/memory.h"
#include "core/numbers.h"

/* Average number of calls in a window, in total and of each location: some 100 kB, and enough to make visiting a
   location worthwhile.
 */
enum { WINDOW_CALLS = 8192, WINDOW_LOCATION_CALLS = 32 };

struct windows windows_of(const struct graph *graph)
{
    size_t calls = 0, each = WINDOW_LOCATION_CALLS * graph->location_count;
    for (size_t i = 0; i < graph->location_count; i++)
        calls += graph->locations[i].count;
    return (struct windows){graph_begin_ns(graph), graph_duration_ns(graph), calls / larger(each, WINDOW_CALLS) + 1};
}

int64_t window_end_ns(const struct windows *windows, size_t window)
{
    if (window + 1 >= windows->count)
        return INT64_MAX;
    /* In double: the product of two 64-bit numbers would overflow. The error of some ns only moves the border of a
       window. */
    double part = (double)(window + 1) / (double)windows->count;
    return windows->begin_ns + (int64_t)((double)windows->duration_ns * part);
}

struct sweep sweep_begin(const struct graph *graph)
{
    struct sweep sweep = {.graph = graph, .windows = windows_of(graph)};
    sweep.at = memory_new(graph->location_count * sizeof *sweep.at);
    return sweep;
}

/* The end of the location's blocks that begin in the window: whole blocks, as their begin is known without decoding a
   call. */
static uint32_t range_end(const struct location *location, size_t from, int64_t until_ns)
{
    while (from < location->count && location_block(location, from)->begin_ns <= until_ns)
        from += BLOCK_CALLS;
    return (uint32_t)smaller(from, location->count);
}

bool sweep_next(struct sweep *sweep, uint32_t *location, uint32_t *from, uint32_t *to)
{
    for (; sweep->window < sweep->windows.count; sweep->window++, sweep->location = 0) {
        int64_t until_ns = window_end_ns(&sweep->windows, sweep->window);
        while (sweep->location < sweep->graph->location_count) {
            *location = sweep->location++;
            *from = sweep->at[*location];
            *to = sweep->at[*location] = range_end(&sweep->graph->locations[*location], *from, until_ns);
            if (*to > *from)
                return true;
        }
    }
    free(sweep->at);
    return false;
}
