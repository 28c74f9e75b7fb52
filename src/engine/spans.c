/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/spans.h"

#include "core/text.h"
#include "graph/wait.h"
#include "graph/wait_table.h"

#include <math.h>

/* A wait begins with its call: where it ends, the call it waits for has been entered. */
static enum status give_wait(const struct graph *graph, uint32_t location, uint32_t call, struct writer *writer,
                             struct error *err)
{
    struct wait wait = wait_of(graph, location, call);
    int64_t enter_ns = graph_call(graph, location, call).enter_ns;
    bool known = wait.cause_location < graph->location_count;
    struct writer_span span = {.process = graph->locations[location].process,
                               .thread = graph->locations[location].thread,
                               .from_ns = enter_ns,
                               .to_ns = enter_ns + wait.ns,
                               .name = wait_kind_name(wait.kind),
                               .cause = known ? graph->locations[wait.cause_location].process : WRITER_NOBODY};
    if (wait.kind == WAIT_NONE)
        return STATUS_OK;
    return writer->format->span(writer, &span, err);
}

/* Most calls do not wait: the table has a bit for each that does. */
static enum status give_waits(const struct graph *graph, struct writer *writer, struct error *err)
{
    for (uint32_t location = 0; location < graph->location_count; location++)
        for (uint32_t call = 0; call < graph->locations[location].count; call++)
            if (wait_table_marks(graph, location, call) && give_wait(graph, location, call, writer, err) != STATUS_OK)
                return STATUS_FAILED;
    return STATUS_OK;
}

/* A finding has no process: several may take part, and its text names them. Its times count from the run's begin. */
static enum status give_finding(const struct finding *finding, int64_t begin_ns, struct writer *writer,
                                struct error *err)
{
    char text[sizeof finding->text + sizeof finding->advice + sizeof "  To do: ."] = "";
    text_append(text, sizeof text, "%s", finding->text);
    if (*finding->advice)
        text_append(text, sizeof text, " To do: %s.", finding->advice);
    return writer->format->span(writer,
                                &(struct writer_span){.process = WRITER_NOBODY,
                                                      .from_ns = begin_ns + llrint(finding->from_s * 1e9),
                                                      .to_ns = begin_ns + llrint(finding->to_s * 1e9),
                                                      .name = finding->title,
                                                      .text = text,
                                                      .cause = WRITER_NOBODY},
                                err);
}

enum status engine_give_spans(const struct engine_request *request, struct writer *writer, enum engine_lack *lack,
                              struct error *err)
{
    /* Waits in a window may have their cause outside it: the whole run is diagnosed, whatever is written. */
    struct engine_request whole = *request;
    whole.wants = ENGINE_FINDINGS | ENGINE_GRAPH;
    struct engine_result *result = engine_run(&whole, err);
    if (!result)
        return STATUS_FAILED;
    if (lack)
        *lack = result->lack;
    enum status status = STATUS_OK;
    if (result->graph)
        status = give_waits(result->graph, writer, err);
    for (size_t i = 0; result->findings && i < result->findings->count && status == STATUS_OK; i++)
        status = give_finding(&result->findings->finding[i], result->metrics->begin_ns, writer, err);
    engine_free(result);
    return status;
}
