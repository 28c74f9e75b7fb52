/* SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz/whole_run.h"

#include "convert/stream.h"
#include "graph/match.h"
#include "heuristics/master.h"
#include "metrics/accumulator.h"
#include "phases/phase_numbers.h"
#include "phases/user_spans.h"
#include "render/reports/diagnosis.h"
#include "replay/analyse.h"
#include "replay/what_if.h"
#include "search/search.h"

#include <stdlib.h>
#include <string.h>

struct built {
    struct metrics *metrics;
    struct graph *graph;
    struct user_spans *spans;
    struct state_track *states;
};

static void search(const struct built *built)
{
    struct hypotheses *hypotheses = hypotheses_default();
    struct phases *phases = phases_of(built->graph, built->spans);
    built->metrics->search = search_run(&(struct search_input){.graph = built->graph,
                                                               .states = built->states,
                                                               .phases = phases,
                                                               .master = master_of(built->metrics),
                                                               .hypotheses = hypotheses});
    phases_free(phases);
    hypotheses_free(hypotheses);
}

static void ask_what_if(const struct built *built)
{
    struct scenarios scenarios = what_if_standard(built->graph, built->metrics->analysis, 0);
    scenarios_clear(&scenarios);
    double *balanced = what_if_balanced(built->graph);
    network_replay(built->graph,
                   &(struct network){.latency_ns = 1000, .bytes_per_s = 1e9, .eager_limit = NETWORK_EAGER});
    network_replay(built->graph, &(struct network){.buses = 1, .eager_limit = 8, .compute = balanced});
    free(balanced);
}

static void judge(const struct built *built)
{
    const struct metrics *metrics = built->metrics;
    struct heuristic_result *results = heuristics_judge(metrics);
    struct findings findings = findings_of(metrics, results);
    struct output *output = output_open_memory();
    size_t length;
    struct may_hang *may_hang = built->graph->too_large ? NULL : may_hang_of(built->graph);
    diagnosis_write_text(
        output,
        &(struct diagnosis){
            .metrics = metrics, .results = results, .findings = &findings, .title = "fuzz", .may_hang = may_hang});
    free(output_take(output, &length));
    may_hang_free(may_hang);
    findings_clear(&findings);
    heuristics_free(results);
}

static void compute(const struct built *built)
{
    if (!built->graph->too_large) {
        built->metrics->analysis = analyse(built->graph);
        built->metrics->phases = phase_metrics_with(built->graph, built->spans, 2);
        search(built);
        ask_what_if(built);
    }
    judge(built);
}

void whole_run(struct reader *reader)
{
    struct error err = {0};
    struct accumulator *accumulator = accumulator_new((struct accumulator_options){0});
    struct matcher *matcher = matcher_new();
    struct graph_builder *graph = graph_builder_new();
    struct user_spans_builder *spans = user_spans_builder_new();
    struct state_track_builder *states = state_track_builder_new();
    struct sink *sinks[] = {accumulator_sink(accumulator), matcher_sink(matcher), graph_builder_sink(graph),
                            user_spans_builder_sink(spans), state_track_builder_sink(states)};
    struct built built = {0};
    if (stream_run(reader, sinks, sizeof sinks / sizeof *sinks, NULL, NULL, &err) == STATUS_OK)
        built.metrics = accumulator_metrics(accumulator, &err);
    built.graph = graph_builder_end(graph);
    built.spans = user_spans_builder_end(spans);
    built.states = state_track_builder_end(states);
    if (built.metrics)
        compute(&built);
    state_track_free(built.states);
    user_spans_free(built.spans);
    graph_free(built.graph);
    metrics_free(built.metrics);
    matcher_free(matcher);
    accumulator_free(accumulator);
}
