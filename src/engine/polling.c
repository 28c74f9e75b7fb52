/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/polling.h"

#include "graph/polls.h"

#include <sys/stat.h>

static bool polls(const struct metrics *metrics)
{
    for (size_t i = 0; i < metrics->process_count; i++)
        for (size_t f = 0; f < metrics->process[i].function_count; f++) {
            const struct function_row *row = &metrics->process[i].functions[f];
            if (row->count > POLLS_LEAST && state_polls(&metrics->defs->states[row->state]))
                return true;
        }
    return false;
}

bool engine_polls_unknown(const struct engine_result *result)
{
    return !result->metrics->analysis && polls(result->metrics);
}

/* A pipe cannot. And an analysis of a part of the run does not know what the rest does. */
static bool can_be_analysed(const struct engine_request *request)
{
    struct stat about;
    for (size_t i = 0; i < request->input_count; i++)
        if (stat(request->inputs[i], &about) != 0 || !(S_ISREG(about.st_mode) || S_ISDIR(about.st_mode)))
            return false;
    return request->rank_count == 0 && request->window.from.kind == ENGINE_TIME_OPEN &&
           request->window.to.kind == ENGINE_TIME_OPEN;
}

struct engine_result *engine_run_polling(const struct engine_request *request, struct error *err)
{
    struct engine_result *result = engine_run(request, err);
    if (!result || !engine_polls_unknown(result) || !can_be_analysed(request))
        return result;
    struct engine_request again = *request;
    again.wants |= ENGINE_ANALYSIS;
    engine_free(result);
    return engine_run(&again, err);
}
