/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/asking.h"

#include "engine/polling.h"

void asking_begin(struct asking *asking, const struct common_options *common, const struct trace_options *trace,
                  unsigned wants)
{
    *asking = (struct asking){.request = {.inputs = common->inputs,
                                          .input_count = common->input_count,
                                          .window = {trace->from.time, trace->to.time},
                                          .ranks = trace->processes.numbers,
                                          .rank_count = trace->processes.count,
                                          .wants = wants,
                                          .fix_clocks = trace->fix_clocks,
                                          .threads = (unsigned)common->jobs.value,
                                          .team = common->team,
                                          .watch = progress_watch,
                                          .watch_context = &asking->progress}};
    progress_begin(&asking->progress, common->progress, common->quiet);
}

void asking_end(struct asking *asking)
{
    progress_end(&asking->progress);
}

void asking_say_slices(const struct common_options *common, unsigned slices)
{
    if (slices > 0 && common->verbose)
        command_note(common, "%s: read in %u slices by %s", common->inputs[0], slices,
                     team_size(common->team) > 1 ? "as many processes" : "as many threads");
}

struct engine_result *asking_run(struct asking *asking, const struct common_options *common, struct error *err)
{
    struct engine_result *result = engine_run(&asking->request, err);
    asking_end(asking); /* before anything is printed: the line of progress has no end of its own */
    if (result)
        asking_say_slices(common, result->slices);
    if (result && result->assistants > 0 && common->verbose)
        command_note(common, "%s: parts of the diagnosis by %u other process%s", common->inputs[0], result->assistants,
                     result->assistants == 1 ? "" : "es");
    return result;
}

struct engine_result *ask(const struct common_options *common, const struct trace_options *trace, unsigned wants,
                          struct error *err)
{
    struct asking asking;
    asking_begin(&asking, common, trace, wants);
    return asking_run(&asking, common, err);
}

struct engine_result *ask_polling(const struct common_options *common, const struct trace_options *trace,
                                  unsigned wants, struct error *err)
{
    struct asking asking;
    asking_begin(&asking, common, trace, wants);
    struct engine_result *result = engine_run_polling(&asking.request, err);
    asking_end(&asking);
    if (result && engine_polls_unknown(result))
        command_note(common,
                     "%s: the time between looks for a message (MPI_Test and the like) counts as computing, in the "
                     "diagnosis as waiting: here it is not known",
                     common->inputs[0]);
    return result;
}

static void say(void *context, const char *text)
{
    const struct common_options *common = context;
    command_note(common, "%s: %s", common->inputs[common->input_count - 1], text);
}

enum status ask_look(const struct common_options *common, const struct trace_options *trace, bool silent,
                     struct engine_look *look, struct error *err)
{
    struct asking asking;
    asking_begin(&asking, common, trace, 0);
    if (silent)
        asking.request.watch = NULL;
    /* A look that is a part of something else, such as a report, has nothing to say about the cache. */
    enum status status = engine_look_open(look, &asking.request, silent ? NULL : say, (void *)(uintptr_t)common, err);
    asking_end(&asking);
    return status;
}
