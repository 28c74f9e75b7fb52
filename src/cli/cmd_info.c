/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/commands.h"

#include "cli/run.h"
#include "engine/contents.h"
#include "render/reports/info_report.h"

#include <string.h>

struct page {
    const struct options *options;
    const struct contents *contents;
};

static void write_info(struct output *output, const void *context)
{
    const struct page *page = context;
    char title[300];
    run_title(title, sizeof title, page->options);
    if (page->options->format && strcmp(page->options->format, "json") == 0)
        info_write_json(output, page->contents);
    else
        info_write_text(output, page->contents, title, page->options->verbose);
}

int cmd_info(const struct command *command, const struct options *options)
{
    (void)command;
    struct error err = {0};
    struct asking asking;
    if (asking_begin(&asking, options, 0, &err) != STATUS_OK)
        return command_fault(&err);
    struct contents *contents = engine_contents(&asking.request, &err);
    asking_end(&asking);
    if (!contents)
        return command_fault(&err);
    const struct census *census = &contents->census;
    int code = run_report_damage(contents->end, census->any ? time_since(census->begin_ns, census->end_ns) : -1);
    code = run_output(options, write_info, &(struct page){options, contents}, code);
    engine_contents_free(contents);
    return code;
}
