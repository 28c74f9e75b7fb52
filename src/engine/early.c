/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/early.h"

#include "core/memory.h"
#include "core/payload.h"
#include "engine/opening.h"
#include "engine/stuck_pass.h"
#include "metrics/accumulator.h"
#include "stuck/before_hang.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool has_pending(const struct defs *defs)
{
    for (size_t i = 0; i < defs->mark_count; i++)
        if (strcmp(defs->marks[i].name, PENDING_MARK_NAME) == 0)
            return true;
    return false;
}

bool early_is_wanted(const struct engine_request *request, const struct reader *reader)
{
    struct stat about;
    return request->early && has_pending(reader->defs) && stuck_pass_can(request) &&
           stat(request->inputs[0], &about) == 0 && S_ISREG(about.st_mode);
}

/* Damage is reported before anything else. */
static enum status hand_over(const struct engine_request *request, struct accumulator *accumulator,
                             const struct stuck *stuck, struct error *err)
{
    struct metrics *metrics = accumulator_metrics(accumulator, err);
    if (!metrics)
        return STATUS_FAILED;
    enum status status = STATUS_OK;
    metrics->early = true;
    if (stuck_is_reported(stuck) && metrics->process_count > 0 && metrics->end.complete &&
        time_span_fits(metrics->begin_ns, metrics->end_ns, metrics->process_count))
        status = request->early(request->early_context, metrics, stuck, err);
    metrics_free(metrics);
    return status;
}

struct stuck *early_judge(const struct engine_request *request, struct reader *reader, struct error *err)
{
    struct watching watching = {.request = request, .step = ENGINE_STEP_STUCK};
    struct accumulator *accumulator = accumulator_new((struct accumulator_options){0});
    struct stuck_builder *builder = stuck_builder_new();
    struct before_hang *before = memory_new(sizeof *before);
    struct sink *counted = accumulator_sink(accumulator);
    before_hang_start(before, &counted, 1); /* as many events as the findings will be about */
    struct sink *sinks[] = {&before->sink, stuck_builder_sink(builder)};
    enum status status = stream_run(reader, sinks, 2, opening_watch, &watching, err);
    struct stuck *stuck = stuck_builder_end(builder);
    if (status == STATUS_OK)
        status = hand_over(request, accumulator, stuck, err);
    accumulator_free(accumulator);
    before_hang_clear(before);
    free(before);
    if (status == STATUS_OK)
        return stuck;
    stuck_free(stuck);
    return NULL;
}
