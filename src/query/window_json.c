/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/window_json.h"

#include "core/input.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "query/trace.h"
#include "render/field.h"
#include "timeline/overlay.h"

#include <string.h>

enum { COLUMNS_MOST = 32 }; /* of a table */

/* Calls of the window from a place of the source. */
struct site_sum {
    uint64_t calls, bytes;
    int64_t time_ns, waiting_ns;
};

struct writing {
    struct json json;
    const struct timeline *timeline;
    const struct timeline_view *view;
    struct query_trace *trace;
    bool *shown;            /* by row of the timeline: it is in the view */
    bool *collectives;      /* by id: a call of the window takes part in it */
    struct site_sum *sites; /* by id */
};

static const struct timeline_row *row_of(const void *info, uint32_t row)
{
    return &((const struct timeline_info *)info)->rows[row];
}

#define GET(name, type, expression)                                                                                    \
    static struct value name(const void *info, const void *row)                                                        \
    {                                                                                                                  \
        const type *at = row;                                                                                          \
        (void)info;                                                                                                    \
        return expression;                                                                                             \
    }
#define NAME_OF(table, index) (((const struct timeline_info *)info)->defs->table[index].name)
GET(state_rank, struct timeline_state, value_count(row_of(info, at->row)->process))
GET(state_thread, struct timeline_state, value_count(row_of(info, at->row)->thread))
GET(state_name, struct timeline_state, value_text(NAME_OF(states, at->state)))
GET(state_enter, struct timeline_state, value_time(at->enter_ns))
GET(state_leave, struct timeline_state, value_if(!at->open, value_time(at->leave_ns)))
GET(state_depth, struct timeline_state, value_count(at->depth))
GET(message_from, struct timeline_message, value_count(at->send_process))
GET(message_to, struct timeline_message, value_count(at->receive_process))
GET(message_send, struct timeline_message, value_if(at->send_row != TIMELINE_NONE, value_time(at->send_ns)))
GET(message_receive, struct timeline_message,
    at->receive_row == TIMELINE_NONE ? value_null() : value_time(at->receive_ns))
GET(message_tag, struct timeline_message, value_if(at->tag != EVENT_UNKNOWN, value_integer(at->tag)))
GET(message_bytes, struct timeline_message, value_if(at->bytes >= 0, value_bytes((uint64_t)at->bytes)))
GET(message_communicator, struct timeline_message,
    query_communicator(((const struct timeline_info *)info)->defs, at->comm))
GET(mark_rank, struct timeline_mark, value_count(row_of(info, at->row)->process))
GET(mark_thread, struct timeline_mark, value_count(row_of(info, at->row)->thread))
GET(mark_name, struct timeline_mark, value_text(NAME_OF(marks, at->mark)))
GET(mark_time, struct timeline_mark, value_time(at->time_ns))
GET(mark_text, struct timeline_mark, value_text(at->text))

static const struct field state_fields[] = {{"rank", NULL, state_rank},     {"process", NULL, state_rank},
                                            {"thread", NULL, state_thread}, {"name", NULL, state_name},
                                            {"enter_s", NULL, state_enter}, {"leave_s", NULL, state_leave},
                                            {"depth", NULL, state_depth}};
static const struct field message_fields[] = {
    {"source", NULL, message_from}, {"destination", NULL, message_to}, {"from", NULL, message_from},
    {"to", NULL, message_to},       {"send_s", NULL, message_send},    {"receive_s", NULL, message_receive},
    {"tag", NULL, message_tag},     {"bytes", NULL, message_bytes},    {"communicator", NULL, message_communicator}};
static const struct field mark_fields[] = {{"rank", NULL, mark_rank},     {"process", NULL, mark_rank},
                                           {"thread", NULL, mark_thread}, {"name", NULL, mark_name},
                                           {"time_s", NULL, mark_time},   {"text", NULL, mark_text}};
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* What the analysis across processes knows of the window: rows of the tables of `sight sql`, with their names and ids,
   and times on the trace's own clock, as all of this document. */

static bool is_in_window(const struct writing *writing, int64_t from_ns, int64_t to_ns)
{
    const struct timeline_view *view = writing->view;
    return from_ns < view->to_ns && (to_ns > view->from_ns || (from_ns == to_ns && from_ns == view->from_ns));
}

static bool is_shown(const struct writing *writing, uint64_t rank, uint64_t thread)
{
    uint32_t row = timeline_row_find(writing->timeline, (uint32_t)rank, (uint32_t)thread);
    return row != TIMELINE_NONE && writing->shown[row];
}

/* The run's name is no part of a row: the document is of one run. */
static void write_row(struct writing *writing, struct query_cursor *cursor, size_t row)
{
    const struct query_table *table = cursor->table;
    const char *names[COLUMNS_MOST];
    struct value values[COLUMNS_MOST];
    size_t count = 0;
    for (unsigned i = 0; i < table->column_count && count < COLUMNS_MOST; i++) {
        if (table->columns[i].role == QUERY_RUN)
            continue;
        names[count] = table->columns[i].name;
        values[count] = query_value(cursor, row, i);
        if (values[count].kind == VALUE_TIME && table->columns[i].role == QUERY_WHEN)
            values[count].integer += cursor->base_ns;
        count++;
    }
    json_row_values(&writing->json, names, values, count);
}

static void note_call(struct writing *writing, struct query_cursor *cursor, size_t row)
{
    struct value collective = query_value(cursor, row, calls_collective), site = query_value(cursor, row, calls_site);
    if (collective.kind != VALUE_NULL)
        writing->collectives[collective.count] = true;
    if (site.kind == VALUE_NULL)
        return;
    struct site_sum *sum = &writing->sites[site.count];
    sum->calls++;
    bytes_add(&sum->bytes, query_value(cursor, row, calls_bytes).count);
    time_add(&sum->time_ns, query_value(cursor, row, calls_time_s).integer);
    time_add(&sum->waiting_ns, query_value(cursor, row, calls_waiting_s).integer);
}

static bool wants_call(struct writing *writing, struct query_cursor *cursor, size_t row)
{
    int64_t enter_ns = cursor->base_ns + query_value(cursor, row, calls_enter_s).integer;
    int64_t leave_ns = cursor->base_ns + query_value(cursor, row, calls_leave_s).integer;
    if (!is_in_window(writing, enter_ns, leave_ns) ||
        !is_shown(writing, query_value(cursor, row, calls_rank).count, query_value(cursor, row, calls_thread).count))
        return false;
    note_call(writing, cursor, row);
    return true;
}

static bool wants_wait(struct writing *writing, struct query_cursor *cursor, size_t row)
{
    int64_t begin_ns = cursor->base_ns + query_value(cursor, row, waits_begin_s).integer;
    return is_in_window(writing, begin_ns, begin_ns + query_value(cursor, row, waits_waiting_s).integer) &&
           is_shown(writing, query_value(cursor, row, waits_rank).count, query_value(cursor, row, waits_thread).count);
}

/* After the calls, which say which of them are in the window. */
static bool wants_collective(struct writing *writing, struct query_cursor *cursor, size_t row)
{
    return writing->collectives[query_value(cursor, row, collectives_id).count];
}

static bool wants_all(struct writing *writing, struct query_cursor *cursor, size_t row)
{
    (void)writing;
    (void)cursor;
    (void)row;
    return true;
}

static void write_table(struct writing *writing, const char *name,
                        bool (*wants)(struct writing *writing, struct query_cursor *cursor, size_t row))
{
    struct query_limits limits = query_everything;
    int64_t begin_ns = timeline_info(writing->timeline)->begin_ns;
    limits.from_ns = time_since(begin_ns, writing->view->from_ns);
    limits.to_ns = time_since(begin_ns, writing->view->to_ns);
    struct query_cursor *cursor = query_cursor_new(writing->trace, query_table_find(name), &limits);
    struct error err = {0};
    json_open(&writing->json, name, '[');
    /* What the tables need was read before (window_json_trace): nothing can fail here. */
    while (query_cursor_next(cursor, &err) == STATUS_OK)
        for (size_t row = 0; row < cursor->count; row++)
            if (wants(writing, cursor, row))
                write_row(writing, cursor, row);
    json_close(&writing->json, ']');
    query_cursor_free(cursor);
}

/* The places of the calls in the window, with sums of these. */
static void write_sites(struct writing *writing)
{
    static const char *const names[] = {"id", "file", "line", "function", "calls", "time_s", "waiting_s", "bytes"};
    const struct defs *defs = query_trace_defs(writing->trace);
    json_open(&writing->json, "sites", '[');
    for (size_t i = 0; i < defs->site_count; i++) {
        const struct site_def *site = &defs->sites[i];
        const struct site_sum *sum = &writing->sites[i + 1];
        const struct value values[] = {
            value_count(i + 1),          query_text(site->file),  value_if(site->line > 0, value_integer(site->line)),
            query_text(site->function),  value_count(sum->calls), value_time(sum->time_ns),
            value_time(sum->waiting_ns), value_bytes(sum->bytes)};
        if (sum->calls > 0)
            json_row_values(&writing->json, names, values, COUNT_OF(values));
    }
    json_close(&writing->json, ']');
}

static void write_analysis(struct writing *writing)
{
    static const char *const tables[] = {"calls", "waits", "collectives", "communicators", "sites"};
    if (!writing->trace) {
        for (size_t i = 0; i < COUNT_OF(tables); i++)
            json_value(&writing->json, tables[i], value_null());
        return;
    }
    const struct graph *graph = writing->trace->result->graph;
    const struct timeline_info *info = timeline_info(writing->timeline);
    writing->collectives = memory_new(graph->instance_count + 1);
    writing->sites = memory_new((query_trace_defs(writing->trace)->site_count + 1) * sizeof *writing->sites);
    writing->shown = memory_new(info->row_count + 1);
    for (size_t i = 0; i < writing->view->row_count; i++)
        writing->shown[writing->view->rows ? writing->view->rows[i] : i] = true;
    write_table(writing, "calls", wants_call);
    write_table(writing, "waits", wants_wait);
    write_table(writing, "collectives", wants_collective);
    write_table(writing, "communicators", wants_all);
    write_sites(writing);
    free(writing->shown);
    free(writing->sites);
    free(writing->collectives);
}

enum status window_json_trace(const struct engine_request *request, const struct timeline_info *info,
                              struct query_trace **trace, struct error *err)
{
    struct engine_request whole = *request;
    *trace = NULL;
    for (size_t i = 0; i < request->input_count; i++)
        if (input_is_once(request->inputs[i]))
            return STATUS_OK;
    if (info->events > OVERLAY_EVENTS)
        return STATUS_OK;
    /* Waits of a window have their causes elsewhere. */
    whole.window = (struct engine_window){0};
    whole.ranks = NULL;
    whole.rank_count = 0;
    *trace = query_trace_new(&whole, "");
    if (query_trace_need(*trace, QUERY_METRICS | ENGINE_GRAPH, err) == STATUS_OK)
        return STATUS_OK;
    query_trace_free(*trace);
    *trace = NULL;
    return STATUS_FAILED;
}

void window_json_write(struct output *output, const struct timeline *timeline, const struct timeline_view *view,
                       const struct timeline_window *window, struct query_trace *trace)
{
    const struct timeline_info *info = timeline_info(timeline);
    struct writing writing = {.json = {.output = output}, .timeline = timeline, .view = view, .trace = trace};
    struct json *json = &writing.json;
    json_open(json, NULL, '{');
    json_value(json, "schema", value_text("sight-timeline/1"));
    json_open(json, "trace", '{');
    json_value(json, "format", value_text(info->format));
    json_value(json, "events", value_count(info->events));
    json_value(json, "begin_s", value_time(info->begin_ns));
    json_value(json, "end_s", value_time(info->end_ns));
    json_value(json, "complete", value_bool(info->end.complete));
    json_value(json, "clocks_fixed", value_bool(info->clocks.fixed));
    json_value(json, "clock_shift_s", value_if(info->clocks.fixed, value_time(info->clocks.shift_ns)));
    json_close(json, '}');
    json_value(json, "from_s", value_time(view->from_ns));
    json_value(json, "to_s", value_time(view->to_ns));
    json_list(json, "states", state_fields, COUNT_OF(state_fields), info, window->states, window->state_count,
              sizeof *window->states);
    json_list(json, "messages", message_fields, COUNT_OF(message_fields), info, window->messages, window->message_count,
              sizeof *window->messages);
    json_list(json, "marks", mark_fields, COUNT_OF(mark_fields), info, window->marks, window->mark_count,
              sizeof *window->marks);
    write_analysis(&writing);
    json_close(json, '}');
}
