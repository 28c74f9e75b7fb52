/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzing of the file of hypotheses: any bytes must end in hypotheses, which must search a small run, or in one line
   that says what is wrong. Files of metrics of a user's own are read by the same lines. */
#include "core/memory.h"
#include "search/definitions.h"
#include "search/search.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void feed(struct sink *sink, struct batch *batch, uint32_t process, enum event_kind kind, int64_t ms)
{
    struct error err = {0};
    batch->events[0] = EVENT_NOTHING;
    batch->events[0].process = process;
    batch->events[0].kind = (uint8_t)kind;
    batch->events[0].time_ns = ms * 1000000;
    batch->events[0].comm = batch->events[0].partner_comm = 0;
    batch->events[0].partner = 1 - (int32_t)process;
    batch->events[0].tag = 0;
    batch->events[0].bytes_sent = batch->events[0].bytes_received = 8;
    batch->count = 1;
    if (sink->events(sink, batch, &err) != STATUS_OK)
        abort();
}

/* Two processes, some messages; the second process waits for all of them. */
static struct graph *small_run(struct defs *defs)
{
    struct graph_builder *builder = graph_builder_new();
    struct sink *sink = graph_builder_sink(builder);
    struct batch *batch = memory_new(sizeof *batch);
    struct error err = {0};
    if (sink->begin(sink, defs, &err) != STATUS_OK)
        abort();
    for (uint32_t process = 0; process < 2; process++)
        for (int64_t i = 0; i < 4; i++) {
            feed(sink, batch, process, EVENT_ENTER, 20 * i + (process == 0 ? 15 : 0));
            feed(sink, batch, process, process == 0 ? EVENT_SEND : EVENT_RECEIVE, 20 * i + 16);
            feed(sink, batch, process, EVENT_LEAVE, 20 * i + 17);
        }
    free(batch);
    return graph_builder_end(builder);
}

static void try_definitions(const char *data, size_t size)
{
    struct error err = {0};
    struct definitions *definitions = definitions_parse(data, size, "fuzz", &err);
    if (!definitions && (!*err.text || strchr(err.text, '\n')))
        abort();
    definitions_free(definitions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    try_definitions((const char *)data, size);
    struct hypotheses *hypotheses = hypotheses_parse((const char *)data, size, "fuzz", &err);
    if (!hypotheses) {
        if (!*err.text || strchr(err.text, '\n'))
            abort();
        return 0;
    }
    struct defs *defs = defs_new();
    defs_add_state(defs, &(struct state_def){.name = (char *)(uintptr_t) "MPI_Sendrecv"});
    int32_t world = defs_comm(defs, 0);
    defs->comms[world].world = true;
    defs->processes = 2;
    struct graph *graph = small_run(defs);
    struct search *search =
        search_run(&(struct search_input){.graph = graph, .master = -1, .hypotheses = hypotheses, .source = "fuzz"});
    if (search->count < hypotheses->count)
        abort();
    search_free(search);
    graph_free(graph);
    defs_free(defs);
    hypotheses_free(hypotheses);
    return 0;
}
