/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/asking.h"

#include "cli/selection.h"
#include "core/text.h"
#include "search/hypotheses.h"

#include <stdlib.h>

enum { THREADS_MOST = 4096 };

static enum status search_options(struct engine_request *request, const struct options *options, struct error *err)
{
    request->hypotheses = options->hypotheses;
    request->has_threshold = options->threshold != NULL;
    if (options->threshold && !threshold_parse(options->threshold, &request->threshold))
        return error_set(err, ERROR_USAGE, "--threshold: '%s' is not a number from 0 to 1000 or a percentage",
                         options->threshold);
    return STATUS_OK;
}

enum status asking_begin(struct asking *asking, const struct options *options, unsigned wants, struct error *err)
{
    int64_t jobs = 0;
    *asking = (struct asking){.request = {.inputs = options->inputs,
                                          .input_count = options->input_count,
                                          .wants = wants,
                                          .fix_clocks = options->fix_clocks,
                                          .team = options->team,
                                          .watch = progress_watch,
                                          .watch_context = &asking->progress}};
    struct engine_request *request = &asking->request;
    if (options->jobs && !text_parse_i64(options->jobs, 1, THREADS_MOST, &jobs))
        return error_set(err, ERROR_USAGE, "'%s' is not a number of threads (1 to %d)", options->jobs, THREADS_MOST);
    request->threads = (unsigned)jobs;
    if (selection_moment(options->from, &request->window.from, err) != STATUS_OK ||
        selection_moment(options->to, &request->window.to, err) != STATUS_OK ||
        selection_ranks(options->processes, &asking->ranks, &request->rank_count, err) != STATUS_OK ||
        search_options(request, options, err) != STATUS_OK) {
        free(asking->ranks);
        return STATUS_FAILED;
    }
    request->ranks = asking->ranks;
    progress_begin(&asking->progress, options->progress, options->quiet);
    return STATUS_OK;
}

void asking_end(struct asking *asking)
{
    progress_end(&asking->progress);
    free(asking->ranks);
}

struct engine_result *ask(const struct options *options, unsigned wants, struct error *err)
{
    struct asking asking;
    if (asking_begin(&asking, options, wants, err) != STATUS_OK)
        return NULL;
    struct engine_result *result = engine_run(&asking.request, err);
    asking_end(&asking);
    if (result && result->slices > 0 && options->verbose)
        command_note(options, "%s: read in %u slices by %s", options->inputs[0], result->slices,
                     team_size(options->team) > 1 ? "as many processes" : "as many threads");
    return result;
}

static void say(void *context, const char *text)
{
    const struct options *options = context;
    command_note(options, "%s: %s", options->inputs[options->input_count - 1], text);
}

enum status ask_look(const struct options *options, bool silent, struct engine_look *look, struct error *err)
{
    struct asking asking;
    if (asking_begin(&asking, options, 0, err) != STATUS_OK)
        return STATUS_FAILED;
    if (silent)
        asking.request.watch = NULL;
    enum status status = engine_look_open(look, &asking.request, silent ? NULL : say, (void *)(uintptr_t)options, err);
    asking_end(&asking);
    return status;
}
