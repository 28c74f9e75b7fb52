/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/commands.h"

#include "cli/run.h"
#include "engine/contents.h"
#include "render/reports/info_report.h"

/* info looks at no performance: it needs one pass, and no memory that grows with the calls. */
struct page {
    const struct info_options *options;
    const struct contents *contents;
};

static void write_info(struct output *output, const void *context)
{
    const struct page *page = context;
    char title[300];
    run_title(title, sizeof title, &page->options->common);
    if (choice_is(page->options->format, "json"))
        info_write_json(output, page->contents);
    else
        info_write_text(output, page->contents, title, page->options->common.verbose);
}

int cmd_info(const struct command *command, const struct info_options *options)
{
    (void)command;
    struct error err = {0};
    struct asking asking;
    asking_begin(&asking, &options->common, &options->trace, 0);
    struct contents *contents = engine_contents(&asking.request, &err);
    asking_end(&asking);
    if (!contents)
        return command_fault(&err);
    asking_say_slices(&options->common, contents->slices);
    const struct census *census = &contents->census;
    /* without any event there is no time up to which the trace was read */
    int code = run_report_damage(contents->end, census->any ? time_since(census->begin_ns, census->end_ns) : -1);
    code = run_output(&options->common, &options->target, write_info, &(struct page){options, contents}, code);
    engine_contents_free(contents);
    return code;
}
