/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/profile_report.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "render/field.h"
#include "render/terminal_text.h"
#include "render/text_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ROWS_MOST = 15, NODES_MOST = 20, NAME_MOST = 30, PLACE_MOST = 18, INDENT_MOST = 14 };
#define NODE_LEAST 0.01 /* of all time: nodes of the tree with less are left out */

static const struct {
    const char *name, *title;
    enum profile_by by;
} tables[] = {{"functions", "Functions", PROFILE_BY_FUNCTION},
              {"lines", "Lines", PROFILE_BY_LINE},
              {"files", "Files", PROFILE_BY_FILE}};
enum { TABLES = sizeof tables / sizeof *tables };

static const char *last_of_path(const char *file)
{
    const char *slash = strrchr(file, '/');
    /* A path that ends in a slash has no last part. */
    if (slash && slash[1])
        return slash + 1;
    return file;
}

static void place_text(char *text, size_t size, const struct profile_row *row)
{
    char line[TEXT_NUMBER_SIZE] = "";
    if (row->line > 0)
        snprintf(line, sizeof line, ":%d", (int)row->line);
    /* A line without a file has no meaning. */
    snprintf(text, size, "%.*s%s", text_beginning(last_of_path(row->file), 200), last_of_path(row->file),
             *row->file ? line : "");
}

/* Whether functions with samples have one: without debug information there is none. */
static bool any_place(const struct profile_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        if (rows->row[i].samples > 0 && *rows->row[i].file)
            return true;
    return false;
}

static void cell_time(struct text_table *table, int64_t ns)
{
    char text[TEXT_NUMBER_SIZE];
    text_table_cell(table, text_duration(text, ns), false);
}

static void cell_share(struct text_table *table, int64_t part, int64_t whole)
{
    char text[TEXT_NUMBER_SIZE];
    if (whole <= 0)
        text_table_cell(table, "-", false);
    else
        text_table_cell(table, text_share(text, (double)part / (double)whole), false);
}

static void cell_name(struct text_table *table, const char *text, size_t most)
{
    char shown[VALUE_TEXT_SIZE];
    text_for_terminal(shown, sizeof shown, text, most);
    text_table_cell(table, shown, true);
}

static void text_rows(struct output *output, const struct profile_report *report, size_t index)
{
    static const char *const titles[] = {"self", "share", "total", "processes"};
    struct profile_rows rows = profile_rows_of(report->profile, tables[index].by);
    struct text_table *table = text_table_columns(6);
    bool files = tables[index].by == PROFILE_BY_FILE;
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        text_table_cell(table, titles[i], false);
    text_table_cell(table, files ? "file" : "function", true);
    text_table_cell(table, files ? "" : "place", true);
    size_t hot = 0, shown = 0;
    bool places = any_place(&rows);
    /* Rows are in order of their own time: from the first without samples on they only call others. */
    while (hot < rows.count && rows.row[hot].samples > 0)
        hot++;
    for (; shown < hot && (report->all || shown < ROWS_MOST); shown++) {
        const struct profile_row *row = &rows.row[shown];
        char place[VALUE_TEXT_SIZE], number[TEXT_NUMBER_SIZE];
        place_text(place, sizeof place, row);
        cell_time(table, row->self_ns);
        cell_share(table, row->self_ns, report->profile->ns);
        cell_time(table, row->total_ns);
        text_table_cell(table, text_thousands(number, row->process_count), false);
        if (files) {
            /* The name of a row of files is the last part of its path; here is room for all of it. */
            cell_name(table, *row->file ? row->file : row->name, NAME_MOST + PLACE_MOST);
            cell_name(table, "", PLACE_MOST);
        } else {
            cell_name(table, row->name, places ? NAME_MOST : NAME_MOST + PLACE_MOST);
            cell_name(table, place, PLACE_MOST);
        }
    }
    heading_write(output, tables[index].title);
    text_table_print(table, output, "  ");
    if (!report->all)
        text_rest_write(output, shown, hot);
    profile_rows_clear(&rows);
}

static void text_tree(struct output *output, const struct profile_report *report)
{
    struct profile_rows rows = profile_rows_of(report->profile, PROFILE_BY_FUNCTION);
    struct profile_tree tree = profile_tree_of(report->profile, &rows);
    struct text_table *table = text_table_columns(4);
    text_table_cell(table, "total", false);
    text_table_cell(table, "share", false);
    text_table_cell(table, "self", false);
    text_table_cell(table, "called from the one above", true);
    size_t shown = 0, all = 0;
    for (size_t i = 0; i < tree.count; i++) {
        const struct profile_node *node = &tree.node[i];
        /* Thousands of nodes have a sample or two: they say nothing about where time goes. */
        if (!report->all && (double)node->total_ns < NODE_LEAST * (double)report->profile->ns)
            continue;
        if (all++, !report->all && shown == NODES_MOST)
            continue;
        char name[VALUE_TEXT_SIZE];
        /* Recursion can be as deep as the stack. */
        size_t indent = smaller(node->depth, INDENT_MOST);
        snprintf(name, sizeof name, "%*s%.*s", (int)(2 * indent), "", text_beginning(rows.row[node->row].name, 150),
                 rows.row[node->row].name);
        cell_time(table, node->total_ns);
        cell_share(table, node->total_ns, report->profile->ns);
        cell_time(table, node->self_ns);
        cell_name(table, name, 48);
        shown++;
    }
    heading_write(output, "Calls");
    text_table_print(table, output, "  ");
    if (!report->all)
        text_rest_write(output, shown, all);
    profile_tree_clear(&tree);
    profile_rows_clear(&rows);
}

/* Without a table asked for: the first. */
static bool is_wanted(const char *table, size_t index)
{
    if (!table)
        return index == 0;
    return strcmp(table, tables[index].name) == 0;
}

void profile_write_text(struct output *output, const struct profile_report *report, const char *table)
{
    const struct profile *profile = report->profile;
    char samples[TEXT_NUMBER_SIZE], time[TEXT_NUMBER_SIZE];
    char facts[200];
    snprintf(facts, sizeof facts, "%zu process%s, %s sample%s, which stand for %s%s of computing", profile->rank_count,
             text_plural(profile->rank_count, "", "es"), text_thousands(samples, profile->samples),
             text_plural(profile->samples, "", "s"), profile->is_estimated ? "about " : "",
             text_duration(time, profile->ns));
    headline_write(output, report->title, facts);
    for (size_t i = 0; i < TABLES; i++)
        if (is_wanted(table, i))
            text_rows(output, report, i);
    if (!table || strcmp(table, "tree") == 0)
        text_tree(output, report);
}

#define GETTER(getter, type, expression)                                                                               \
    static struct value getter(const void *context, const void *row_pointer)                                           \
    {                                                                                                                  \
        const type *row = row_pointer;                                                                                 \
        (void)context;                                                                                                 \
        return expression;                                                                                             \
    }
GETTER(row_name, struct profile_row, value_if(*row->name, value_text(row->name)))
GETTER(row_file, struct profile_row, value_if(*row->file, value_text(row->file)))
GETTER(row_line, struct profile_row, value_if(row->line > 0, value_count((uint64_t)row->line)))
GETTER(row_samples, struct profile_row, value_count(row->samples))
GETTER(row_self, struct profile_row, value_time(row->self_ns))
GETTER(row_total, struct profile_row, value_time(row->total_ns))
static const struct field row_fields[] = {{"name", NULL, row_name},   {"file", NULL, row_file},
                                          {"line", NULL, row_line},   {"samples", NULL, row_samples},
                                          {"self_s", NULL, row_self}, {"total_s", NULL, row_total}};
GETTER(share_rank, struct profile_share, value_count(row->rank))
GETTER(share_samples, struct profile_share, value_count(row->samples))
GETTER(share_self, struct profile_share, value_time(row->self_ns))
static const struct field share_fields[] = {
    {"rank", NULL, share_rank}, {"samples", NULL, share_samples}, {"self_s", NULL, share_self}};
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

struct tree_row {
    const struct profile_node *node;
    const struct profile_row *row;
};
GETTER(node_depth, struct tree_row, value_count(row->node->depth))
GETTER(node_name, struct tree_row, value_text(row->row->name))
GETTER(node_file, struct tree_row, row_file(NULL, row->row))
GETTER(node_line, struct tree_row, row_line(NULL, row->row))
GETTER(node_samples, struct tree_row, value_count(row->node->samples))
GETTER(node_self, struct tree_row, value_time(row->node->self_ns))
GETTER(node_total, struct tree_row, value_time(row->node->total_ns))
static const struct field node_fields[] = {{"depth", NULL, node_depth},     {"name", NULL, node_name},
                                           {"file", NULL, node_file},       {"line", NULL, node_line},
                                           {"samples", NULL, node_samples}, {"self_s", NULL, node_self},
                                           {"total_s", NULL, node_total}};

static void json_rows(struct json *json, const struct profile *profile, const char *key, enum profile_by by)
{
    struct profile_rows rows = profile_rows_of(profile, by);
    json_open(json, key, '[');
    for (size_t i = 0; i < rows.count; i++) {
        json_open(json, NULL, '{');
        /* By process as well, as text has only how many there are. */
        json_fields(json, row_fields, COUNT_OF(row_fields), NULL, &rows.row[i]);
        json_open(json, "processes", '[');
        for (size_t k = 0; k < rows.row[i].process_count; k++)
            json_row(json, share_fields, COUNT_OF(share_fields), NULL, &rows.row[i].processes[k]);
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, ']');
    profile_rows_clear(&rows);
}

/* JSON and CSV write the same nodes: only what is done with each differs. */
static void each_node(const struct profile *profile, void (*take)(void *context, const struct tree_row *row),
                      void *context)
{
    struct profile_rows rows = profile_rows_of(profile, PROFILE_BY_FUNCTION);
    struct profile_tree tree = profile_tree_of(profile, &rows);
    for (size_t i = 0; i < tree.count; i++)
        take(context, &(struct tree_row){&tree.node[i], &rows.row[tree.node[i].row]});
    profile_tree_clear(&tree);
    profile_rows_clear(&rows);
}

static void json_node(void *context, const struct tree_row *row)
{
    json_row(context, node_fields, COUNT_OF(node_fields), NULL, row);
}

void profile_write_json(struct output *output, const struct profile_report *report)
{
    struct json json = {.output = output};
    json_open(&json, NULL, '{');
    json_value(&json, "schema", value_text("sight-profile/1"));
    json_value(&json, "samples", value_count(report->profile->samples));
    json_value(&json, "self_s", value_time(report->profile->ns));
    json_rows(&json, report->profile, "functions", PROFILE_BY_FUNCTION);
    json_rows(&json, report->profile, "lines", PROFILE_BY_LINE);
    json_open(&json, "tree", '[');
    each_node(report->profile, json_node, &json);
    json_close(&json, ']');
    json_close(&json, '}');
}

static void csv_node(void *context, const struct tree_row *row)
{
    csv_row(context, node_fields, COUNT_OF(node_fields), NULL, row);
}

void profile_write_csv(struct output *output, const struct profile_report *report, const char *table)
{
    if (table && strcmp(table, "tree") == 0) {
        csv_header(output, node_fields, COUNT_OF(node_fields));
        each_node(report->profile, csv_node, output);
        return;
    }
    for (size_t i = 0; i < TABLES; i++) {
        if (!is_wanted(table, i))
            continue;
        struct profile_rows rows = profile_rows_of(report->profile, tables[i].by);
        csv_header(output, row_fields, COUNT_OF(row_fields));
        for (size_t k = 0; k < rows.count; k++)
            csv_row(output, row_fields, COUNT_OF(row_fields), NULL, &rows.row[k]);
        profile_rows_clear(&rows);
    }
}

/* Names stand between semicolons, a stack to a line: neither may occur in them. */
static char folded_character(char character)
{
    if (character == ';')
        return ':';
    if ((unsigned char)character < ' ')
        return '?';
    return character;
}

static void folded_name(struct output *output, const char *name)
{
    for (; *name; name++)
        output_print(output, "%c", folded_character(*name));
}

static void folded_path(struct output *output, const struct defs *defs, uint32_t path)
{
    uint32_t nodes[256], count = 0;
    /* From the leaf to the root; stacks are written from the root on. Beyond 256 the outermost are left out. */
    for (uint32_t at = path + 1; at && count < sizeof nodes / sizeof *nodes; at = defs->paths[at - 1].parent)
        nodes[count++] = at - 1;
    while (count > 0) {
        folded_name(output, profile_function(defs, nodes[--count]));
        output_text(output, count ? ";" : "");
    }
}

/* One line for each path of a process, in ns; where samples stand for no time, so many samples. */
void profile_write_folded(struct output *output, const struct profile_report *report)
{
    const struct profile *profile = report->profile;
    for (size_t i = 0; i < profile->cell_count; i++) {
        const struct profile_cell *cell = &profile->cells[i];
        /* Processes are the outermost frames, so that a flame graph shows them side by side. */
        output_print(output, "process %" PRIu32 ";", cell->rank);
        folded_path(output, profile->defs, cell->path);
        output_print(output, " %" PRId64 "\n", profile->ns > 0 ? cell->ns : (int64_t)cell->samples);
    }
}

/* speedscope: https://www.speedscope.app/file-format-schema.json */

static void speedscope_frames(struct json *json, const struct profile_rows *rows)
{
    json_open(json, "shared", '{');
    json_open(json, "frames", '[');
    for (size_t i = 0; i < rows->count; i++)
        /* speedscope's frames have no other members. */
        json_row(json, row_fields, 3, NULL, &rows->row[i]); /* name, file, line */
    json_close(json, ']');
    json_close(json, '}');
}

static void speedscope_stack(struct output *output, const struct profile *profile, const struct profile_rows *rows,
                             uint32_t path)
{
    uint32_t nodes[256], count = 0;
    /* Frames are numbered by their row; the innermost is the last. */
    for (uint32_t at = path + 1; at && count < sizeof nodes / sizeof *nodes; at = profile->defs->paths[at - 1].parent)
        nodes[count++] = rows->row_of[at - 1];
    output_text(output, "[");
    while (count-- > 0)
        output_print(output, "%" PRIu32 "%s", nodes[count], count ? ", " : "]");
}

static void speedscope_process(struct output *output, const struct profile *profile, const struct profile_rows *rows,
                               uint32_t rank)
{
    int64_t all_ns = 0;
    const char *comma = "";
    output_print(output,
                 "{\"type\": \"sampled\", \"name\": \"process %" PRIu32 "\", \"unit\": \"nanoseconds\",\n"
                 "      \"samples\": [",
                 rank);
    for (size_t i = 0; i < profile->cell_count; i++)
        if (profile->cells[i].rank == rank) {
            output_text(output, comma);
            speedscope_stack(output, profile, rows, profile->cells[i].path);
            /* The end of the profile is the sum of its weights: samples have no times of their own. */
            time_add(&all_ns, profile->cells[i].ns);
            comma = ", ";
        }
    output_text(output, "],\n      \"weights\": [");
    comma = "";
    for (size_t i = 0; i < profile->cell_count; i++)
        if (profile->cells[i].rank == rank) {
            output_print(output, "%s%" PRId64, comma, profile->cells[i].ns);
            comma = ", ";
        }
    output_print(output, "],\n      \"startValue\": 0, \"endValue\": %" PRId64 "}", all_ns);
}

void profile_write_speedscope(struct output *output, const struct profile_report *report)
{
    struct json json = {.output = output};
    struct profile_rows rows = profile_rows_of(report->profile, PROFILE_BY_FUNCTION);
    json_open(&json, NULL, '{');
    json_value(&json, "$schema", value_text("https://www.speedscope.app/file-format-schema.json"));
    json_value(&json, "name", value_text(report->title));
    json_value(&json, "exporter", value_text("sight"));
    speedscope_frames(&json, &rows);
    json_open(&json, "profiles", '[');
    for (size_t i = 0; i < report->profile->rank_count; i++) {
        output_text(output, i ? ",\n    " : "\n    ");
        speedscope_process(output, report->profile, &rows, report->profile->ranks[i]);
    }
    json_close(&json, ']');
    json_close(&json, '}');
    profile_rows_clear(&rows);
}
