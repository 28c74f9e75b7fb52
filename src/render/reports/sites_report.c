/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/sites_report.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/finding.h"
#include "metrics/analysis.h"
#include "render/reports/page.h"
#include "render/terminal_text.h"
#include "render/text_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A row, as it is shown. */
struct shown {
    const struct call_site *row;
    const struct site_def *site; /* NULL: not recorded */
    char place[SITE_TEXT_SIZE];  /* "heat.c:120"; the end of a long one */
    char share[TEXT_NUMBER_SIZE];
    double all_ns; /* the time of all processes */
};

/* A place is cut to so many characters in text. */
enum { PLACE_COLUMNS = 20 };

#define GETTER(name, ...)                                                                                              \
    static struct value name(const void *context, const void *row_pointer)                                             \
    {                                                                                                                  \
        const struct shown *shown = row_pointer;                                                                       \
        const struct metrics *metrics = context;                                                                       \
        (void)metrics;                                                                                                 \
        return __VA_ARGS__;                                                                                            \
    }
GETTER(site_name, value_text(metrics->defs->states[shown->row->state].name))
GETTER(site_place, value_text(shown->place))
GETTER(site_file, shown->site ? value_text(shown->site->file) : value_null())
GETTER(site_line, shown->site ? value_integer(shown->site->line) : value_null())
GETTER(site_function, value_text(shown->site ? shown->site->function : NULL))
GETTER(site_calls, value_count(shown->row->calls))
GETTER(site_locations, value_count(shown->row->locations))
GETTER(site_time, value_time(shown->row->ns))
GETTER(site_share, value_if(shown->all_ns > 0, value_ratio((double)shown->row->ns / shown->all_ns)))
GETTER(site_share_text, value_number_text(shown->share))
GETTER(site_waiting, value_time(shown->row->waiting_ns))
GETTER(site_longest, value_time(shown->row->longest_ns))
GETTER(site_bytes, value_bytes(shown->row->bytes))

static const struct field fields[] = {
    {"name", "call", site_name},
    {NULL, "place", site_place},
    {"file", NULL, site_file},
    {"line", NULL, site_line},
    {"function", NULL, site_function},
    {"calls", "calls", site_calls},
    {"locations", NULL, site_locations},
    {"time_s", "time ↓", site_time},
    {"share", NULL, site_share},
    {NULL, "share", site_share_text},
    {"waiting_s", "waiting", site_waiting},
    {"longest_s", NULL, site_longest},
    {"bytes", "bytes", site_bytes},
};
enum { FIELD_COUNT = sizeof fields / sizeof *fields };
_Static_assert(sizeof fields / sizeof *fields <= SITES_FIELDS, "room for all");

/* Fields without a name are for people only. */
static size_t named_fields(struct field named[FIELD_COUNT])
{
    size_t count = 0;
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (fields[i].name)
            named[count++] = fields[i];
    return count;
}

static size_t people_fields(struct field titled[FIELD_COUNT])
{
    size_t count = 0;
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (fields[i].title) {
            titled[count] = fields[i];
            /* The page's and the table's titles are the names here. */
            titled[count++].name = fields[i].title;
        }
    return count;
}

/* Of all processes together, so that shares of calls in several processes stay below 1. */
static double all_ns(const struct metrics *metrics)
{
    double ns = 0;
    for (size_t i = 0; i < metrics->process_count; i++)
        ns += (double)process_total_ns(&metrics->process[i]);
    return ns;
}

/* The end of a long place is more informative than its begin. */
static void cut_place(char place[SITE_TEXT_SIZE])
{
    size_t length = strlen(place);
    if (length <= PLACE_COLUMNS)
        return;
    const char *from = place + length - (PLACE_COLUMNS - 1);
    /* From the beginning of a character on. */
    while ((*from & 0xC0) == 0x80)
        from++;
    char cut[SITE_TEXT_SIZE];
    int used = snprintf(cut, sizeof cut, "…%s", from);
    memcpy(place, cut, (size_t)used + 1);
}

static struct shown *shown_new(const struct metrics *metrics, bool cut)
{
    const struct analysis *analysis = metrics->analysis;
    double all = all_ns(metrics);
    struct shown *rows = memory_new(analysis->call_site_count * sizeof *rows);
    for (size_t i = 0; i < analysis->call_site_count; i++) {
        const struct call_site *row = &analysis->call_sites[i];
        rows[i] = (struct shown){.row = row, .all_ns = all};
        /* 0 is a call whose place is not known; a metrics file may name more places than it defines. */
        if (row->site > 0 && row->site <= metrics->defs->site_count)
            rows[i].site = &metrics->defs->sites[row->site - 1];
        if (rows[i].site)
            site_text(rows[i].place, rows[i].site);
        else
            strcpy(rows[i].place, "-");
        text_share(rows[i].share, ratio_of((double)row->ns, all));
        if (cut)
            cut_place(rows[i].place);
    }
    return rows;
}

void sites_write_text(struct output *output, const struct metrics *metrics, size_t rows)
{
    struct field titled[FIELD_COUNT];
    size_t count = metrics->analysis->call_site_count, titles = people_fields(titled);
    if (count == 0)
        return;
    struct shown *shown = shown_new(metrics, true);
    struct text_table *table = text_table_new(titled, titles);
    for (size_t i = 0; i < count && i < rows; i++)
        text_table_row(table, metrics, &shown[i]);
    heading_write(output, "Call sites, all processes together");
    text_table_print(table, output, "  ");
    text_rest_write(output, rows, count);
    free(shown);
}

struct sites_table sites_table_of(const struct metrics *metrics)
{
    struct sites_table table = {.row_size = sizeof(struct shown)};
    table.field_count = people_fields(table.fields);
    /* Without places in the source the table would repeat that of the functions. */
    if (!metrics->analysis || metrics->defs->site_count == 0)
        return table;
    table.count = metrics->analysis->call_site_count;
    table.rows = shown_new(metrics, false);
    return table;
}

void sites_write_html(struct output *output, const struct metrics *metrics, size_t rows)
{
    struct sites_table table = sites_table_of(metrics);
    if (table.count > 0)
        page_table_most(output, "Call sites", table.fields, table.field_count, metrics, table.rows, table.row_size,
                        table.count, rows);
    free(table.rows);
}

void sites_write_json(struct output *output, const struct metrics *metrics)
{
    struct json json = {.output = output};
    struct field named[FIELD_COUNT];
    size_t names = named_fields(named);
    struct shown *shown = shown_new(metrics, false);
    json_open(&json, NULL, '{');
    json_value(&json, "schema", value_text("sight-sites/1"));
    json_open(&json, "call_sites", '[');
    for (size_t i = 0; i < metrics->analysis->call_site_count; i++)
        json_row(&json, named, names, metrics, &shown[i]);
    json_close(&json, ']');
    json_close(&json, '}');
    output_text(output, "\n");
    free(shown);
}

void sites_write_csv(struct output *output, const struct metrics *metrics)
{
    struct field named[FIELD_COUNT];
    size_t names = named_fields(named);
    struct shown *shown = shown_new(metrics, false);
    csv_header(output, named, names);
    for (size_t i = 0; i < metrics->analysis->call_site_count; i++)
        csv_row(output, named, names, metrics, &shown[i]);
    free(shown);
}

void sites_write_xml(struct output *output, const struct metrics *metrics)
{
    const struct analysis *analysis = metrics->analysis;
    for (size_t i = 0; i < analysis->call_site_count; i++) {
        const struct call_site *row = &analysis->call_sites[i];
        bool known = row->site > 0 && row->site <= metrics->defs->site_count;
        const struct site_def *site = NULL;
        if (known)
            site = &metrics->defs->sites[row->site - 1];
        output_text(output, "<call_site");
        xml_attribute(output, "name", value_text(metrics->defs->states[row->state].name));
        if (site) {
            xml_attribute(output, "file", value_text(site->file));
            output_print(output, " line=\"%" PRId32 "\"", site->line);
        }
        if (site && site->function)
            xml_attribute(output, "function", value_text(site->function));
        output_print(output, " calls=\"%" PRIu64 "\" bytes=\"%" PRIu64 "\" processes=\"%" PRIu32 "\"", row->calls,
                     row->bytes, row->locations);
        xml_attribute(output, "time_s", value_time(row->ns));
        xml_attribute(output, "waited_s", value_time(row->waiting_ns));
        xml_attribute(output, "longest_s", value_time(row->longest_ns));
        output_text(output, "/>\n");
    }
}
