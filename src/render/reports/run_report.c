/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/run_report.h"

#include "core/memory.h"
#include "core/text.h"
#include "render/reports/page.h"
#include "render/terminal_text.h"

#include <stdio.h>
#include <string.h>

char *run_sentence(const struct property *property)
{
    char *ranks = property_ranks(property), *sentence;
    /* Without memory for the sentence the value alone is better than nothing. */
    if (asprintf(&sentence, "%s%s%s: %s", property_title(property->name), ranks ? " of processes " : "",
                 ranks ? ranks : "", property->value) < 0)
        sentence = memory_copy_string(property->value);
    free(ranks);
    return sentence;
}

/* The processes behind a value, where there are several rows of the name. */
static char *with_ranks(const struct property *property)
{
    char *ranks = property_ranks(property), *text;
    /* Without ranks the value holds for all processes. */
    if (!ranks || asprintf(&text, "%s (processes %s)", property->value, ranks) < 0)
        text = memory_copy_string(property->value);
    free(ranks);
    return text;
}

void run_write_text(struct output *output, const struct defs *defs)
{
    struct property_list list = property_list_shown(defs);
    if (list.count > 0)
        output_text(output, "\nRun\n");
    for (size_t i = 0; i < list.count; i++) {
        char *text = with_ranks(&list.rows[i]), first[80];
        /* Facts are written by any recorder: a terminal must not obey what is in them. */
        size_t size = 4 * strlen(text) + 1; /* a byte that a terminal does not show becomes a longer character */
        char *shown = memory_new(size);
        snprintf(first, sizeof first, "  %-15.60s ", property_title(list.rows[i].name));
        text_for_terminal(shown, size, text, size);
        paragraph_write(output, first, "                  ", shown);
        free(shown);
        free(text);
    }
    property_list_clear(&list);
}

void run_write_json(struct json *json, const struct defs *defs)
{
    struct property_list list = property_list_shown(defs);
    if (list.count > 0)
        json_open(json, "properties", '[');
    for (size_t i = 0; i < list.count; i++) {
        char *ranks = property_ranks(&list.rows[i]);
        json_open(json, NULL, '{');
        json_value(json, "name", value_text(list.rows[i].name));
        json_value(json, "value", value_text(list.rows[i].value));
        json_value(json, "text", value_text(list.rows[i].value)); /* as tables of queries and marks name it */
        json_value(json, "processes", ranks ? value_text(ranks) : value_null());
        json_close(json, '}');
        free(ranks);
    }
    if (list.count > 0)
        json_close(json, ']');
    property_list_clear(&list);
}

void run_write_html(struct output *output, const struct defs *defs)
{
    struct property_list list = property_list_shown(defs);
    if (list.count > 0)
        output_text(output, "<section id=\"run\">\n<h2>The run</h2>\n<table>\n<tbody>\n");
    for (size_t i = 0; i < list.count; i++) {
        char *text = with_ranks(&list.rows[i]);
        page_element(output, "<tr><th class=\"left\" scope=\"row\">", property_title(list.rows[i].name), "</th>");
        page_element(output, "<td class=\"left\">", text, "</td></tr>\n");
        free(text);
    }
    if (list.count > 0)
        output_text(output, "</tbody>\n</table>\n</section>\n");
    property_list_clear(&list);
}

/* XML keeps names and ranks apart, to be read back; people read sentences. */
void run_write_xml(struct output *output, const struct defs *defs)
{
    struct property_list list = property_list_shown(defs);
    for (size_t i = 0; i < list.count; i++) {
        char *ranks = property_ranks(&list.rows[i]);
        output_text(output, "<property name=\"");
        value_write_xml(output, value_text(list.rows[i].name));
        output_text(output, "\" value=\"");
        value_write_xml(output, value_text(list.rows[i].value));
        if (ranks)
            output_print(output, "\" processes=\"%s", ranks);
        output_text(output, "\"/>\n");
        free(ranks);
    }
    property_list_clear(&list);
}
