/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows that metrics and definitions have: runs, hosts, processes, threads, functions, sites, communicators, usage of
   the machine, resources. */
#include "query/trace.h"

#include "core/memory.h"
#include "metrics/process_resources.h"

#include <string.h>

static const struct metrics *metrics_of(const struct query_cursor *cursor)
{
    return cursor->trace->result->metrics;
}

/* Runs. */

static enum status runs_next(struct query_cursor *cursor, struct error *err)
{
    (void)err;
    return query_once(cursor, 1);
}

static struct value runs_value(struct query_cursor *cursor, size_t row, unsigned column)
{
    const struct metrics *metrics = metrics_of(cursor);
    (void)row;
    switch (column) {
    case runs_run:
        return query_run(cursor);
    case runs_format:
        return value_text(metrics->format);
    case runs_processes:
        return value_count(metrics->defs->processes);
    case runs_events:
        return value_count(metrics->events);
    case runs_begin_s:
        /* On the trace's own clock, which may begin anywhere: no time of the run, so no nanoseconds are promised. */
        return value_ratio((double)metrics->begin_ns / 1e9);
    case runs_end_s:
        return value_ratio((double)metrics->end_ns / 1e9);
    case runs_duration_s:
        return value_time(time_since(metrics->begin_ns, metrics->end_ns));
    default:
        return value_bool(metrics->end.complete);
    }
}

const struct query_rows rows_runs = {.wants = QUERY_METRICS, .next = runs_next, .value = runs_value};

/* Properties: facts about the run. */

struct facts {
    struct property_list list;
    char **ranks; /* of each */
};

static enum status properties_next(struct query_cursor *cursor, struct error *err)
{
    (void)err;
    /* A list is made once: a second call says that there are no more. */
    if (cursor->step > 0)
        return STATUS_END;
    struct facts *facts = memory_new(sizeof *facts);
    facts->list = property_list_of(query_trace_defs(cursor->trace));
    facts->ranks = memory_new(facts->list.count * sizeof *facts->ranks);
    for (size_t i = 0; i < facts->list.count; i++)
        facts->ranks[i] = property_ranks(&facts->list.rows[i]);
    cursor->rows = facts;
    return query_once(cursor, facts->list.count);
}

static struct value properties_value(struct query_cursor *cursor, size_t row, unsigned column)
{
    const struct facts *facts = cursor->rows;
    switch (column) {
    case properties_run:
        return query_run(cursor);
    case properties_name:
        return value_text(facts->list.rows[row].name);
    case properties_text:
        return value_text(facts->list.rows[row].value);
    default:
        /* NULL where the fact holds for all processes. */
        return query_text(facts->ranks[row]);
    }
}

static void properties_clear(struct query_cursor *cursor)
{
    struct facts *facts = cursor->rows;
    /* Clearing must cope with a cursor that was never asked for rows. */
    for (size_t i = 0; facts && i < facts->list.count; i++)
        free(facts->ranks[i]);
    if (facts) {
        free(facts->ranks);
        property_list_clear(&facts->list);
    }
}

const struct query_rows rows_properties = {.wants = QUERY_METRICS,
                                           .next = properties_next,
                                           .value = properties_value,
                                           .clear = properties_clear,
                                           .passing = true};

/* Hosts: each name once, with how many processes have it. */

struct host {
    const char *name;
    uint64_t processes;
    uint32_t last; /* process that was counted last */
};

static struct host *host_of(struct host *hosts, size_t *count, const char *name)
{
    /* Runs have few hosts compared with their locations. */
    for (size_t i = 0; i < *count; i++)
        if (strcmp(hosts[i].name, name) == 0)
            return &hosts[i];
    hosts[*count] = (struct host){.name = name, .last = UINT32_MAX};
    return &hosts[(*count)++];
}

static enum status hosts_next(struct query_cursor *cursor, struct error *err)
{
    (void)err;
    const struct defs *defs = query_trace_defs(cursor->trace);
    size_t count = 0;
    if (cursor->step > 0)
        return STATUS_END;
    /* As many as there are locations at most. */
    struct host *hosts = memory_new(defs->location_count * sizeof *hosts);
    cursor->rows = hosts;
    for (size_t i = 0; i < defs->location_count; i++) {
        const struct location_def *location = &defs->locations[i];
        /* A trace need not name hosts: such a run has no rows here. */
        if (!location->host)
            continue;
        /* Locations are threads, those of a process next to each other: it counts once. */
        struct host *host = host_of(hosts, &count, location->host);
        host->processes += host->last != location->process;
        host->last = location->process;
    }
    return query_once(cursor, count);
}

static struct value hosts_value(struct query_cursor *cursor, size_t row, unsigned column)
{
    const struct host *host = (const struct host *)cursor->rows + row;
    switch (column) {
    case hosts_run:
        return query_run(cursor);
    case hosts_host:
        return value_text(host->name);
    default:
        return value_count(host->processes);
    }
}

const struct query_rows rows_hosts = {.wants = QUERY_METRICS, .next = hosts_next, .value = hosts_value};

/* Processes. */

static enum status processes_next(struct query_cursor *cursor, struct error *err)
{
    (void)err;
    /* All rows are in memory: they are one batch. */
    return query_once(cursor, metrics_of(cursor)->process_count);
}

/* What the trace says about a thread; nothing, of a CPU thread, where it says nothing. */
static const struct location_def *location_of(const struct defs *defs, uint32_t process, uint32_t thread)
{
    static const struct location_def unknown = {.kind = LOCATION_THREAD};
    const struct location_def *location = defs_find_location(defs, process, thread);
    return location ? location : &unknown;
}

static struct value processes_value(struct query_cursor *cursor, size_t row, unsigned column)
{
    const struct metrics *metrics = metrics_of(cursor);
    const struct process_row *process = &metrics->process[row];
    /* Thread 0 stands for the process, which has no location of its own. */
    const struct location_def *location = location_of(metrics->defs, process->rank, 0);
    switch (column) {
    case processes_run:
        return query_run(cursor);
    case processes_rank:
        return value_count(process->rank);
    case processes_host:
        return query_text(location->host);
    case processes_name:
        return query_text(location->process_name);
    case processes_begin_s:
        return query_since(cursor, process->begin_ns);
    case processes_end_s:
        return query_since(cursor, process->end_ns);
    case processes_communication_s:
        return value_time(process->communication_ns);
    case processes_compute_s:
        return value_time(process_compute_ns(process));
    case processes_total_s:
        return value_time(process_total_ns(process));
    case processes_communication_index:
        return value_ratio(process_communication_index(metrics, process));
    case processes_events:
        return value_count(process->events);
    case processes_messages_sent:
        return value_count(process->messages_sent);
    case processes_bytes_sent:
        return value_bytes(process->bytes_sent);
    case processes_messages_received:
        return value_count(process->messages_received);
    default:
        return value_bytes(process->bytes_received);
    }
}

const struct query_rows rows_processes = {.wants = QUERY_METRICS, .next = processes_next, .value = processes_value};

/* Threads: rows of the timeline that have events. */

static const struct timeline_info *info_of(const struct query_cursor *cursor)
{
    return timeline_info(cursor->trace->look.timeline);
}

static enum status threads_next(struct query_cursor *cursor, struct error *err)
{
    (void)err;
    const struct timeline_info *info = info_of(cursor);
    size_t count = 0;
    if (cursor->step > 0)
        return STATUS_END;
    /* The numbers of rows that have events, so that a row of the table is found at once. */
    cursor->rows = memory_new(info->row_count * sizeof(uint32_t));
    for (uint32_t i = 0; i < info->row_count; i++)
        /* A limit on ranks leaves rows out here; SQLite would look at each of them. */
        if (info->rows[i].events > 0 && query_has_rank(&cursor->limits, info->rows[i].process))
            ((uint32_t *)cursor->rows)[count++] = i;
    return query_once(cursor, count);
}

static struct value threads_value(struct query_cursor *cursor, size_t row, unsigned column)
{
    const struct timeline_row *thread = &info_of(cursor)->rows[((const uint32_t *)cursor->rows)[row]];
    const struct location_def *location = location_of(query_trace_defs(cursor->trace), thread->process, thread->thread);
    switch (column) {
    case threads_run:
        return query_run(cursor);
    case threads_rank:
        return value_count(thread->process);
    case threads_thread:
        return value_count(thread->thread);
    case threads_kind:
        return value_text(location_kind_name(location->kind));
    case threads_name:
        return query_text(location->name);
    case threads_host:
        return query_text(location->host);
    case threads_begin_s:
        return query_since(cursor, thread->begin_ns);
    case threads_end_s:
        return query_since(cursor, thread->end_ns);
    case threads_communication_s:
        return value_time(thread->mpi_ns);
    default:
        return value_count(thread->events);
    }
}

const struct query_rows rows_threads = {.wants = QUERY_LOOK, .next = threads_next, .value = threads_value};

/* Functions: a process at a time. */

static enum status functions_next(struct query_cursor *cursor, struct error *err)
{
    (void)err;
    const struct metrics *metrics = metrics_of(cursor);
    while (cursor->step < metrics->process_count) {
        const struct process_row *process = &metrics->process[cursor->step++];
        cursor->count = process->function_count;
        /* Processes outside of the limits are passed over without a row. */
        if (cursor->count > 0 && query_has_rank(&cursor->limits, process->rank))
            return STATUS_OK;
    }
    return STATUS_END;
}

static struct value functions_value(struct query_cursor *cursor, size_t row, unsigned column)
{
    const struct metrics *metrics = metrics_of(cursor);
    const struct process_row *process = &metrics->process[cursor->step - 1];
    const struct function_row *function = &process->functions[row];
    switch (column) {
    case functions_run:
        return query_run(cursor);
    case functions_rank:
        return value_count(process->rank);
    case functions_name:
        return value_text(metrics->defs->states[function->state].name);
    case functions_class:
        return value_text(function_class_name(metrics->defs->states[function->state].class));
    case functions_count:
        return value_count(function->count);
    case functions_time_s:
        return value_time(function->time_ns);
    case functions_exclusive_s:
        return value_time(function->exclusive_ns);
    case functions_min_s:
        /* Without a call there is neither a shortest nor a longest. */
        return query_known(function->count, value_time(function->min_ns));
    case functions_max_s:
        return query_known(function->count, value_time(function->max_ns));
    case functions_open:
        return value_count(function->open);
    case functions_open_s:
        return value_time(function->open_ns);
    default:
        return value_count(function->stray);
    }
}

const struct query_rows rows_functions = {.wants = QUERY_METRICS, .next = functions_next, .value = functions_value};

/* Sites. */

static enum status sites_next(struct query_cursor *cursor, struct error *err)
{
    (void)err;
    return query_once(cursor, metrics_of(cursor)->defs->site_count);
}

static struct value sites_value(struct query_cursor *cursor, size_t row, unsigned column)
{
    const struct site_def *site = &metrics_of(cursor)->defs->sites[row];
    switch (column) {
    case sites_run:
        return query_run(cursor);
    case sites_id:
        /* As in the column of calls, where 0 is a place that is not known. */
        return query_site((uint32_t)row + 1);
    case sites_file:
        return query_text(site->file);
    case sites_line:
        return query_known(site->line > 0, value_integer(site->line));
    default:
        return query_text(site->function);
    }
}

const struct query_rows rows_sites = {.wants = QUERY_METRICS, .next = sites_next, .value = sites_value};

/* Calls by place, as `sight metrics --sites` lists them. */

static enum status call_sites_next(struct query_cursor *cursor, struct error *err)
{
    const struct analysis *analysis = metrics_of(cursor)->analysis;
    (void)err;
    /* A metrics file may have none. */
    return query_once(cursor, analysis ? analysis->call_site_count : 0);
}

static struct value call_sites_value(struct query_cursor *cursor, size_t row, unsigned column)
{
    static const struct site_def unknown;
    const struct defs *defs = metrics_of(cursor)->defs;
    const struct call_site *calls = &metrics_of(cursor)->analysis->call_sites[row];
    const struct site_def *site = &unknown;
    if (calls->site > 0 && calls->site <= defs->site_count)
        site = &defs->sites[calls->site - 1];
    switch (column) {
    case call_sites_run:
        return query_run(cursor);
    case call_sites_site:
        return query_site(calls->site);
    case call_sites_name:
        return value_text(defs->states[calls->state].name);
    case call_sites_file:
        return query_text(site->file);
    case call_sites_line:
        return query_known(site->line > 0, value_integer(site->line));
    case call_sites_function:
        return query_text(site->function);
    case call_sites_calls:
        return value_count(calls->calls);
    case call_sites_locations:
        return value_count(calls->locations);
    case call_sites_time_s:
        return value_time(calls->ns);
    case call_sites_waiting_s:
        return value_time(calls->waiting_ns);
    case call_sites_longest_s:
        return value_time(calls->longest_ns);
    default:
        return value_bytes(calls->bytes);
    }
}

const struct query_rows rows_call_sites = {
    .wants = QUERY_METRICS | ENGINE_ANALYSIS, .next = call_sites_next, .value = call_sites_value};

/* Communicators: all that are defined, with their messages. */

static enum status communicators_next(struct query_cursor *cursor, struct error *err)
{
    (void)err;
    return query_once(cursor, metrics_of(cursor)->defs->comm_count);
}

static const struct message_row *messages_of(const struct metrics *metrics, int32_t id)
{
    /* A communicator without messages has counts of 0, not none. */
    static const struct message_row none;
    for (size_t i = 0; i < metrics->communicator_count; i++)
        if (metrics->communicators[i].key == id)
            return &metrics->communicators[i];
    return &none;
}

static const char *communicator_kind(const struct comm_def *comm)
{
    if (comm->world)
        return "world";
    if (comm->self)
        return "self";
    return comm->window ? "window" : "other";
}

static struct value communicators_value(struct query_cursor *cursor, size_t row, unsigned column)
{
    const struct comm_def *comm = &metrics_of(cursor)->defs->comms[row];
    const struct message_row *messages = messages_of(metrics_of(cursor), comm->id);
    switch (column) {
    case communicators_run:
        return query_run(cursor);
    case communicators_id:
        return value_integer(comm->id);
    case communicators_name:
        return query_text(comm->name);
    case communicators_kind:
        return value_text(communicator_kind(comm));
    case communicators_messages_sent:
        return value_count(messages->sent);
    case communicators_bytes_sent:
        return value_bytes(messages->bytes_sent);
    case communicators_messages_received:
        return value_count(messages->received);
    default:
        return value_bytes(messages->bytes_received);
    }
}

const struct query_rows rows_communicators = {
    .wants = QUERY_METRICS, .next = communicators_next, .value = communicators_value};

/* Usage of the machine. */

static enum status usage_next(struct query_cursor *cursor, struct error *err)
{
    (void)err;
    const struct resources *resources = metrics_of(cursor)->resources;
    /* Only recordings have resources: other traces have no rows. */
    return query_once(cursor, resources ? resources->count : 0);
}

static struct value used(const struct process_resources *process, enum resource_counter counter)
{
    int64_t value = resources_used(process, counter);
    if (value < 0)
        return value_null();
    /* Counters have units of their own: times, bytes or a number. */
    if (counter == RESOURCE_CPU || counter == RESOURCE_DELAY)
        return value_time(value);
    return counter == RESOURCE_PEAK ? value_bytes((uint64_t)value) : value_count((uint64_t)value);
}

static struct value usage_value(struct query_cursor *cursor, size_t row, unsigned column)
{
    static const enum resource_counter counters[] = {[usage_cpu_s] = RESOURCE_CPU,
                                                     [usage_core_wait_s] = RESOURCE_DELAY,
                                                     [usage_voluntary_switches] = RESOURCE_VOLUNTARY,
                                                     [usage_involuntary_switches] = RESOURCE_INVOLUNTARY,
                                                     [usage_page_faults] = RESOURCE_FAULTS,
                                                     [usage_disk_faults] = RESOURCE_DISK_FAULTS,
                                                     [usage_peak_bytes] = RESOURCE_PEAK,
                                                     [usage_cores] = RESOURCE_CORES,
                                                     [usage_usable_cores] = RESOURCE_USABLE};
    const struct process_resources *process = &metrics_of(cursor)->resources->process[row];
    switch (column) {
    case usage_run:
        return query_run(cursor);
    case usage_rank:
        return value_count(process->rank);
    case usage_wall_s:
        return value_time(process->wall_ns);
    default:
        return used(process, counters[column]);
    }
}

/* The analysis reads the whole trace, and with it the counters. */
const struct query_rows rows_usage = {
    .wants = QUERY_METRICS | ENGINE_ANALYSIS, .next = usage_next, .value = usage_value};

/* Resources: from a pass of their own, which the trace keeps. */

static enum status resources_next(struct query_cursor *cursor, struct error *err)
{
    struct query_trace *trace = cursor->trace;
    /* A tree is read once for all cursors on the trace. */
    if (!trace->has_tree && resource_tree_read(&trace->tree, &trace->request, err) != STATUS_OK)
        return STATUS_FAILED;
    trace->has_tree = true;
    return query_once(cursor, trace->tree.count);
}

static struct value resources_value(struct query_cursor *cursor, size_t row, unsigned column)
{
    const struct resource_tree *tree = &cursor->trace->tree;
    switch (column) {
    case resources_run:
        return query_run(cursor);
    case resources_path:
        return value_text(tree->list[row].path);
    default:
        /* From the begin of the run, as all times of tables. */
        return value_time(time_since(tree->begin_ns, tree->list[row].first_ns));
    }
}

/* Metrics besides: they say when the run begins, and what is damaged. */
const struct query_rows rows_resources = {.wants = QUERY_METRICS, .next = resources_next, .value = resources_value};
