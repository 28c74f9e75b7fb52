/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/metrics_report.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "metrics/functions_together.h"
#include "metrics/metrics_file.h"
#include "render/facts.h"
#include "render/reports/phases_report.h"
#include "render/reports/run_report.h"
#include "render/reports/search_report.h"
#include "render/reports/sites_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* A getter of a field: `context` is the metrics, `row` the row. */
#define GETTER(name, row_type, expression)                                                                             \
    static struct value name(const void *context, const void *row_pointer)                                             \
    {                                                                                                                  \
        const struct metrics *metrics = context;                                                                       \
        const row_type *row = row_pointer;                                                                             \
        (void)metrics;                                                                                                 \
        (void)row;                                                                                                     \
        return expression;                                                                                             \
    }

GETTER(trace_format, struct metrics, value_text(metrics->format))
GETTER(trace_processes, struct metrics, value_count(metrics->processes))
GETTER(trace_events, struct metrics, value_count(metrics->events))
/* Without processes there is no first event; 0 would look like a time. */
GETTER(trace_begin, struct metrics, value_if(metrics->process_count, value_time(metrics->begin_ns)))
GETTER(trace_end, struct metrics, value_if(metrics->process_count, value_time(metrics->end_ns)))
GETTER(trace_duration, struct metrics, value_time(time_since(metrics->begin_ns, metrics->end_ns)))
GETTER(trace_complete, struct metrics, value_bool(metrics->end.complete))

static const struct field trace_fields[] = {
    {"format", NULL, trace_format},     {"processes", NULL, trace_processes}, {"events", NULL, trace_events},
    {"begin_s", NULL, trace_begin},     {"end_s", NULL, trace_end},           {"duration_s", NULL, trace_duration},
    {"complete", NULL, trace_complete},
};

GETTER(process_rank, struct process_row, value_count(row->rank))
GETTER(process_begin, struct process_row, value_time(row->begin_ns))
GETTER(process_end, struct process_row, value_time(row->end_ns))
GETTER(process_communication, struct process_row, value_time(row->communication_ns))
GETTER(process_compute, struct process_row, value_time(process_compute_ns(row)))
GETTER(process_total, struct process_row, value_time(process_total_ns(row)))
GETTER(process_index, struct process_row, value_ratio(process_communication_index(metrics, row)))
GETTER(process_events, struct process_row, value_count(row->events))
GETTER(process_messages_sent, struct process_row, value_count(row->messages_sent))
GETTER(process_bytes_sent, struct process_row, value_bytes(row->bytes_sent))
GETTER(process_messages_received, struct process_row, value_count(row->messages_received))
GETTER(process_bytes_received, struct process_row, value_bytes(row->bytes_received))

static const struct field process_fields[] = {
    {"rank", "process", process_rank},
    {"begin_s", NULL, process_begin},
    {"end_s", NULL, process_end},
    {"communication_s", "in MPI", process_communication},
    {"compute_s", "compute", process_compute},
    {"total_s", "total", process_total},
    {"communication_index", NULL, process_index},
    {"events", "events", process_events},
    {"messages_sent", "sent", process_messages_sent},
    {"bytes_sent", "bytes", process_bytes_sent},
    {"messages_received", "received", process_messages_received},
    {"bytes_received", "bytes", process_bytes_received},
};

static const struct state_def *row_state(const struct metrics *metrics, const struct function_row *row)
{
    return &metrics->defs->states[row->state];
}

GETTER(function_name, struct function_row, value_text(row_state(metrics, row)->name))
GETTER(function_class, struct function_row, value_text(function_class_name(row_state(metrics, row)->class)))
GETTER(function_count, struct function_row, value_count(row->count))
GETTER(function_time, struct function_row, value_time(row->time_ns))
GETTER(function_exclusive, struct function_row, value_time(row->exclusive_ns))
GETTER(function_min, struct function_row, value_if(row->count, value_time(row->min_ns)))
GETTER(function_max, struct function_row, value_if(row->count, value_time(row->max_ns)))
GETTER(function_open, struct function_row, value_count(row->open))
GETTER(function_open_time, struct function_row, value_time(row->open_ns))
GETTER(function_stray, struct function_row, value_count(row->stray))

static const struct field function_fields[] = {
    {"name", "function", function_name},
    {"class", "class", function_class},
    {"count", "calls", function_count},
    {"time_s", "time", function_time},
    {"exclusive_s", "exclusive", function_exclusive},
    {"min_s", "shortest", function_min},
    {"max_s", "longest", function_max},
    {"open", NULL, function_open},
    {"open_s", NULL, function_open_time},
    {"stray", NULL, function_stray},
};

/* The columns of text where calls never returned. */
static const struct field open_function_fields[] = {
    {"name", "function", function_name},
    {"class", "class", function_class},
    {"count", "calls", function_count},
    {"time_s", "time", function_time},
    {"open", "open", function_open},
    {"open_s", "open for", function_open_time},
    {"exclusive_s", "exclusive", function_exclusive},
    {"min_s", "shortest", function_min},
    {"max_s", "longest", function_max},
};

GETTER(partner_rank, struct partner_row, value_if(row->partner != EVENT_UNKNOWN, value_integer(row->partner)))
GETTER(partner_messages, struct partner_row, value_count(row->messages))
GETTER(partner_bytes, struct partner_row, value_bytes(row->bytes))

static const struct field sent_fields[] = {
    {"to", "to", partner_rank}, {"messages", "messages", partner_messages}, {"bytes", "bytes", partner_bytes}};
static const struct field received_fields[] = {
    {"from", "from", partner_rank}, {"messages", "messages", partner_messages}, {"bytes", "bytes", partner_bytes}};

GETTER(mark_name, struct mark_row, value_text(metrics->defs->marks[row->mark].name))
GETTER(mark_count, struct mark_row, value_count(row->count))

static const struct field mark_fields[] = {{"name", "event", mark_name}, {"count", "count", mark_count}};

GETTER(thread_number, struct thread_row, value_count(row->thread))
GETTER(thread_begin, struct thread_row, value_time(row->begin_ns))
GETTER(thread_end, struct thread_row, value_time(row->end_ns))
GETTER(thread_communication, struct thread_row, value_time(row->communication_ns))
/* What a thread does not spend in MPI it computes; processes subtract polling besides. */
GETTER(thread_compute, struct thread_row,
       value_time(time_since(row->communication_ns, time_since(row->begin_ns, row->end_ns))))
GETTER(thread_total, struct thread_row, value_time(time_since(row->begin_ns, row->end_ns)))

GETTER(thread_regions, struct thread_row, value_count(row->regions))
GETTER(thread_parallel, struct thread_row, value_time(row->parallel_ns))
GETTER(thread_waiting, struct thread_row, value_time(row->waiting_ns))
GETTER(thread_short, struct thread_row, value_time(row->short_ns))
GETTER(thread_short_waiting, struct thread_row, value_time(row->short_waiting_ns))
GETTER(thread_parallel_mpi, struct thread_row, value_time(row->parallel_mpi_ns))

static const struct field thread_fields[] = {
    {"thread", "thread", thread_number},
    {"begin_s", NULL, thread_begin},
    {"end_s", NULL, thread_end},
    {"communication_s", "in MPI", thread_communication},
    {"compute_s", "compute", thread_compute},
    {"total_s", "total", thread_total},
    {"regions", "regions", thread_regions},
    {"parallel_s", "in regions", thread_parallel},
    {"waiting_s", "waiting there", thread_waiting},
    {"short_s", NULL, thread_short},
    {"short_waiting_s", NULL, thread_short_waiting},
    {"parallel_mpi_s", NULL, thread_parallel_mpi},
};

/* The rest of the tags has no tag, and a size or communicator may be unknown. */
GETTER(message_key, struct message_row,
       row->is_rest || row->key == EVENT_UNKNOWN ? value_null() : value_integer(row->key))
GETTER(message_rest, struct message_row, value_bool(row->is_rest))
GETTER(message_sent, struct message_row, value_count(row->sent))
GETTER(message_bytes_sent, struct message_row, value_bytes(row->bytes_sent))
GETTER(message_received, struct message_row, value_count(row->received))
GETTER(message_bytes_received, struct message_row, value_bytes(row->bytes_received))
/* A size class holds the sizes of k bits: 2^(k-1) to 2^k - 1. */
GETTER(size_from, struct message_row, value_bytes(row->key > 0 ? UINT64_C(1) << (row->key - 1) : 0))
/* 2^k - 1 without 2^k, which for the largest class would be beyond 64 bits. */
GETTER(size_to, struct message_row, value_bytes(row->key > 0 ? ((UINT64_C(1) << (row->key - 1)) - 1) * 2 + 1 : 0))

#define MESSAGE_FIELDS                                                                                                 \
    {"messages_sent", "sent", message_sent}, {"bytes_sent", "bytes", message_bytes_sent},                              \
        {"messages_received", "received", message_received},                                                           \
    {                                                                                                                  \
        "bytes_received", "bytes", message_bytes_received                                                              \
    }

static const struct field communicator_fields[] = {{"communicator", "communicator", message_key}, MESSAGE_FIELDS};
static const struct field tag_fields[] = {{"tag", "tag", message_key}, {"rest", NULL, message_rest}, MESSAGE_FIELDS};
static const struct field size_fields[] = {
    {"from_bytes", "from", size_from}, {"to_bytes", "to", size_to}, MESSAGE_FIELDS};

#define JSON_ROWS(json, key, fields, metrics, rows, count)                                                             \
    json_list((json), (key), (fields), COUNT_OF(fields), (metrics), (rows), (count), sizeof *(rows))

static void json_process(struct json *json, const struct metrics *metrics, const struct process_row *row)
{
    json_open(json, NULL, '{');
    json_fields(json, process_fields, COUNT_OF(process_fields), metrics, row);
    JSON_ROWS(json, "functions", function_fields, metrics, row->functions, row->function_count);
    JSON_ROWS(json, "sent", sent_fields, metrics, row->sent, row->sent_count);
    JSON_ROWS(json, "received", received_fields, metrics, row->received, row->received_count);
    JSON_ROWS(json, "marks", mark_fields, metrics, row->marks, row->mark_count);
    /* Only where the trace has threads: most have one for each process, which would repeat the process. */
    if (row->thread_count > 0)
        JSON_ROWS(json, "threads", thread_fields, metrics, row->threads, row->thread_count);
    json_close(json, '}');
}

void metrics_write_trace(struct json *json, const struct metrics *metrics)
{
    json_open(json, "trace", '{');
    json_fields(json, trace_fields, COUNT_OF(trace_fields), metrics, metrics);
    json_close(json, '}');
}

void metrics_write_json(struct output *output, const struct metrics *metrics)
{
    metrics_write_json_more(output, metrics, NULL, NULL);
}

void metrics_write_json_more(struct output *output, const struct metrics *metrics,
                             void (*more)(struct json *json, const void *context), const void *context)
{
    struct json json = {.output = output};
    json_open(&json, NULL, '{');
    json_value(&json, "schema", value_text("sight-metrics/1"));
    metrics_write_trace(&json, metrics);
    json_open(&json, "processes", '[');
    for (size_t i = 0; i < metrics->process_count; i++)
        json_process(&json, metrics, &metrics->process[i]);
    json_close(&json, ']');
    /* Accumulated by another version, or of a selection: null says unknown, empty would say none. */
    if (metrics->tables_unknown) {
        json_value(&json, "communicators", value_null());
        json_value(&json, "tags", value_null());
        json_value(&json, "message_sizes", value_null());
        if (more)
            more(&json, context);
        json_close(&json, '}');
        return;
    }
    JSON_ROWS(&json, "communicators", communicator_fields, metrics, metrics->communicators,
              metrics->communicator_count);
    JSON_ROWS(&json, "tags", tag_fields, metrics, metrics->tags, metrics->tag_count);
    JSON_ROWS(&json, "message_sizes", size_fields, metrics, metrics->sizes, metrics->size_count);
    if (more)
        more(&json, context);
    json_close(&json, '}');
}

/* Only in metrics files: damage, and the sums that a selection of processes would not give. */
GETTER(file_version, struct metrics, value_count(METRICS_FILE_VERSION))
GETTER(file_ends, struct metrics, value_count(metrics->messages))
GETTER(file_damages, struct metrics, value_if(metrics->end.damage.count, value_count(metrics->end.damage.count)))
GETTER(file_damage, struct metrics, value_if(metrics->end.damage.count, value_text(metrics->end.damage.first)))
GETTER(file_used, struct metrics, value_if(!metrics->end.complete, value_bytes(metrics->end.used)))
GETTER(file_total, struct metrics, value_if(!metrics->end.complete, value_bytes(metrics->end.total)))
GETTER(process_time_back, struct process_row, value_if(row->time_back, value_count(row->time_back)))
GETTER(state_name, struct state_def, value_text(row->name))
GETTER(state_colour, struct state_def, value_text(row->colour))
/* In XML an absent count means 0. */
GETTER(function_open_xml, struct function_row, value_if(row->open, value_count(row->open)))
GETTER(function_open_time_xml, struct function_row, value_if(row->open_ns, value_time(row->open_ns)))
GETTER(function_stray_xml, struct function_row, value_if(row->stray, value_count(row->stray)))

static const struct field file_version_fields[] = {{"version", NULL, file_version}};
static const struct field file_fields[] = {
    {"message_ends", NULL, file_ends}, {"damages", NULL, file_damages},   {"damage", NULL, file_damage},
    {"used_bytes", NULL, file_used},   {"total_bytes", NULL, file_total},
};
static const struct field state_fields[] = {{"name", NULL, state_name}, {"colour", NULL, state_colour}};

/* The fields of a process and of a function as XML has them, made of the tables above. */
enum { PROCESS_FIELDS = COUNT_OF(process_fields), FUNCTION_FIELDS = COUNT_OF(function_fields) };

static void xml_rows(struct output *output, const char *element, const struct field *fields, size_t field_count,
                     const struct metrics *metrics, const void *rows, size_t count, size_t size)
{
    for (size_t i = 0; i < count; i++)
        xml_row(output, element, fields, field_count, metrics, (const char *)rows + i * size, "/>\n");
}
#define XML_ROWS(output, element, fields, metrics, rows, count)                                                        \
    xml_rows((output), (element), (fields), COUNT_OF(fields), (metrics), (rows), (count), sizeof *(rows))

/* What the process got of the machine: the first and the last value of each counter. */
static void xml_resources(struct output *output, const struct resources *resources, uint32_t rank)
{
    const struct process_resources *process = resources_of(resources, rank);
    for (enum resource_counter counter = 0; process && counter < RESOURCE_COUNTERS; counter++) {
        if (process->last[counter] < 0)
            continue;
        output_text(output, "<resource");
        xml_attribute(output, "name", value_text(resource_counter_name(counter)));
        xml_attribute(output, "first", value_count((uint64_t)process->first[counter]));
        xml_attribute(output, "value", value_count((uint64_t)process->last[counter]));
        xml_attribute(output, "time_s", value_time(process->wall_ns));
        output_text(output, "/>\n");
    }
}

/* The counters of the trace, which processes name by their numbers. */
static void xml_counters(struct output *output, const struct metrics *metrics)
{
    for (size_t i = 0; i < metrics->counted_count; i++) {
        const struct summed_counter *counted = &metrics->counted[i];
        const struct mark_def *mark = &metrics->defs->marks[counted->mark];
        output_text(output, "<counter");
        xml_attribute(output, "name", value_text(mark->name));
        xml_attribute(output, "unit", value_text(mark->counter.unit));
        xml_attribute(output, "mode", value_text(counter_mode_name(counted->mode)));
        output_text(output, "/>\n");
    }
}

static void xml_counted(struct output *output, const struct process_row *row)
{
    for (size_t i = 0; i < row->counted_count; i++) {
        const struct counter_sum *sum = &row->counted[i];
        output_print(output, "<counted counter=\"%" PRIu32 "\" readings=\"%" PRIu64 "\"", sum->counter, sum->readings);
        if (sum->falls > 0)
            output_print(output, " falls=\"%" PRIu64 "\"", sum->falls);
        if (sum->known) {
            /* With all digits, to be read back exactly. */
            output_print(output, " amount=\"%.17g\"", sum->amount);
            xml_attribute(output, "time_s", value_time(sum->ns));
        }
        output_text(output, "/>\n");
    }
}

static void xml_process(struct output *output, const struct metrics *metrics, const struct process_row *row)
{
    struct field process[PROCESS_FIELDS + 1], function[FUNCTION_FIELDS];
    memcpy(process, process_fields, sizeof process_fields);
    process[PROCESS_FIELDS] = (struct field){"time_back", NULL, process_time_back};
    memcpy(function, function_fields, sizeof function_fields);
    /* The last three of the table are those that XML omits where they are 0. */
    function[FUNCTION_FIELDS - 3].get = function_open_xml;
    function[FUNCTION_FIELDS - 2].get = function_open_time_xml;
    function[FUNCTION_FIELDS - 1].get = function_stray_xml;
    xml_row(output, "process", process, COUNT_OF(process), metrics, row, ">\n");
    XML_ROWS(output, "function", function, metrics, row->functions, row->function_count);
    XML_ROWS(output, "sent", sent_fields, metrics, row->sent, row->sent_count);
    XML_ROWS(output, "received", received_fields, metrics, row->received, row->received_count);
    XML_ROWS(output, "mark", mark_fields, metrics, row->marks, row->mark_count);
    XML_ROWS(output, "thread", thread_fields, metrics, row->threads, row->thread_count);
    xml_resources(output, metrics->resources, row->rank);
    xml_counted(output, row);
    output_text(output, "</process>\n");
}

/* States in the order of the definitions: rows of equal time stand in that order. */
static void xml_states(struct output *output, const struct metrics *metrics)
{
    bool *occurs = memory_new(metrics->defs->state_count);
    for (size_t i = 0; i < metrics->process_count; i++)
        for (size_t k = 0; k < metrics->process[i].function_count; k++)
            occurs[metrics->process[i].functions[k].state] = true;
    for (size_t i = 0; i < metrics->defs->state_count; i++)
        if (occurs[i])
            xml_row(output, "state", state_fields, COUNT_OF(state_fields), metrics, &metrics->defs->states[i], "/>\n");
    free(occurs);
}

/* An attribute that is omitted if it is 0. */
static void xml_time(struct output *output, const char *name, int64_t ns)
{
    if (ns != 0)
        xml_attribute(output, name, value_time(ns));
}

/* Up to two times of each process or of each state, as attributes; rows of nothing but 0 are left out. */
struct xml_times {
    const char *element, *first_name, *second_name; /* second NULL: there is one only */
    const int64_t *first_ns, *second_ns;
};

static bool xml_times_any(const struct xml_times *times, size_t row)
{
    /* The second array may be missing, where there is one number only. */
    return times->first_ns[row] || (times->second_name && times->second_ns[row]);
}

static void xml_times_end(struct output *output, const struct xml_times *times, size_t row)
{
    xml_time(output, times->first_name, times->first_ns[row]);
    if (times->second_name)
        xml_time(output, times->second_name, times->second_ns[row]);
    output_text(output, "/>\n");
}

static void xml_by_process(struct output *output, const struct metrics *metrics, struct xml_times times)
{
    /* Rows of zeros are left out: of thousands of processes most neither wait nor are waited for. */
    for (size_t i = 0; i < metrics->analysis->process_count; i++)
        if (xml_times_any(&times, i)) {
            output_print(output, "<%s rank=\"%" PRIu32 "\"", times.element, metrics->process[i].rank);
            xml_times_end(output, &times, i);
        }
}

static void xml_by_state(struct output *output, const struct metrics *metrics, struct xml_times times)
{
    for (size_t i = 0; i < metrics->analysis->state_count; i++)
        if (xml_times_any(&times, i)) {
            output_print(output, "<%s name=\"", times.element);
            value_write_xml(output, value_text(metrics->defs->states[i].name));
            output_text(output, "\"");
            xml_times_end(output, &times, i);
        }
}

static void xml_site(struct output *output, const struct site_def *site, int64_t ns)
{
    output_text(output, "<site file=\"");
    value_write_xml(output, value_text(site->file));
    output_print(output, "\" line=\"%" PRId32 "\"", site->line);
    if (site->function) {
        output_text(output, " function=\"");
        value_write_xml(output, value_text(site->function));
        output_text(output, "\"");
    }
    xml_time(output, "time_s", ns);
    output_text(output, "/>\n");
}

/* Times of bins from the first to the last nonzero one. */
static void xml_course(struct output *output, const int64_t *course_ns)
{
    size_t first = 0, end = COURSE_BINS;
    /* Most courses are short parts of the run: zeros at both ends need not be stored. */
    while (first < end && course_ns[first] == 0)
        first++;
    while (end > first && course_ns[end - 1] == 0)
        end--;
    /* A course of zeros has no first bin. */
    if (first == COURSE_BINS)
        first = end = 0;
    output_print(output, " first=\"%zu\" times_s=\"", first);
    for (size_t bin = first; bin < end; bin++) {
        if (bin > first)
            output_text(output, " ");
        value_write_xml(output, value_time(course_ns[bin]));
    }
    output_text(output, "\"/>\n");
}

static void xml_wait(struct output *output, const struct metrics *metrics, const struct wait_sums *sums,
                     const char *kind)
{
    /* A kind that the run has no calls for is not written; one without waits is, with its calls. */
    if (sums->calls == 0 && sums->count == 0)
        return;
    output_print(output, "<wait kind=\"%s\" count=\"%" PRIu64 "\" calls=\"%" PRIu64 "\"", kind, sums->count,
                 sums->calls);
    xml_time(output, "time_s", sums->ns);
    xml_time(output, "longest_s", sums->longest_ns);
    xml_time(output, "from_s", sums->from_ns);
    xml_time(output, "to_s", sums->to_ns);
    /* Below 0 it was not computed, which differs from a saving of 0. */
    if (sums->saving_ns >= 0) {
        output_text(output, " saving_s=\"");
        value_write_xml(output, value_time(sums->saving_ns));
        output_text(output, "\"");
    }
    if (sums->remains_ns >= 0)
        xml_time(output, "remains_s", sums->remains_ns);
    output_text(output, ">\n");
    xml_by_process(output, metrics,
                   (struct xml_times){"waiter", "waited_s", "caused_s", sums->victims_ns, sums->causes_ns});
    xml_by_state(output, metrics,
                 (struct xml_times){"waited", "time_s", "cause_s", sums->states_ns, sums->cause_states_ns});
    if (sums->ns > 0) {
        output_text(output, "<during");
        xml_course(output, sums->course_ns);
    }
    for (size_t i = 0; i < sums->site_count; i++)
        xml_site(output, &metrics->defs->sites[sums->sites[i].index], sums->sites[i].ns);
    for (size_t i = 0; i < sums->comm_count; i++) {
        output_print(output, "<among communicator=\"%" PRId32 "\"", metrics->defs->comms[sums->comms[i].index].id);
        xml_time(output, "time_s", sums->comms[i].ns);
        output_text(output, "/>\n");
    }
    output_text(output, "</wait>\n");
}

/* When calls of each state do not wait. */
static void xml_own(struct output *output, const struct metrics *metrics)
{
    for (size_t i = 0; i < metrics->analysis->state_count; i++) {
        if (!metrics->analysis->own_course_ns[i])
            continue;
        output_text(output, "<own name=\"");
        value_write_xml(output, value_text(metrics->defs->states[i].name));
        output_text(output, "\"");
        xml_course(output, metrics->analysis->own_course_ns[i]);
    }
}

static void xml_path(struct output *output, const struct metrics *metrics)
{
    const struct analysis *analysis = metrics->analysis;
    xml_by_process(output, metrics,
                   (struct xml_times){"path", "compute_s", "mpi_s", analysis->path_compute_ns, analysis->path_mpi_ns});
    xml_by_state(output, metrics,
                 (struct xml_times){"path", "time_s", "before_s", analysis->path_states_ns, analysis->path_before_ns});
    xml_by_process(output, metrics, (struct xml_times){"impact", "cost_s", NULL, analysis->impact_ns, NULL});
    xml_by_state(
        output, metrics,
        (struct xml_times){"impact", "cost_s", "before_s", analysis->impact_states_ns, analysis->impact_before_ns});
    xml_by_state(
        output, metrics,
        (struct xml_times){"excess", "time_s", "before_s", analysis->excess_states_ns, analysis->excess_before_ns});
}

static void xml_delays(struct output *output, const struct metrics *metrics)
{
    const struct analysis *analysis = metrics->analysis;
    xml_by_process(output, metrics, (struct xml_times){"delay", "cost_s", NULL, analysis->delay_ns, NULL});
    xml_by_state(
        output, metrics,
        (struct xml_times){"delay", "cost_s", "before_s", analysis->delay_states_ns, analysis->delay_before_ns});
}

static void xml_concurrency(struct output *output, const struct analysis *analysis)
{
    bool any = false;
    for (size_t i = 0; i < analysis->process_count; i++) {
        if (analysis->concurrency_ns[i] <= 0)
            continue;
        output_print(output, "<concurrency processes=\"%zu\" time_s=\"", i + 1);
        value_write_xml(output, value_time(analysis->concurrency_ns[i]));
        output_text(output, "\"/>\n");
        any = true;
    }
    if (!any)
        return;
    output_text(output, "<busy");
    xml_course(output, analysis->computing_course_ns);
}

static void xml_number_TIME(struct output *output, int64_t ns)
{
    value_write_xml(output, value_time(ns));
}

static void xml_number_COUNT(struct output *output, uint64_t count)
{
    value_write_xml(output, value_count(count));
}

/* With all digits, to be read back exactly. */
static void xml_number_RATIO(struct output *output, double ratio)
{
    output_print(output, "%.17g", ratio);
}

static void xml_analysis(struct output *output, const struct metrics *metrics)
{
    const struct analysis *analysis = metrics->analysis;
    /* An analysis of other processes than these cannot be matched to their rows. */
    if (!analysis || analysis->process_count != metrics->process_count)
        return;
    output_text(output, "<analysis>\n");
#define WRITE_NUMBER(member, type)                                                                                     \
    output_text(output, "<number name=\"" #member "\" value=\"");                                                      \
    xml_number_##type(output, analysis->member);                                                                       \
    output_text(output, "\"/>\n");
    ANALYSIS_NUMBERS(WRITE_NUMBER)
#undef WRITE_NUMBER
    for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++)
        xml_wait(output, metrics, &analysis->waits[kind], wait_kind_name((enum wait_kind)kind));
    xml_wait(output, metrics, &analysis->contention, WAIT_CONTENTION);
    xml_wait(output, metrics, &analysis->uneven, WAIT_UNEVEN);
    if (analysis->synchronising > 0) {
        output_text(output, "<synchronising");
        xml_course(output, analysis->synchronising_course_ns);
    }
    xml_concurrency(output, analysis);
    xml_own(output, metrics);
    xml_path(output, metrics);
    xml_delays(output, metrics);
    xml_by_process(output, metrics, (struct xml_times){"clock", "shift_s", NULL, analysis->clock_shift_ns, NULL});
    xml_by_process(output, metrics, (struct xml_times){"polling", "time_s", NULL, analysis->polled_ns, NULL});
    sites_write_xml(output, metrics);
    output_text(output, "</analysis>\n");
}

void metrics_write_xml(struct output *output, const struct metrics *metrics)
{
    /* One element has the attributes of three tables: version first, as readers check it first. */
    struct field root[COUNT_OF(file_version_fields) + COUNT_OF(trace_fields) + COUNT_OF(file_fields)];
    memcpy(root, file_version_fields, sizeof file_version_fields);
    memcpy(root + COUNT_OF(file_version_fields), trace_fields, sizeof trace_fields);
    memcpy(root + COUNT_OF(file_version_fields) + COUNT_OF(trace_fields), file_fields, sizeof file_fields);
    output_text(output, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                        "<!DOCTYPE metrics SYSTEM \"sight-metrics.dtd\">\n");
    xml_row(output, "metrics", root, COUNT_OF(root), metrics, metrics, ">\n");
    run_write_xml(output, metrics->defs);
    xml_states(output, metrics);
    xml_counters(output, metrics);
    for (size_t i = 0; i < metrics->process_count; i++)
        xml_process(output, metrics, &metrics->process[i]);
    XML_ROWS(output, "communicator", communicator_fields, metrics, metrics->communicators, metrics->communicator_count);
    XML_ROWS(output, "tag", tag_fields, metrics, metrics->tags, metrics->tag_count);
    XML_ROWS(output, "size", size_fields, metrics, metrics->sizes, metrics->size_count);
    xml_analysis(output, metrics);
    phases_write_xml(output, metrics);
    search_write_xml(output, metrics);
    output_text(output, "</metrics>\n");
}

/* The tables of CSV: those of a process get its rank as their first column. */
struct csv_table {
    const char *name;
    const struct field *fields;
    size_t field_count;
    size_t row_size;
    bool of_process;
    size_t rows_at, count_at; /* offsets in struct process_row or struct metrics */
};
#define PROCESS_TABLE(name, fields, type, member, counter)                                                             \
    {                                                                                                                  \
        name, fields, COUNT_OF(fields), sizeof(type), true, offsetof(struct process_row, member),                      \
            offsetof(struct process_row, counter)                                                                      \
    }
#define TRACE_TABLE(name, fields, type, member, counter)                                                               \
    {                                                                                                                  \
        name, fields, COUNT_OF(fields), sizeof(type), false, offsetof(struct metrics, member),                         \
            offsetof(struct metrics, counter)                                                                          \
    }
static const struct csv_table csv_tables[] = {
    TRACE_TABLE("processes", process_fields, struct process_row, process, process_count),
    PROCESS_TABLE("functions", function_fields, struct function_row, functions, function_count),
    PROCESS_TABLE("sent", sent_fields, struct partner_row, sent, sent_count),
    PROCESS_TABLE("received", received_fields, struct partner_row, received, received_count),
    PROCESS_TABLE("marks", mark_fields, struct mark_row, marks, mark_count),
    PROCESS_TABLE("threads", thread_fields, struct thread_row, threads, thread_count),
    TRACE_TABLE("communicators", communicator_fields, struct message_row, communicators, communicator_count),
    TRACE_TABLE("tags", tag_fields, struct message_row, tags, tag_count),
    TRACE_TABLE("sizes", size_fields, struct message_row, sizes, size_count),
};

const struct field *metrics_process_fields(size_t *count)
{
    *count = COUNT_OF(process_fields);
    return process_fields;
}

const struct field *metrics_function_fields(size_t *count)
{
    *count = COUNT_OF(function_fields);
    return function_fields;
}

const char *metrics_table_name(size_t index)
{
    if (index >= COUNT_OF(csv_tables))
        return NULL;
    return csv_tables[index].name;
}

bool metrics_table_of_trace(const char *name)
{
    static const char *const names[] = {"communicators", "tags", "sizes"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void csv_rows(struct output *output, const struct metrics *metrics, const struct csv_table *table,
                     const void *owner, const uint32_t *rank)
{
    const char *rows;
    size_t count;
    /* Place and count are at offsets that the table knows: copied, as casts would break aliasing rules. */
    memcpy(&rows, (const char *)owner + table->rows_at, sizeof rows);
    memcpy(&count, (const char *)owner + table->count_at, sizeof count);
    for (size_t i = 0; i < count; i++) {
        if (rank)
            /* Rows of processes have the rank as their first column, so that tables can be joined. */
            output_print(output, "%u,", *rank);
        csv_row(output, table->fields, table->field_count, metrics, rows + i * table->row_size);
    }
}

bool metrics_write_csv(struct output *output, const struct metrics *metrics, const char *name)
{
    const struct csv_table *table = NULL;
    for (size_t i = 0; i < COUNT_OF(csv_tables); i++)
        if (strcmp(csv_tables[i].name, name) == 0)
            table = &csv_tables[i];
    if (!table)
        return false;
    if (table->of_process)
        output_text(output, "rank,");
    csv_header(output, table->fields, table->field_count);
    if (!table->of_process)
        csv_rows(output, metrics, table, metrics, NULL);
    for (size_t i = 0; table->of_process && i < metrics->process_count; i++)
        csv_rows(output, metrics, table, &metrics->process[i], &metrics->process[i].rank);
    return true;
}

static void text_functions(struct output *output, const struct metrics *metrics, size_t rows)
{
    size_t count;
    struct function_row *sums = metrics_functions_together(metrics, &count);
    if (count > 0) {
        /* Two columns more where calls never returned: in other runs they would be full of zeros. */
        struct text_table *table;
        if (metrics->open)
            table = text_table_new(open_function_fields, COUNT_OF(open_function_fields));
        else
            table = text_table_new(function_fields, COUNT_OF(function_fields));
        for (size_t i = 0; i < count && i < rows; i++)
            text_table_row(table, metrics, &sums[i]);
        heading_write(output, "Functions and states of all processes, by time ↓");
        text_table_print(table, output, "  ");
        text_rest_write(output, rows, count);
    }
    free(sums);
}

static void text_warnings(struct output *output, const struct metrics *metrics)
{
    char number[TEXT_NUMBER_SIZE];
    if (metrics->open)
        output_print(output,
                     "\n%s states were never left: for MPI functions, the time up to the end of the process counts as "
                     "communication.\n",
                     text_thousands(number, metrics->open));
    if (metrics->stray)
        output_print(output, "\n%s states were left without being entered.\n", text_thousands(number, metrics->stray));
    if (metrics->time_back)
        output_print(output, "\n%s times, the clock of a process goes backwards.\n",
                     text_thousands(number, metrics->time_back));
}

struct sorted {
    double value;
    size_t row;
};

static int by_value(const void *a, const void *b)
{
    const struct sorted *left = a, *right = b;
    if (left->value != right->value)
        return order_by(right->value, left->value);
    return order_by(left->row, right->row);
}

static int by_row(const void *a, const void *b)
{
    const struct sorted *left = a, *right = b;
    return order_by(left->row, right->row);
}

static double number_of(struct value value)
{
    switch (value.kind) {
    case VALUE_COUNT:
    case VALUE_BYTES:
        return (double)value.count;
    case VALUE_INTEGER:
    case VALUE_TIME:
        return (double)value.integer;
    case VALUE_RATIO:
        return value.ratio;
    /* Texts have no order here: no column that can be sorted by is one. */
    default:
        return 0;
    }
}

static const struct field *process_field(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(process_fields); i++)
        if (process_fields[i].name && strcmp(process_fields[i].name, name) == 0)
            return &process_fields[i];
    return NULL;
}

bool metrics_sorts_by(const char *name)
{
    return process_field(name) != NULL;
}

/* The processes by a number of theirs, the largest first. */
static struct sorted *processes_by(const struct metrics *metrics, const char *name)
{
    const struct field *field = process_field(name);
    struct sorted *sorted = memory_new(metrics->process_count * sizeof *sorted);
    for (size_t i = 0; i < metrics->process_count; i++)
        sorted[i] = (struct sorted){number_of(field->get(metrics, &metrics->process[i])), i};
    qsort(sorted, metrics->process_count, sizeof *sorted, by_value);
    return sorted;
}

/* All processes; of too many the first by what they are sorted by, or else those that compute least and most. */
static void text_processes(struct output *output, const struct metrics *metrics, size_t rows, const char *sort)
{
    size_t all = metrics->process_count, count = smaller(all, rows);
    struct sorted *sorted = processes_by(metrics, sort ? sort : "compute_s");
    if (!sort && count < all)
        /* The first half is in place; the last half of all follows it. */
        memmove(sorted + count / 2, sorted + all - (count - count / 2), (count - count / 2) * sizeof *sorted);
    /* In the order of ranks, unless the user asked for another one. */
    if (!sort)
        qsort(sorted, count, sizeof *sorted, by_row);
    struct text_table *table = text_table_new(process_fields, COUNT_OF(process_fields));
    for (size_t i = 0; i < count; i++)
        text_table_row(table, metrics, &metrics->process[sorted[i].row]);
    char title[100] = "Processes";
    if (sort)
        snprintf(title, sizeof title, "Processes, by %.60s ↓", sort);
    else if (count < all)
        snprintf(title, sizeof title, "Processes: the %zu that compute longest and the %zu that compute shortest",
                 count / 2, count - count / 2);
    heading_write(output, title);
    text_table_print(table, output, "  ");
    text_rest_write(output, rows, all);
    free(sorted);
}

void metrics_write_text(struct output *output, const struct metrics *metrics, const char *title, size_t rows,
                        const char *sort)
{
    char facts[FACTS_SIZE], shown[VALUE_TEXT_SIZE];
    text_for_terminal(shown, sizeof shown, title, 100);
    headline_write(output, shown, facts_text(facts, metrics));
    if (metrics->process_count == 0)
        return;
    text_processes(output, metrics, rows, sort);
    text_functions(output, metrics, rows);
    text_warnings(output, metrics);
}
