/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/info_report.h"

#include "core/numbers.h"
#include "core/payload.h"
#include "core/text.h"
#include "render/field.h"
#include "render/reports/clock_report.h"
#include "render/reports/run_report.h"
#include "render/terminal_text.h"
#include "render/text_table.h"

#include <stdio.h>
#include <string.h>

#define GETTER(name, row_type, expression)                                                                             \
    static struct value name(const void *context, const void *row_pointer)                                             \
    {                                                                                                                  \
        const struct contents *contents = context;                                                                     \
        const row_type *row = row_pointer;                                                                             \
        (void)contents;                                                                                                \
        (void)row;                                                                                                     \
        return expression;                                                                                             \
    }
#define TRACE_GETTER(name, expression) GETTER(name, struct contents, expression)

TRACE_GETTER(trace_format, value_text(row->format))
TRACE_GETTER(trace_version, value_text(row->defs->version))
TRACE_GETTER(trace_creator, value_text(row->defs->creator))
TRACE_GETTER(trace_processes, value_count(row->defs->processes))
TRACE_GETTER(trace_processes_seen, value_count(row->census.processes.count))
/* Definitions may promise threads without events, and events may come from threads that none defines. */
TRACE_GETTER(trace_threads, value_count(larger(row->defs->threads, row->census.largest_thread + 1)))
TRACE_GETTER(trace_events, value_count(row->census.events))
/* Without events there is no first or last one; 0 would look like a time. */
TRACE_GETTER(trace_begin, value_if(row->census.any, value_time(row->census.begin_ns)))
TRACE_GETTER(trace_end, value_if(row->census.any, value_time(row->census.end_ns)))
TRACE_GETTER(trace_duration, value_time(time_since(row->census.begin_ns, row->census.end_ns)))
TRACE_GETTER(trace_time_back, value_count(row->census.time_back))
TRACE_GETTER(trace_sites, value_if(row->defs->site_count, value_count(row->defs->site_count)))
TRACE_GETTER(trace_samples, value_if(row->defs->path_count, value_count(row->census.samples)))
/* Facts that a trace need not have are left out where it has none, instead of counting to 0. */
TRACE_GETTER(trace_aborts, value_if(row->census.aborts, value_count(row->census.aborts)))
TRACE_GETTER(trace_unfinished, value_if(row->census.courses.count, value_count(census_unfinished(&row->census))))
TRACE_GETTER(trace_complete, value_bool(row->end->complete))
/* The first damage is kept as text, the others are counted. */
TRACE_GETTER(trace_damage, value_if(row->end->damage.count, value_text(row->end->damage.first)))
TRACE_GETTER(trace_damages, value_count(row->end->damage.count))
/* Formats of several files do not count their bytes. */
TRACE_GETTER(trace_used, value_if(row->end->used || row->end->total, value_bytes(row->end->used)))
TRACE_GETTER(trace_total, value_if(row->end->total, value_bytes(row->end->total)))

static const struct field trace_fields[] = {
    {"format", "format", trace_format},
    {"version", "version", trace_version},
    {"creator", "creator", trace_creator},
    {"processes", "processes", trace_processes},
    {"processes_with_events", "processes with events", trace_processes_seen},
    {"threads", "most threads of a process", trace_threads},
    {"events", "events", trace_events},
    {"begin_s", "begin", trace_begin},
    {"end_s", "end", trace_end},
    {"duration_s", "duration", trace_duration},
    {"time_goes_back", "events out of order", trace_time_back},
    {"time_back", NULL, trace_time_back},
    {"sites", "places in the source", trace_sites},
    {"samples", "samples of what is computed", trace_samples},
    {"aborts", "calls of MPI_Abort", trace_aborts},
    {"unfinished", "processes without MPI_Finalize", trace_unfinished},
    {"complete", "the file is complete", trace_complete},
    {"damage", "damage", trace_damage},
    {"damages", "damaged places", trace_damages},
    {"used_bytes", "bytes used", trace_used},
    {"total_bytes", "bytes of the whole file", trace_total},
};

TRACE_GETTER(message_sent, value_count(row->messages.ends.sent))
TRACE_GETTER(message_received, value_count(row->messages.ends.received))
TRACE_GETTER(message_bytes_sent, value_bytes(row->messages.ends.bytes_sent))
TRACE_GETTER(message_bytes_received, value_bytes(row->messages.ends.bytes_received))
TRACE_GETTER(message_matched, value_count(row->messages.matched))
TRACE_GETTER(message_unmatched_sends, value_count(row->messages.unmatched_sends))
TRACE_GETTER(message_unmatched_receives, value_count(row->messages.unmatched_receives))
TRACE_GETTER(message_early, value_count(row->messages.received_before_sent))
TRACE_GETTER(message_worst, value_time(row->messages.worst_ns))
TRACE_GETTER(message_null, value_count(row->messages.ends.null_ends))
TRACE_GETTER(message_unknown, value_count(row->messages.ends.unknown_ends))

static const struct field message_fields[] = {
    {"sent", "sent", message_sent},
    {"received", "received", message_received},
    {"bytes_sent", "bytes sent", message_bytes_sent},
    {"bytes_received", "bytes received", message_bytes_received},
    {"matched", "matched", message_matched},
    {"unmatched_sends", "sends without a receive", message_unmatched_sends},
    {"unmatched_receives", "receives without a send", message_unmatched_receives},
    {"received_before_sent", "received before they were sent", message_early},
    {"clock_error_s", "by up to", message_worst},
    {"proc_null", "to or from MPI_PROC_NULL", message_null},
    {"unknown_partner", "partner unknown", message_unknown},
};

GETTER(pair_from, struct match_pair, value_count(row->sender))
GETTER(pair_to, struct match_pair, value_count(row->receiver))
GETTER(pair_messages, struct match_pair, value_count(row->messages))
GETTER(pair_early, struct match_pair, value_count(row->early))
GETTER(pair_worst, struct match_pair, value_time(row->worst_ns))
static const struct field pair_fields[] = {{"from", "from", pair_from},
                                           {"to", "to", pair_to},
                                           {"messages", "messages", pair_messages},
                                           {"early", "received before they were sent", pair_early},
                                           {"clock_error_s", "by up to", pair_worst}};

GETTER(record_name, struct record_count, value_text(row->name))
GETTER(record_count, struct record_count, value_count(row->count))
static const struct field record_fields[] = {{"kind", "records", record_name}, {"count", "count", record_count}};

GETTER(state_name, struct state_def, value_text(row->name))
GETTER(state_original, struct state_def, value_text(row->original))
GETTER(state_class, struct state_def, value_text(function_class_name(row->class)))
GETTER(state_colour, struct state_def, value_text(row->colour))
GETTER(state_format, struct state_def, value_text(row->format))
/* A state's number is its place among the definitions. */
GETTER(state_events, struct state_def,
       value_count(census_uses(contents->census.state_uses, contents->census.state_count,
                               (size_t)(row - contents->defs->states))))
static const struct field state_fields[] = {
    {"name", "state", state_name},  {"class", "class", state_class},    {"colour", "colour", state_colour},
    {"format", NULL, state_format}, {"original", NULL, state_original}, {"events", "events", state_events},
};

GETTER(mark_name, struct mark_def, value_text(row->name))
GETTER(mark_colour, struct mark_def, value_text(row->colour))
GETTER(mark_events, struct mark_def,
       value_count(census_uses(contents->census.mark_uses, contents->census.mark_count,
                               (size_t)(row - contents->defs->marks))))
static const struct field mark_fields[] = {
    {"name", "solo event", mark_name}, {"colour", "colour", mark_colour}, {"events", "events", mark_events}};

static const char *comm_kind_name(const struct comm_def *comm)
{
    if (comm->world)
        return "world";
    if (comm->self)
        return "self";
    if (comm->window)
        return "window";
    return "other";
}

GETTER(comm_id, struct comm_def, value_integer(row->id))
GETTER(comm_kind, struct comm_def, value_text(comm_kind_name(row)))
GETTER(comm_name, struct comm_def, value_text(row->name))
static const struct field comm_fields[] = {
    {"communicator", "communicator", comm_id}, {"kind", "kind", comm_kind}, {"name", "name", comm_name}};

GETTER(region_paradigm, struct state_def, value_text(paradigm_name(row->paradigm)))
GETTER(region_role, struct state_def, value_text(region_role_name(row->role)))
GETTER(region_file, struct state_def, value_text(row->file))
GETTER(region_line, struct state_def, value_if(row->line > 0, value_count((uint64_t)row->line)))
GETTER(region_end, struct state_def, value_if(row->end_line > 0, value_count((uint64_t)row->end_line)))
static const struct field region_fields[] = {{"name", "region", state_name}, {"paradigm", "paradigm", region_paradigm},
                                             {"role", "role", region_role},  {"file", "file", region_file},
                                             {"line", "line", region_line},  {"last_line", "last line", region_end}};

GETTER(counter_type, struct mark_def, value_text(counter_type_name(row->counter.type)))
GETTER(counter_unit, struct mark_def, value_text(row->counter.unit))
GETTER(counter_mode, struct mark_def, value_text(counter_mode_name(row->counter.mode)))
GETTER(counter_scope, struct mark_def, value_text(counter_scope_name(row->counter.scope)))
static const struct field counter_fields[] = {{"name", "counter", mark_name},     {"type", "type", counter_type},
                                              {"unit", "unit", counter_unit},     {"mode", "mode", counter_mode},
                                              {"scope", "of the", counter_scope}, {"events", "events", mark_events}};

GETTER(location_process, struct location_def, value_count(row->process))
GETTER(location_thread, struct location_def, value_count(row->thread))
GETTER(location_kind, struct location_def, value_text(location_kind_name(row->kind)))
GETTER(location_name, struct location_def, value_text(row->name))
GETTER(location_process_name, struct location_def, value_text(row->process_name))
GETTER(location_host, struct location_def, value_text(row->host))
static const struct field location_fields[] = {{"rank", "process", location_process},
                                               {"thread", "thread", location_thread},
                                               {"kind", "kind", location_kind},
                                               {"name", "name", location_name},
                                               {"process_name", "name of the process", location_process_name},
                                               {"host", "host", location_host}};

GETTER(handle_name, struct handle_def, value_text(row->name))
GETTER(handle_api, struct handle_def, value_text(row->api))
static const struct field handle_fields[] = {{"name", "file", handle_name}, {"api", "by", handle_api}};

GETTER(site_line, struct site_def, value_if(row->line > 0, value_count((uint64_t)row->line)))
GETTER(site_file, struct site_def, value_if(row->file[0], value_text(row->file)))
GETTER(site_function, struct site_def, value_text(row->function))
GETTER(site_calls, struct site_def,
       value_count(census_uses(contents->census.site_uses, contents->census.site_count,
                               (size_t)(row - contents->defs->sites))))
static const struct field site_fields[] = {{"file", "file", site_file},
                                           {"line", "line", site_line},
                                           {"function", "function", site_function},
                                           {"calls", "calls", site_calls}};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* A list of the trace, as JSON array or text table. */
struct section {
    const char *key, *title;
    const struct field *fields;
    size_t field_count;
    const void *rows;
    size_t count, size;
    bool (*shown)(const struct contents *contents, const void *row); /* NULL: all are */
    bool rare;                                                       /* JSON has it only where it has rows */
};
enum { SECTIONS = 9, TEXT_ROWS = 40 };

/* What the reader made for events that did not come. */
static bool did_not_come(const struct contents *contents, const struct mark_def *mark)
{
    size_t index = (size_t)(mark - contents->defs->marks);
    return mark->made_up && census_uses(contents->census.mark_uses, contents->census.mark_count, index) == 0;
}

/* Marks that recordings use for facts are not events of the program. */
static bool mark_is_shown(const struct contents *contents, const void *row)
{
    const struct mark_def *mark = row;
    return !payload_mark_is_ours(mark->name) && mark->counter.type == COUNTER_NONE && !did_not_come(contents, mark);
}

static bool is_counter(const struct contents *contents, const void *row)
{
    const struct mark_def *mark = row;
    return mark->counter.type != COUNTER_NONE && !did_not_come(contents, mark);
}

/* Of which more is known than the name says. */
static bool region_is_shown(const struct contents *contents, const void *row)
{
    (void)contents;
    const struct state_def *state = row;
    return state->file || state->paradigm != PARADIGM_UNKNOWN || state->role != ROLE_UNKNOWN;
}

/* Places of samples are for `sight profile`. */
static bool site_is_shown(const struct contents *contents, const void *row)
{
    size_t index = (size_t)((const struct site_def *)row - contents->defs->sites);
    /* Without samples every place is one of calls. */
    return contents->defs->path_count == 0 ||
           census_uses(contents->census.site_uses, contents->census.site_count, index) > 0;
}

/* Hosts alone are printed with the run. */
static bool locations_have_names(const struct defs *defs)
{
    for (size_t i = 0; i < defs->location_count; i++)
        if (defs->locations[i].name || defs->locations[i].process_name || defs->locations[i].kind != LOCATION_THREAD)
            return true;
    return false;
}

/* The next row from `at` on that is shown; count: there is none. */
static size_t section_next(const struct contents *contents, const struct section *section, size_t at)
{
    /* Rows that are not shown are passed over here, so that counting and writing agree. */
    while (at < section->count && section->shown &&
           !section->shown(contents, (const char *)section->rows + at * section->size))
        at++;
    return at;
}

static size_t section_rows(const struct contents *contents, const struct section *section)
{
    size_t rows = 0;
    for (size_t at = section_next(contents, section, 0); at < section->count;
         at = section_next(contents, section, at + 1))
        rows++;
    return rows;
}

#define SECTION(key, title, fields, rows, count, shown)                                                                \
    {                                                                                                                  \
        key, title, fields, COUNT_OF(fields), rows, count, sizeof *(rows), shown, false                                \
    }
#define RARE_SECTION(key, title, fields, rows, count, shown)                                                           \
    {                                                                                                                  \
        key, title, fields, COUNT_OF(fields), rows, count, sizeof *(rows), shown, true                                 \
    }

static bool comms_have_names(const struct defs *defs)
{
    for (size_t i = 0; i < defs->comm_count; i++)
        if (defs->comms[i].name)
            return true;
    return false;
}

static void info_sections(const struct contents *contents, struct section sections[SECTIONS])
{
    const struct defs *defs = contents->defs;
    const struct section all[SECTIONS] = {
        SECTION("records", "Records", record_fields, contents->records, contents->record_kinds, NULL),
        SECTION("states", "States", state_fields, defs->states, defs->state_count, NULL),
        SECTION("marks", "Solo events", mark_fields, defs->marks, defs->mark_count, mark_is_shown),
        SECTION("communicators", "Communicators", comm_fields, defs->comms, defs->comm_count, NULL),
        SECTION("sites", "Places in the source", site_fields, defs->sites, defs->site_count, site_is_shown),
        RARE_SECTION("regions", "Regions", region_fields, defs->states, defs->state_count, region_is_shown),
        RARE_SECTION("counters", "Counters", counter_fields, defs->marks, defs->mark_count, is_counter),
        RARE_SECTION("locations", "Locations", location_fields, defs->locations, defs->location_count, NULL),
        RARE_SECTION("handles", "Files", handle_fields, defs->handles, defs->handle_count, NULL)};
    /* The table cannot be static: it points into the contents. */
    memcpy(sections, all, sizeof all);
    /* The last column is the name; most communicators have none. */
    sections[3].field_count -= !comms_have_names(defs);
}

static void pairs_json(struct json *json, const struct contents *contents)
{
    json_open(json, "clock_pairs", '[');
    for (size_t i = 0; i < contents->messages.pair_count; i++)
        json_row(json, pair_fields, COUNT_OF(pair_fields), contents, &contents->messages.pairs[i]);
    json_close(json, ']');
}

/* Between which processes the clocks err most. */
static void pairs_text(struct output *output, const struct contents *contents)
{
    char number[TEXT_NUMBER_SIZE];
    const struct match_counts *messages = &contents->messages;
    if (messages->pair_count == 0)
        return;
    struct text_table *table = text_table_new(pair_fields, COUNT_OF(pair_fields));
    for (size_t i = 0; i < messages->pair_count; i++)
        text_table_row(table, contents, &messages->pairs[i]);
    output_text(output, "\nPairs of processes with the largest clock errors\n");
    text_table_print(table, output, "  ");
    /* Only the worst pairs are kept: a run of thousands of processes has millions. */
    if (messages->early_pairs > messages->pair_count)
        output_print(output, "  … %s more pairs\n",
                     text_thousands(number, messages->early_pairs - messages->pair_count));
}

void info_write_json(struct output *output, const struct contents *contents)
{
    struct json json = {.output = output};
    struct section sections[SECTIONS];
    info_sections(contents, sections);
    json_open(&json, NULL, '{');
    json_value(&json, "schema", value_text("sight-info/1"));
    json_open(&json, "trace", '{');
    json_fields(&json, trace_fields, COUNT_OF(trace_fields), contents, contents);
    json_close(&json, '}');
    run_write_json(&json, contents->defs);
    json_open(&json, "messages", '{');
    json_fields(&json, message_fields, COUNT_OF(message_fields), contents, contents);
    json_close(&json, '}');
    pairs_json(&json, contents);
    if (contents->clocks)
        clock_report_json(&json, contents->clocks);
    for (size_t i = 0; i < SECTIONS; i++) {
        /* Older readers of this JSON find the sections that they know, even if empty. */
        if (sections[i].rare && section_rows(contents, &sections[i]) == 0)
            continue;
        json_open(&json, sections[i].key, '[');
        for (size_t k = section_next(contents, &sections[i], 0); k < sections[i].count;
             k = section_next(contents, &sections[i], k + 1))
            json_row(&json, sections[i].fields, sections[i].field_count, contents,
                     (const char *)sections[i].rows + k * sections[i].size);
        json_close(&json, ']');
    }
    json_close(&json, '}');
}

static void info_lines(struct output *output, const struct contents *contents, const struct field *fields, size_t count)
{
    char text[VALUE_TEXT_SIZE], first[64];
    for (size_t i = 0; i < count; i++) {
        struct value value = fields[i].get(contents, contents);
        bool nothing = value.kind == VALUE_NULL || (value.kind == VALUE_TEXT && !value.text);
        /* Second names of a thing are for programs. */
        if (nothing || !fields[i].title)
            continue;
        snprintf(first, sizeof first, "  %-32s ", fields[i].title);
        value_text_for_people(text, value);
        /* Texts are whole here: value_text_for_people() cuts them to the width of a column. */
        if (value.kind == VALUE_TEXT)
            text_for_terminal(text, sizeof text, value.text, sizeof text);
        paragraph_write(output, first, "                                   ", text);
    }
}

void info_write_text(struct output *output, const struct contents *contents, const char *title, bool verbose)
{
    char number[TEXT_NUMBER_SIZE];
    struct section sections[SECTIONS];
    info_sections(contents, sections);
    paragraph_write(output, "", "  ", title);
    info_lines(output, contents, trace_fields, COUNT_OF(trace_fields));
    run_write_text(output, contents->defs);
    heading_write(output, "Messages");
    info_lines(output, contents, message_fields, COUNT_OF(message_fields));
    if (verbose)
        pairs_text(output, contents);
    if (contents->clocks)
        clock_report_text(output, contents->clocks, verbose);
    for (size_t i = 0; i < SECTIONS; i++) {
        size_t rows = section_rows(contents, &sections[i]), k = section_next(contents, &sections[i], 0);
        /* Locations that have nothing but ranks and hosts would repeat the lines of the run. */
        bool known = sections[i].rows == contents->defs->locations && !locations_have_names(contents->defs);
        if (rows == 0 || known)
            continue;
        heading_write(output, sections[i].title);
        struct text_table *table = text_table_new(sections[i].fields, sections[i].field_count);
        for (size_t shown = 0; shown < rows && shown < TEXT_ROWS;
             shown++, k = section_next(contents, &sections[i], k + 1))
            text_table_row(table, contents, (const char *)sections[i].rows + k * sections[i].size);
        text_table_print(table, output, "  ");
        if (rows > TEXT_ROWS)
            output_print(output, "  … %s more (--format json)\n", text_thousands(number, rows - TEXT_ROWS));
    }
}
