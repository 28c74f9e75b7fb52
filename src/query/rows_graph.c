/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows that the graph of calls has: calls, collectives, their members, waits, the critical path. */
#include "query/trace.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "graph/wait_table.h"
#include "graph/wait_windows.h"
#include "replay/call_sites.h"

/* Rows that a cursor collects before it gives them: a few 100 kB. */
enum { ROWS_AT_ONCE = 4096 };

static const struct graph *graph_of(const struct query_cursor *cursor)
{
    return cursor->trace->result->graph;
}

/* Ids go on from location to location, from 1, so that an id names a call of the run and finds it again. */
static uint64_t call_id(const struct query_cursor *cursor, uint32_t location, uint32_t call)
{
    return cursor->trace->call_base[location] + call + 1;
}

/* Calls that may be within the limits, location by location. */

struct call_line {
    struct call call;
    uint32_t location, index;
};

struct calls {
    uint32_t location, index; /* the next */
    bool inside;              /* `index` is in `location` */
    struct call_line line[ROWS_AT_ONCE];
};

static int64_t added(int64_t base_ns, int64_t ns)
{
    int64_t sum;
    if (__builtin_add_overflow(base_ns, ns, &sum)) /* no limit is an end of int64 */
        return ns < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

/* The ids of a location that are within the limits, as indices of its calls; false: none is. */
static bool ids_within(const struct query_cursor *cursor, uint32_t location, uint32_t *first)
{
    const uint64_t *base = cursor->trace->call_base;
    const struct query_limits *limits = &cursor->limits;
    if (limits->id_to < 1 || (uint64_t)limits->id_to <= base[location] || limits->id_from > (int64_t)base[location + 1])
        return false;
    if (limits->id_from > (int64_t)base[location] && (uint64_t)limits->id_from - base[location] - 1 > *first)
        *first = (uint32_t)((uint64_t)limits->id_from - base[location] - 1);
    return true;
}

/* Goes into the next location that may have rows, at the first of them. */
static bool enter_location(struct query_cursor *cursor, struct calls *calls)
{
    const struct graph *graph = graph_of(cursor);
    for (; calls->location < graph->location_count; calls->location++) {
        if (!query_has_rank(&cursor->limits, graph->locations[calls->location].process))
            continue;
        calls->index = 0;
        if (!cursor->trace->unordered)
            calls->index = graph_first_left(graph, calls->location, added(cursor->base_ns, cursor->limits.from_ns));
        if (ids_within(cursor, calls->location, &calls->index))
            return calls->inside = true;
    }
    return false;
}

/* The next call that may be within the limits; false: there is none. */
static bool next_call(struct query_cursor *cursor, struct calls *calls, struct call_line *line)
{
    const struct graph *graph = graph_of(cursor);
    int64_t to_ns = added(cursor->base_ns, cursor->limits.to_ns);
    while (calls->inside || enter_location(cursor, calls)) {
        uint32_t location = calls->location, index = calls->index;
        if (index < graph->locations[location].count &&
            (int64_t)call_id(cursor, location, index) <= cursor->limits.id_to) {
            *line = (struct call_line){graph_call(graph, location, index), location, index};
            calls->index++;
            /* The first call that begins after the limit is the last to look at, where calls are in order. */
            if (line->call.enter_ns <= to_ns || cursor->trace->unordered)
                return true;
        }
        calls->inside = false;
        calls->location++;
    }
    return false;
}

/* Collects the next calls of which `wanted` is true. */
static enum status collect_calls(struct query_cursor *cursor,
                                 bool (*wanted)(const struct graph *graph, const struct call_line *line))
{
    if (!cursor->rows)
        cursor->rows = memory_new(sizeof(struct calls));
    struct calls *calls = cursor->rows;
    cursor->count = 0;
    /* A call that is not wanted is overwritten by the next. */
    while (cursor->count < ROWS_AT_ONCE && next_call(cursor, calls, &calls->line[cursor->count]))
        cursor->count += wanted(graph_of(cursor), &calls->line[cursor->count]);
    if (cursor->count == 0)
        return STATUS_END;
    return STATUS_OK;
}

static bool any_call(const struct graph *graph, const struct call_line *line)
{
    (void)graph;
    (void)line;
    return true;
}

static enum status calls_next(struct query_cursor *cursor, struct error *err)
{
    (void)err;
    return collect_calls(cursor, any_call);
}

static const struct call_line *line_of(const struct query_cursor *cursor, size_t row)
{
    return &((const struct calls *)cursor->rows)->line[row];
}

static struct value calls_value(struct query_cursor *cursor, size_t row, unsigned column)
{
    const struct graph *graph = graph_of(cursor);
    const struct call_line *line = line_of(cursor, row);
    const struct state_def *state = &graph->defs->states[line->call.state];
    int kind;
    switch (column) {
    case calls_run:
        return query_run(cursor);
    case calls_id:
        return value_count(call_id(cursor, line->location, line->index));
    case calls_rank:
        return value_count(graph->locations[line->location].process);
    case calls_thread:
        return value_count(graph->locations[line->location].thread);
    case calls_name:
        return value_text(state->name);
    case calls_class:
        return value_text(function_class_name(state->class));
    case calls_enter_s:
        return query_since(cursor, line->call.enter_ns);
    case calls_leave_s:
        return query_since(cursor, line->call.leave_ns);
    case calls_time_s:
        return value_time(time_since(line->call.enter_ns, line->call.leave_ns));
    case calls_waiting_s:
        return value_time(wait_ns_in(graph, line->location, line->index));
    case calls_wait:
        kind = wait_kind_in(graph, line->location, line->index);
        return query_known(kind != WAIT_NONE, value_text(wait_kind_name((enum wait_kind)kind)));
    case calls_communicator:
        return query_communicator(graph->defs, line->call.comm);
    case calls_collective:
        return query_known(line->call.instance, value_count(line->call.instance));
    case calls_site:
        return query_site(line->call.site);
    default:
        return value_bytes(call_site_bytes(graph, &line->call));
    }
}

static void *calls_room(struct query_cursor *cursor, size_t count)
{
    (void)count; /* it has room for ROWS_AT_ONCE, more than are asked for */
    if (!cursor->rows)
        cursor->rows = memory_new(sizeof(struct calls));
    return ((struct calls *)cursor->rows)->line;
}

const struct query_rows rows_calls = {.room = calls_room,
                                      .row_size = sizeof(struct call_line),
                                      .wants = QUERY_METRICS | ENGINE_GRAPH,
                                      .next = calls_next,
                                      .value = calls_value};

/* Members: calls that are part of a collective. */

static bool is_member(const struct graph *graph, const struct call_line *line)
{
    (void)graph;
    return line->call.instance != 0;
}

static enum status members_next(struct query_cursor *cursor, struct error *err)
{
    (void)err;
    return collect_calls(cursor, is_member);
}

static struct value members_value(struct query_cursor *cursor, size_t row, unsigned column)
{
    switch (column) {
    case members_run:
        return query_run(cursor);
    case members_collective:
        return calls_value(cursor, row, calls_collective);
    case members_call:
        return calls_value(cursor, row, calls_id);
    case members_rank:
        return calls_value(cursor, row, calls_rank);
    case members_thread:
        return calls_value(cursor, row, calls_thread);
    case members_name:
        return calls_value(cursor, row, calls_name);
    case members_enter_s:
        return calls_value(cursor, row, calls_enter_s);
    case members_leave_s:
        return calls_value(cursor, row, calls_leave_s);
    default:
        return calls_value(cursor, row, calls_waiting_s);
    }
}

const struct query_rows rows_members = {.room = calls_room,
                                        .row_size = sizeof(struct call_line),
                                        .wants = QUERY_METRICS | ENGINE_GRAPH,
                                        .next = members_next,
                                        .value = members_value};

/* Waits: the parts of those of a call, one after the other. */

struct wait_line {
    struct call_line line;
    struct wait wait;
    int64_t begin_ns;
};

/* A call has up to two parts of waiting (wait_windows.h): the last one may go beyond ROWS_AT_ONCE. */
struct waits {
    struct calls calls; /* the first member: what next_call goes on with */
    struct wait_line wait[ROWS_AT_ONCE + 2];
};

static void add_waits(struct query_cursor *cursor, struct waits *waits, const struct call_line *line)
{
    const struct graph *graph = graph_of(cursor);
    struct wait wait = wait_of(graph, line->location, line->index);
    if (wait.kind == WAIT_NONE)
        return;
    struct wait_parts parts = wait_parts(graph, line->location, line->index, &wait);
    int64_t begin_ns = line->call.enter_ns;
    for (size_t i = 0; i < parts.count; begin_ns += parts.part[i++].ns)
        waits->wait[cursor->count++] = (struct wait_line){*line, parts.part[i], begin_ns};
}

static enum status waits_next(struct query_cursor *cursor, struct error *err)
{
    (void)err;
    struct call_line line;
    if (!cursor->rows)
        cursor->rows = memory_new(sizeof(struct waits));
    struct waits *waits = cursor->rows;
    cursor->count = 0;
    /* Most calls do not wait: the table knows without computing. */
    while (cursor->count < ROWS_AT_ONCE && next_call(cursor, &waits->calls, &line))
        if (wait_table_marks(graph_of(cursor), line.location, line.index))
            add_waits(cursor, waits, &line);
    if (cursor->count == 0)
        return STATUS_END;
    return STATUS_OK;
}

/* Of the call that is waited for. */
static struct value cause_value(const struct query_cursor *cursor, const struct wait *wait, unsigned column)
{
    const struct graph *graph = graph_of(cursor);
    const struct location *location = &graph->locations[wait->cause_location];
    switch (column) {
    case waits_cause_rank:
        return value_count(location->process);
    case waits_cause_thread:
        return value_count(location->thread);
    case waits_cause_call:
        return value_count(call_id(cursor, wait->cause_location, wait->cause_call));
    default:
        return value_text(graph->defs->states[graph_call(graph, wait->cause_location, wait->cause_call).state].name);
    }
}

static struct value waits_value(struct query_cursor *cursor, size_t row, unsigned column)
{
    const struct graph *graph = graph_of(cursor);
    const struct wait_line *line = &((const struct waits *)cursor->rows)->wait[row];
    switch (column) {
    case waits_run:
        return query_run(cursor);
    case waits_call:
        return value_count(call_id(cursor, line->line.location, line->line.index));
    case waits_rank:
        return value_count(graph->locations[line->line.location].process);
    case waits_thread:
        return value_count(graph->locations[line->line.location].thread);
    case waits_name:
        return value_text(graph->defs->states[line->line.call.state].name);
    case waits_wait:
        return value_text(wait_kind_name(line->wait.kind));
    case waits_begin_s:
        return query_since(cursor, line->begin_ns);
    case waits_waiting_s:
        return value_time(line->wait.ns);
    case waits_communicator:
        return query_communicator(graph->defs, line->wait.comm);
    case waits_site:
        return query_site(line->line.call.site);
    default:
        return cause_value(cursor, &line->wait, column);
    }
}

static void *waits_room(struct query_cursor *cursor, size_t count)
{
    (void)count;
    if (!cursor->rows)
        cursor->rows = memory_new(sizeof(struct waits));
    return ((struct waits *)cursor->rows)->wait;
}

const struct query_rows rows_waits = {.room = waits_room,
                                      .row_size = sizeof(struct wait_line),
                                      .wants = QUERY_METRICS | ENGINE_GRAPH,
                                      .next = waits_next,
                                      .value = waits_value};

/* Collectives. */

static enum status collectives_next(struct query_cursor *cursor, struct error *err)
{
    (void)err;
    /* Ids are numbers of instances from 1: those beyond the limit are not made. */
    int64_t count = (int64_t)graph_of(cursor)->instance_count;
    count = larger(smaller(count, cursor->limits.id_to), INT64_C(0));
    return query_once(cursor, (size_t)count);
}

static struct value process_of(const struct graph *graph, uint32_t location)
{
    if (location == GRAPH_NONE)
        return value_null();
    return value_count(graph->locations[location].process);
}

static struct value collectives_value(struct query_cursor *cursor, size_t row, unsigned column)
{
    const struct graph *graph = graph_of(cursor);
    const struct instance *instance = &graph->instances[row];
    const struct instance_stream *stream = &graph->streams[instance->stream];
    bool latest = instance->latest_location != GRAPH_NONE;
    switch (column) {
    case collectives_run:
        return query_run(cursor);
    case collectives_id:
        return value_count(row + 1);
    case collectives_name:
        return value_text(graph->defs->states[stream->state].name);
    case collectives_communicator:
        return query_communicator(graph->defs, stream->comm);
    case collectives_members:
        return value_count(instance->count);
    case collectives_latest_enter_s:
        return query_known(latest, query_since(cursor, instance->latest_enter_ns));
    case collectives_latest:
        return process_of(graph, instance->latest_location);
    case collectives_earliest_leave_s:
        return query_known(instance->count, query_since(cursor, instance->earliest_leave_ns));
    case collectives_root:
        return process_of(graph, instance->root_location);
    case collectives_bytes:
        return query_known(instance->bytes > 0, value_bytes((uint64_t)instance->bytes));
    default:
        return value_bool(instance->complete);
    }
}

const struct query_rows rows_collectives = {
    .wants = QUERY_METRICS | ENGINE_GRAPH, .next = collectives_next, .value = collectives_value};

/* The critical path, which is kept the latest first. */

static enum status critical_path_next(struct query_cursor *cursor, struct error *err)
{
    (void)err;
    struct query_trace *trace = cursor->trace;
    if (!trace->has_path)
        trace->path = critical_path_of(trace->result->graph);
    trace->has_path = true;
    return query_once(cursor, trace->path.segment_count);
}

static struct value critical_path_value(struct query_cursor *cursor, size_t row, unsigned column)
{
    const struct critical_path *path = &cursor->trace->path;
    const struct path_segment *segment = &path->segments[path->segment_count - 1 - row];
    const struct location *location = &graph_of(cursor)->locations[segment->location];
    switch (column) {
    case critical_path_run:
        return query_run(cursor);
    case critical_path_rank:
        return value_count(location->process);
    case critical_path_thread:
        return value_count(location->thread);
    case critical_path_begin_s:
        return query_since(cursor, segment->from_ns);
    case critical_path_end_s:
        return query_since(cursor, segment->to_ns);
    default:
        return value_time(time_since(segment->from_ns, segment->to_ns));
    }
}

const struct query_rows rows_critical_path = {
    .wants = QUERY_METRICS | ENGINE_GRAPH, .next = critical_path_next, .value = critical_path_value};
