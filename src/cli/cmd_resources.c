/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight resources TRACE`: the tree of what a trace contains. */
#include "cli/commands.h"

#include "cli/run.h"
#include "core/numbers.h"
#include "core/text.h"
#include "query/resource_tree.h"
#include "render/field.h"
#include "render/terminal_text.h"

#include <stdio.h>
#include <string.h>

struct printed {
    const struct resources_options *options;
    const struct resource_tree *tree;
};

static struct value resource_path(const void *context, const void *row)
{
    (void)context;
    return value_text(((const struct resource *)row)->path);
}

/* Counted from the run's begin, like the times of findings: a trace's clock may begin anywhere. */
static struct value resource_first(const void *context, const void *row)
{
    const struct resource_tree *tree = context;
    return value_time(time_since(tree->begin_ns, ((const struct resource *)row)->first_ns));
}

static const struct field fields[] = {{"path", NULL, resource_path}, {"first_s", NULL, resource_first}};
enum { FIELDS = sizeof fields / sizeof *fields };

/* The words of a path that its predecessor does not have stand in lines of their own, indented. */
static void write_branch(struct output *output, const char *before, const char *path, const char *first)
{
    size_t same = 0;
    /* As many whole words as both paths have: "node1" is not the beginning of "node12". */
    for (size_t i = 0; before[i] == path[i] && path[i]; i++)
        if (path[i + 1] == '/' && (before[i + 1] == '/' || before[i + 1] == '\0'))
            same = i + 1;
    int depth = 0;
    for (size_t i = 0; i < same; i++)
        depth += path[i] == '/';
    /* What the line before has already is not repeated. */
    for (const char *at = path + same; *at; depth++) {
        size_t length = strcspn(at + 1, "/");
        char name[VALUE_TEXT_SIZE], word[VALUE_TEXT_SIZE];
        bool last = at[1 + length] == '\0';
        snprintf(word, sizeof word, "%s%.*s", depth ? "" : "/", (int)smaller(length, (size_t)200), at + 1);
        text_for_terminal(name, sizeof name, word, 50);
        /* Only whole paths are resources with a time; what is above them is a heading. */
        if (last)
            output_print(output, "%*s%-*s %s\n", 2 * depth, "", 60 - 2 * depth, name, first);
        else
            output_print(output, "%*s%s\n", 2 * depth, "", name);
        at += 1 + length;
    }
}

static void write_text(struct output *output, const struct resource_tree *tree)
{
    output_print(output, "%-60s %s\n", "resource", "first seen");
    /* The list is sorted: what belongs together follows each other. */
    const char *before = "";
    for (size_t i = 0; i < tree->count; i++) {
        char first[VALUE_TEXT_SIZE];
        value_text_for_people(first, resource_first(tree, &tree->list[i]));
        write_branch(output, before, tree->list[i].path, first);
        before = tree->list[i].path;
    }
}

static void write_resources(struct output *output, const void *context)
{
    const struct printed *printed = context;
    const struct resource_tree *tree = printed->tree;
    if (choice_is(printed->options->format, "csv")) {
        csv_header(output, fields, FIELDS);
        for (size_t i = 0; i < tree->count; i++)
            csv_row(output, fields, FIELDS, tree, &tree->list[i]);
        return;
    }
    if (!choice_is(printed->options->format, "json")) {
        write_text(output, tree);
        return;
    }
    struct json json = {.output = output};
    json_open(&json, NULL, '{');
    json_value(&json, "schema", value_text("sight-resources/1"));
    json_open(&json, "resources", '[');
    for (size_t i = 0; i < tree->count; i++)
        json_row(&json, fields, FIELDS, tree, &tree->list[i]);
    json_close(&json, ']');
    json_close(&json, '}');
}

int cmd_resources(const struct command *command, const struct resources_options *options)
{
    (void)command;
    struct error err = {0};
    struct asking asking;
    asking_begin(&asking, &options->common, &options->trace, 0);
    struct resource_tree tree;
    enum status status = resource_tree_read(&tree, &asking.request, &err);
    asking_end(&asking);
    struct printed printed = {options, &tree};
    int code;
    if (status == STATUS_OK)
        code =
            run_output(&options->common, &options->target, write_resources, &printed, run_report_damage(&tree.end, -1));
    else
        code = command_fault(&err);
    resource_tree_clear(&tree);
    return code;
}
