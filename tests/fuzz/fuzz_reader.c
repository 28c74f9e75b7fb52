/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzing of the readers and of what takes their events: any bytes must end in metrics or in a message, never in a
   crash.

   Compiled once for each format with -DFUZZ_FORMAT=\"clog2\", so that every target keeps to its own reader; without it
   all formats are taken. */
#include "convert/reader.h"
#include "convert/stream.h"
#include "heuristics/finding.h"
#include "metrics/accumulator.h"
#include "replay/analyse.h"
#include "replay/match.h"

#include <string.h>

#ifndef FUZZ_FORMAT
#define FUZZ_FORMAT ""
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What damaged traces give must be judged without harm, too. */
static void judge(struct metrics *metrics, const struct graph *graph)
{
    metrics->analysis = analyse(graph);
    struct heuristic_result *results = heuristics_judge(metrics);
    struct findings findings = findings_of(metrics, results);
    findings_clear(&findings);
    heuristics_free(results);
}

static void read_all(struct reader *reader)
{
    struct accumulator *accumulator = accumulator_new((struct accumulator_options){0});
    struct matcher *matcher = matcher_new();
    struct graph_builder *builder = graph_builder_new();
    struct sink *sinks[] = {accumulator_sink(accumulator), matcher_sink(matcher), graph_builder_sink(builder)};
    struct error err = {0};
    struct metrics *metrics = NULL;
    if (stream_run(reader, sinks, 3, NULL, NULL, &err) == STATUS_OK)
        metrics = accumulator_metrics(accumulator, &err);
    struct graph *graph = graph_builder_end(builder);
    if (metrics)
        judge(metrics, graph);
    graph_free(graph);
    metrics_free(metrics);
    matcher_free(matcher);
    accumulator_free(accumulator);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    struct reader *reader = reader_open_input(input_open_memory(data, size, "fuzz"), &err);
    if (reader && (FUZZ_FORMAT[0] == '\0' || strcmp(reader->format->name, FUZZ_FORMAT) == 0))
        read_all(reader);
    reader_close(reader);
    return 0;
}
