/* SPDX-License-Identifier: BSD-3-Clause */
/* diagnosis TRACE: the steps of the diagnosis across processes by themselves, in one thread. Prints processor seconds:
   of matching and wait states, reading included; of the critical path with its impact, and one replay; and the number
   of MPI calls. */
#include "convert/stream.h"
#include "graph/graph.h"
#include "replay/replay.h"
#include "waits/impact.h"

#include <stdio.h>
#include <time.h>

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double path_and_replay(const struct graph *graph)
{
    double start = seconds();
    struct critical_path path = critical_path_of(graph);
    struct impact impact = impact_of(graph, &path);
    replay_run(graph, (struct replay_options){0});
    impact_clear(&impact);
    critical_path_clear(&path);
    return seconds() - start;
}

int main(int argc, char **argv)
{
    struct error err = {0};
    double start = seconds();
    struct graph_builder *builder = graph_builder_new();
    struct sink *sinks[] = {graph_builder_sink(builder)};
    struct reader *reader = argc == 2 ? reader_open(&argv[1], 1, &err) : NULL;
    if (!reader || stream_run(reader, sinks, 1, NULL, NULL, &err) != STATUS_OK) {
        fprintf(stderr, "%s\n", argc == 2 ? err.text : "diagnosis TRACE");
        return 1;
    }
    struct graph *graph = graph_builder_end(builder);
    double matched = seconds() - start, calls = 0, played = path_and_replay(graph);
    for (size_t i = 0; i < graph->location_count; i++)
        calls += (double)graph->locations[i].count;
    printf("%.3f %.3f %.0f\n", matched, played, calls);
    graph_free(graph);
    reader_close(reader);
    return 0;
}
