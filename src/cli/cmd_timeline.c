/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/commands.h"

#include "cli/run.h"
#include "core/text.h"
#include "query/window_json.h"
#include "render/reports/timeline_text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WIDTH_LEAST = 40, LINES = 40, LINES_MOST = 4096, STATES_MOST = 1000000 };

/* Text shows tiles of the timeline's pyramid, whatever the trace's size; JSON has every state and message of the
   window, for programs, and refuses where they are too many. */
struct printed {
    const struct engine_look *look;
    const struct scene *scene;
    const struct timeline_window *window;
    struct query_trace *trace;
    const char *title;
    bool colour;
};

static void write_text(struct output *output, const void *context)
{
    const struct printed *printed = context;
    timeline_write_text(output, printed->scene, printed->title, printed->colour);
}

static void write_json(struct output *output, const void *context)
{
    const struct printed *printed = context;
    window_json_write(output, printed->look->timeline, &printed->look->view, printed->window, printed->trace);
}

static int print_text(const struct timeline_options *options, struct engine_look *look, int code, struct error *err)
{
    /* Names take their columns first; what is left are the columns of the picture. */
    uint32_t width = run_width(&options->width, &options->target, WIDTH_LEAST);
    struct scene scene;
    char title[300];
    struct scene_options how = {.columns = width - TIMELINE_TEXT_NAMES, .lines = options->all ? LINES_MOST : LINES};
    if (scene_make(&scene, look->timeline, &look->view, how, err) != STATUS_OK)
        return command_fault(err);
    run_title(title, sizeof title, &options->common);
    struct printed printed = {
        .look = look, .scene = &scene, .title = title, .colour = run_wants_colour(&options->common, &options->target)};
    code = run_output(&options->common, &options->target, write_text, &printed, code);
    scene_clear(&scene);
    return code;
}

/* A second reading of the trace. */
static enum status read_analysis(const struct timeline_options *options, const struct engine_look *look,
                                 struct query_trace **trace, struct error *err)
{
    struct asking asking;
    asking_begin(&asking, &options->common, &options->trace, 0);
    enum status status = window_json_trace(&asking.request, timeline_info(look->timeline), trace, err);
    asking_end(&asking);
    return status;
}

static int print_json(const struct timeline_options *options, struct engine_look *look, int code, struct error *err)
{
    struct timeline_window window;
    char states[TEXT_NUMBER_SIZE], messages[TEXT_NUMBER_SIZE];
    /* The window is counted while it is read: too many are found before they fill the memory. */
    if (timeline_window(look->timeline, &look->view, STATES_MOST, &window, err) != STATUS_OK)
        return command_fault(err);
    if (window.too_many) { /* a part of them would look like all */
        (void)error_set(err, ERROR_USAGE,
                        "%s states and %s messages are too many: narrow the window with --from and --to",
                        text_thousands(states, window.states_found), text_thousands(messages, window.messages_found));
        timeline_window_clear(&window);
        return command_fault(err);
    }
    struct printed printed = {.look = look, .window = &window};
    if (read_analysis(options, look, &printed.trace, err) == STATUS_OK)
        code = run_output(&options->common, &options->target, write_json, &printed, code);
    else
        code = command_fault(err);
    query_trace_free(printed.trace);
    timeline_window_clear(&window);
    return code;
}

int cmd_timeline(const struct command *command, const struct timeline_options *options)
{
    (void)command;
    struct error err = {0};
    struct engine_look look;
    if (ask_look(&options->common, &options->trace, false, &look, &err) != STATUS_OK)
        return command_fault(&err);
    const struct timeline_info *info = timeline_info(look.timeline);
    /* Damage is reported first: the answer below is about what could be read. */
    int code = run_report_damage(&info->end, time_since(info->begin_ns, info->end_ns));
    if (choice_is(options->format, "json"))
        code = print_json(options, &look, code, &err);
    else
        code = print_text(options, &look, code, &err);
    engine_look_close(&look);
    return code;
}
