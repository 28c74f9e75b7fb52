/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/sweep.h"

#include "core/memory.h"
#include "replay/replay.h"

/* So many calls, and so many of each lane, are in a window on average: some 100 kB, and lanes are not gone to for less.
 */
enum { WINDOW_CALLS = 8192, WINDOW_LANE_CALLS = 32 };

struct windows windows_of(const struct graph *graph)
{
    size_t calls = 0, each = WINDOW_LANE_CALLS * graph->lane_count;
    for (size_t i = 0; i < graph->lane_count; i++)
        calls += graph->lanes[i].count;
    return (struct windows){replay_begin_ns(graph), replay_duration_ns(graph),
                            calls / (each > WINDOW_CALLS ? each : WINDOW_CALLS) + 1};
}

int64_t window_end_ns(const struct windows *windows, size_t window)
{
    if (window + 1 >= windows->count)
        return INT64_MAX;
    double part = (double)(window + 1) / (double)windows->count;
    return windows->begin_ns + (int64_t)((double)windows->duration_ns * part);
}

struct sweep sweep_begin(const struct graph *graph)
{
    struct sweep sweep = {.graph = graph, .windows = windows_of(graph)};
    sweep.at = memory_new(graph->lane_count * sizeof *sweep.at);
    return sweep;
}

/* The end of the lane's blocks that begin in the window. */
static uint32_t range_end(const struct lane *lane, size_t from, int64_t until_ns)
{
    while (from < lane->count && lane_block(lane, from)->begin_ns <= until_ns)
        from += BLOCK_CALLS;
    return (uint32_t)(from < lane->count ? from : lane->count);
}

bool sweep_next(struct sweep *sweep, uint32_t *lane, uint32_t *from, uint32_t *to)
{
    for (; sweep->window < sweep->windows.count; sweep->window++, sweep->lane = 0) {
        int64_t until_ns = window_end_ns(&sweep->windows, sweep->window);
        while (sweep->lane < sweep->graph->lane_count) {
            *lane = sweep->lane++;
            *from = sweep->at[*lane];
            *to = sweep->at[*lane] = range_end(&sweep->graph->lanes[*lane], *from, until_ns);
            if (*to > *from)
                return true;
        }
    }
    free(sweep->at);
    return false;
}
