/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/run_search.h"

#include "core/memory.h"
#include "heuristics/master.h"
#include "search/search.h"

struct run_search {
    struct hypotheses *hypotheses;
    const char *source;
    struct state_track_builder *states;
};

struct run_search *run_search_new(const struct options *options, struct error *err)
{
    double threshold;
    if (options->threshold && !threshold_parse(options->threshold, &threshold)) {
        error_set(err, ERROR_USAGE, "--threshold: '%s' is no number from 0 to 1000, nor per cent", options->threshold);
        return NULL;
    }
    struct hypotheses *hypotheses =
        options->hypotheses ? hypotheses_read(options->hypotheses, err) : hypotheses_default();
    if (!hypotheses)
        return NULL;
    if (options->threshold)
        hypotheses_set_threshold(hypotheses, threshold);
    struct run_search *search = memory_new(sizeof *search);
    *search = (struct run_search){hypotheses, options->hypotheses, state_track_builder_new()};
    return search;
}

void run_search_free(struct run_search *search)
{
    if (!search)
        return;
    if (search->states)
        state_track_free(state_track_builder_end(search->states));
    hypotheses_free(search->hypotheses);
    free(search);
}

struct sink *run_search_sink(struct run_search *search)
{
    return state_track_builder_sink(search->states);
}

struct search *run_search_finish(struct run_search *search, const struct graph *graph, const struct user_spans *spans,
                                 const struct metrics *metrics, unsigned threads)
{
    struct state_track *states = state_track_builder_end(search->states);
    struct phases *phases = phases_of(graph, spans);
    search->states = NULL;
    struct search *result = search_run(&(struct search_input){.graph = graph,
                                                              .states = states,
                                                              .phases = phases,
                                                              .master = master_of(metrics),
                                                              .hypotheses = search->hypotheses,
                                                              .source = search->source,
                                                              .threads = threads});
    phases_free(phases);
    state_track_free(states);
    return result;
}
