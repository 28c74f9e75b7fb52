/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/searching.h"

#include "core/memory.h"
#include "heuristics/master.h"
#include "search/search.h"

#include <stdlib.h>

struct searching {
    struct hypotheses *hypotheses;
    const char *source;
    struct state_track_builder *states;
};

struct searching *searching_new(const struct engine_request *request, struct error *err)
{
    struct hypotheses *hypotheses;
    if (request->hypotheses)
        hypotheses = hypotheses_read(request->hypotheses, err);
    else
        hypotheses = hypotheses_default();
    if (!hypotheses)
        return NULL;
    if (request->has_threshold)
        hypotheses_set_threshold(hypotheses, request->threshold);
    struct searching *searching = memory_new(sizeof *searching);
    *searching = (struct searching){hypotheses, request->hypotheses, state_track_builder_new()};
    return searching;
}

void searching_free(struct searching *searching)
{
    if (!searching)
        return;
    if (searching->states) /* it never came to the end: a builder is freed by ending it */
        state_track_free(state_track_builder_end(searching->states));
    hypotheses_free(searching->hypotheses);
    free(searching);
}

struct sink *searching_sink(struct searching *searching)
{
    return state_track_builder_sink(searching->states);
}

struct search *searching_finish(struct searching *searching, const struct graph *graph, const struct phases *phases,
                                const struct metrics *metrics, unsigned threads)
{
    /* The search asks which user states are open at each moment: they are recorded while the trace is read. */
    struct state_track *states = state_track_builder_end(searching->states);
    searching->states = NULL;
    struct search *result = search_run(&(struct search_input){.graph = graph,
                                                              .states = states,
                                                              .phases = phases,
                                                              .master = master_of(metrics),
                                                              .hypotheses = searching->hypotheses,
                                                              .source = searching->source,
                                                              .threads = threads});
    state_track_free(states);
    return result;
}
