/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/trace.h"

#include "core/memory.h"

#include <string.h>

/* Reading takes the longest of most queries: it ends where they do. */
static bool go_on(void *context, enum engine_step step, uint64_t done, uint64_t total)
{
    const struct query_trace *trace = context;
    return !query_trace_stopped(trace) && (!trace->watch || trace->watch(trace->watch_context, step, done, total));
}

struct query_trace *query_trace_new(const struct engine_request *request, const char *name)
{
    struct query_trace *trace = memory_new(sizeof *trace);
    trace->name = memory_copy_string(name);
    trace->request = *request;
    trace->request.events_only = true; /* rows are made from events */
    trace->watch = request->watch;
    trace->watch_context = request->watch_context;
    trace->request.watch = go_on;
    trace->request.watch_context = trace;
    pthread_mutex_init(&trace->reading, NULL);
    return trace;
}

/* The path and the numbers are of the graph of the result, and go with it. */
static void drop_result(struct query_trace *trace)
{
    if (trace->has_path)
        critical_path_clear(&trace->path);
    trace->has_path = false;
    free(trace->call_base);
    trace->call_base = NULL;
    engine_free(trace->result);
    trace->result = NULL;
}

void query_trace_free(struct query_trace *trace)
{
    if (!trace)
        return;
    drop_result(trace);
    engine_look_close(&trace->look);
    resource_tree_clear(&trace->tree);
    pthread_mutex_destroy(&trace->reading);
    free(trace->name);
    free(trace);
}

const char *query_trace_name(const struct query_trace *trace)
{
    return trace->name;
}

void query_trace_will_want(struct query_trace *trace, unsigned wants)
{
    trace->wants |= wants;
}

void query_trace_stop_when(struct query_trace *trace, bool (*stopped)(void *context), void *context)
{
    trace->stopped = stopped;
    trace->stopped_context = context;
}

const struct defs *query_trace_defs(const struct query_trace *trace)
{

    if (trace->result)
        return trace->result->metrics->defs;
    return timeline_info(trace->look.timeline)->defs;
}

int64_t query_trace_begin_ns(const struct query_trace *trace)
{
    if (trace->result)
        return trace->result->metrics->begin_ns;
    return timeline_info(trace->look.timeline)->begin_ns;
}

const struct trace_end *query_trace_end(const struct query_trace *trace, int64_t *last_ns)
{
    if (trace->result) {
        /* The engine has read the whole run: no look at the timeline is needed. */
        *last_ns = time_since(trace->result->metrics->begin_ns, trace->result->metrics->end_ns);
        return &trace->result->metrics->end;
    }
    if (!trace->look.timeline)
        return NULL;
    const struct timeline_info *info = timeline_info(trace->look.timeline);
    *last_ns = time_since(info->begin_ns, info->end_ns);
    return &info->end;
}

static enum status lacking(const struct query_trace *trace, struct error *err)
{
    const char *name = trace->request.inputs[0];
    switch (trace->result->lack) {
    case ENGINE_LACKS_ROOM:
        return error_set(err, ERROR_INPUT, "%s: has more calls than can be looked at together", name);
    case ENGINE_LACKS_WHOLE:
        return error_set(err, ERROR_USAGE, "%s: waits need the whole run", name);
    default:
        return error_set(err, ERROR_USAGE, "%s: is a metrics file, which has no events: give the trace", name);
    }
}

/* True if each call of the location is entered and left after the one before it. Then reading
   may stop at the end of a window of time. */
static bool in_order(const struct graph *graph, uint32_t location)
{
    int64_t enter_ns = INT64_MIN, leave_ns = INT64_MIN;
    for (uint32_t i = 0; i < graph->locations[location].count; i++) {
        struct call call = graph_call(graph, location, i);
        if (call.enter_ns < enter_ns || call.leave_ns < leave_ns)
            return false;
        enter_ns = call.enter_ns;
        leave_ns = call.leave_ns;
    }
    return true;
}

static void number_calls(struct query_trace *trace)
{
    const struct graph *graph = trace->result->graph;
    /* An id of a call counts through all locations, so that one number finds it: call_base is what comes before each.
     */
    trace->call_base = memory_new((graph->location_count + 1) * sizeof *trace->call_base);
    trace->unordered = false;
    for (uint32_t i = 0; i < graph->location_count; i++) {
        trace->call_base[i + 1] = trace->call_base[i] + graph->locations[i].count;
        trace->unordered = trace->unordered || !in_order(graph, i);
    }
}

static enum status read_result(struct query_trace *trace, struct error *err)
{
    /* QUERY_LOOK is the bit above all of the engine's. What was read before is read again: a statement wants everything
       before its first row (query_trace_will_want), so this is rare. */
    enum { WANTS = QUERY_LOOK - 1 };
    drop_result(trace);
    trace->request.wants = trace->wants & WANTS;
    trace->result = engine_run(&trace->request, err);
    if (!trace->result)
        return STATUS_FAILED;
    trace->has |= (trace->wants & WANTS) | QUERY_METRICS;
    if (trace->result->graph)
        number_calls(trace);
    return STATUS_OK;
}

enum status query_trace_need(struct query_trace *trace, unsigned wants, struct error *err)
{
    trace->wants |= wants;
    if ((wants & ~trace->has & ~(unsigned)QUERY_LOOK) != 0 && read_result(trace, err) != STATUS_OK)
        return STATUS_FAILED;
    /* The look is opened apart: it reads the index of the timeline, from the cache or in a run of its own. */
    if ((wants & QUERY_LOOK) && !(trace->has & QUERY_LOOK)) {
        if (engine_look_open(&trace->look, &trace->request, NULL, NULL, err) != STATUS_OK)
            return STATUS_FAILED;
        trace->has |= QUERY_LOOK;
    }
    if ((wants & ENGINE_GRAPH) && !trace->result->graph)
        return lacking(trace, err);
    return STATUS_OK;
}

struct value query_run(const struct query_cursor *cursor)
{
    return value_text(cursor->trace->name);
}

struct value query_since(const struct query_cursor *cursor, int64_t ns)
{
    return value_time(time_since(cursor->base_ns, ns));
}

struct value query_text(const char *text)
{
    return query_known(text && *text, value_text(text));
}

struct value query_communicator(const struct defs *defs, int32_t comm)
{
    if (comm < 0 || (size_t)comm >= defs->comm_count)
        return value_null();
    return value_integer(defs->comms[comm].id);
}

struct value query_site(uint32_t site)
{
    return query_known(site > 0, value_count(site));
}

double query_rows_guess(const struct query_trace *trace, const struct query_table *table)
{
    /* Tables of sums are short; a state, a call or a message is two events. */
    enum { FEW = 100, UNREAD = 1000000 };
    if (!(table->rows->wants & (QUERY_LOOK | ENGINE_GRAPH)))
        return FEW;
    /* SQLite asks before anything is read. The number only has to be far beyond that of short tables. */
    if (!trace->look.timeline)
        return UNREAD;
    return (double)timeline_info(trace->look.timeline)->events / 2;
}

enum status query_once(struct query_cursor *cursor, size_t count)
{
    cursor->count = count;
    if (cursor->step++ > 0 || count == 0)
        return STATUS_END;
    return STATUS_OK;
}
