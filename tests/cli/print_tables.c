/* SPDX-License-Identifier: BSD-3-Clause */
/* All tables of the program as lines of fields with tabs between: for tools/tables.sh, which makes sections of the man
   pages and of README from them, and for tables.test. */
#include "cli/options.h"
#include "convert/reader.h"
#include "convert/writer.h"
#include "heuristics/finding.h"
#include "heuristics/glossary.h"
#include "heuristics/heuristic.h"
#include "query/tables.h"
#include "render/charts/chart.h"
#include "render/reports/metrics_report.h"

#include <stdio.h>
#include <string.h>

static const char *known(const char *text)
{
    return text && *text ? text : "-";
}

static const char *meaning_of(const char *name)
{
    size_t at = glossary_find(name, 0);
    return at < glossary_count() ? glossary_at(at).meaning : "-";
}

static bool is_read(const char *format)
{
    for (size_t i = 0; i < format_count(); i++)
        if (strcmp(format_at(i)->name, format) == 0)
            return true;
    return false;
}

static void print_command(const struct command *command)
{
    printf("command\t%s\t%s\t%s\t%s\n", command->name, known(command->arguments), command->summary,
           known(command->formats));
    for (const struct option_row *row = NULL; (row = option_next(command, row));) {
        const char letter[] = {row->letter ? row->letter : '-', '\0'};
        printf("option\t%s\t%s\t%s\t%s\t%s\t%s\n", command->name, row->name, letter, known(row->value), row->help,
               option_is_common(row) ? "always" : "-");
    }
}

/* A table of queries, and its columns with their units. */
static void print_query_table(const struct query_table *table)
{
    printf("query\t%s\t%s\n", table->name, table->meaning);
    for (size_t i = 0; i < table->column_count; i++)
        printf("column\t%s\t%s\t%s\t%s\n", table->name, table->columns[i].name, table->columns[i].meaning,
               known(query_type_unit(table->columns[i].type)));
}

int main(void)
{
    for (size_t i = 0; i < command_count(); i++)
        print_command(command_at(i));
    for (size_t i = 0; i < format_count(); i++)
        printf("format\t%s\t%s\t%s\t%s\n", format_at(i)->name, format_at(i)->title, format_at(i)->suffix,
               writer_format_find(format_at(i)->name) ? "read and written" : "read");
    for (size_t i = 0; i < writer_format_count(); i++)
        if (!is_read(writer_format_at(i)->name))
            printf("format\t%s\t%s\t%s\twritten\n", writer_format_at(i)->name, writer_format_at(i)->title,
                   writer_format_at(i)->suffix);
    for (size_t i = 0; i < chart_count(); i++)
        printf("chart\t%s\t%s\t%s\n", chart_at(i)->name, chart_at(i)->title, chart_at(i)->question);
    for (size_t i = 0; i < heuristic_count(); i++)
        printf("heuristic\t%s\t%s\t%s\n", heuristic_at(i)->id, heuristic_at(i)->title, heuristic_at(i)->question);
    for (enum finding_kind kind = 0; kind < FINDING_KINDS; kind++)
        printf("finding\t%s\t%s\n", finding_id(kind), meaning_of(finding_id(kind)));
    for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++)
        printf("wait\t%s\t%s\n", wait_kind_name((enum wait_kind)kind),
               meaning_of(wait_kind_name((enum wait_kind)kind)));
    for (size_t i = 0; metrics_table_name(i); i++)
        printf("table\t%s\n", metrics_table_name(i));
    for (size_t i = 0; i < QUERY_TABLES; i++)
        print_query_table(query_table_at(i));
#define TOPIC(name, function) puts("topic\t" name);
#include "cli/topics.def"
    for (size_t i = 0; i < glossary_count(); i++)
        printf("term\t%s\t%s\n", glossary_at(i).name, glossary_at(i).group->title);
    return 0;
}
