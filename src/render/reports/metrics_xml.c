/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics files: XML with all that reading them again gives (metrics/metrics_file.h). */
#include "render/reports/metrics_report.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "metrics/metrics_file.h"
#include "render/reports/metrics_fields.h"
#include "render/reports/phases_report.h"
#include "render/reports/run_report.h"
#include "render/reports/search_report.h"
#include "render/reports/sites_report.h"
#include "render/reports/stuck_report.h"

#include <inttypes.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

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
enum { PROCESS_FIELDS = COUNT_OF(fields_of_process), FUNCTION_FIELDS = COUNT_OF(fields_of_function) };

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
    memcpy(process, fields_of_process, sizeof fields_of_process);
    process[PROCESS_FIELDS] = (struct field){"time_back", NULL, process_time_back};
    memcpy(function, fields_of_function, sizeof fields_of_function);
    /* The last three of the table are those that XML omits where they are 0. */
    function[FUNCTION_FIELDS - 3].get = function_open_xml;
    function[FUNCTION_FIELDS - 2].get = function_open_time_xml;
    function[FUNCTION_FIELDS - 1].get = function_stray_xml;
    xml_row(output, "process", process, COUNT_OF(process), metrics, row, ">\n");
    XML_ROWS(output, "function", function, metrics, row->functions, row->function_count);
    XML_ROWS(output, "sent", fields_of_sent, metrics, row->sent, row->sent_count);
    XML_ROWS(output, "received", fields_of_received, metrics, row->received, row->received_count);
    XML_ROWS(output, "mark", fields_of_mark, metrics, row->marks, row->mark_count);
    XML_ROWS(output, "thread", fields_of_thread, metrics, row->threads, row->thread_count);
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
    xml_by_process(output, metrics, (struct xml_times){"late", "time_s", NULL, analysis->waited_for_ns, NULL});
    sites_write_xml(output, metrics);
    output_text(output, "</analysis>\n");
}

void metrics_write_xml(struct output *output, const struct metrics *metrics)
{
    /* One element has the attributes of three tables: version first, as readers check it first. */
    struct field root[COUNT_OF(file_version_fields) + COUNT_OF(fields_of_trace) + COUNT_OF(file_fields)];
    memcpy(root, file_version_fields, sizeof file_version_fields);
    memcpy(root + COUNT_OF(file_version_fields), fields_of_trace, sizeof fields_of_trace);
    memcpy(root + COUNT_OF(file_version_fields) + COUNT_OF(fields_of_trace), file_fields, sizeof file_fields);
    output_text(output, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                        "<!DOCTYPE metrics SYSTEM \"sight-metrics.dtd\">\n");
    xml_row(output, "metrics", root, COUNT_OF(root), metrics, metrics, ">\n");
    run_write_xml(output, metrics->defs);
    xml_states(output, metrics);
    xml_counters(output, metrics);
    for (size_t i = 0; i < metrics->process_count; i++)
        xml_process(output, metrics, &metrics->process[i]);
    XML_ROWS(output, "communicator", fields_of_communicator, metrics, metrics->communicators,
             metrics->communicator_count);
    XML_ROWS(output, "tag", fields_of_tag, metrics, metrics->tags, metrics->tag_count);
    XML_ROWS(output, "size", fields_of_size, metrics, metrics->sizes, metrics->size_count);
    stuck_write_xml(output, metrics->stuck);
    xml_analysis(output, metrics);
    phases_write_xml(output, metrics);
    search_write_xml(output, metrics);
    output_text(output, "</metrics>\n");
}
