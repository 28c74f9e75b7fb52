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

bool early_is_wanted(const struct engine_request *request, unsigned wants, const struct reader *reader)
{
    return (wants & ENGINE_BEFORE_HANG) && has_pending(reader->defs) && stuck_pass_can(request);
}

/* A directory may be that of a recording that goes on. */
static bool is_file(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
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
    if (metrics->process_count > 0 && metrics->end.complete &&
        time_span_fits(metrics->begin_ns, metrics->end_ns, metrics->process_count))
        status = request->early(request->early_context, metrics, stuck, err);
    metrics_free(metrics);
    return status;
}

/* As many events as the findings will be about, and the verdict. */
struct pass {
    struct accumulator *accumulator;
    struct before_hang *before;
    struct stuck *stuck;
};

static void pass_clear(struct pass *pass)
{
    accumulator_free(pass->accumulator);
    if (pass->before)
        before_hang_clear(pass->before);
    free(pass->before);
    *pass = (struct pass){0};
}

static enum status pass_read(struct pass *pass, const struct engine_request *request, struct reader *reader,
                             int64_t until_ns, struct error *err)
{
    struct watching watching = {.request = request, .step = ENGINE_STEP_STUCK};
    struct stuck_builder *builder = stuck_builder_new();
    pass->accumulator = accumulator_new((struct accumulator_options){0});
    pass->before = memory_new(sizeof *pass->before);
    struct sink *counted = accumulator_sink(pass->accumulator);
    before_hang_start(pass->before, &counted, 1, until_ns);
    struct sink *sinks[] = {&pass->before->sink, stuck_builder_sink(builder)};
    enum status status = stream_run(reader, sinks, 2, opening_watch, &watching, err);
    pass->stuck = stuck_builder_end(builder);
    return status;
}

/* Some go on after the hang has begun: what is before it is counted again, without that. */
static enum status count_before(const struct engine_request *request, const struct stuck *stuck, struct error *err)
{
    struct pass pass = {0};
    struct reader *reader = opening_inputs(request, NULL, err);
    enum status status = STATUS_FAILED;
    if (reader)
        status = pass_read(&pass, request, reader, stuck->since_ns, err);
    if (status == STATUS_OK)
        status = hand_over(request, pass.accumulator, stuck, err);
    stuck_free(pass.stuck);
    pass_clear(&pass);
    reader_close(reader);
    return status;
}

struct stuck *early_judge(const struct engine_request *request, struct reader *reader, struct error *err)
{
    struct pass pass = {0};
    enum status status = pass_read(&pass, request, reader, INT64_MAX, err);
    struct stuck *stuck = pass.stuck;
    bool tells = status == STATUS_OK && request->early && stuck_is_reported(stuck) && is_file(request->inputs[0]);
    if (tells && pass.before->last_ns > stuck->since_ns)
        status = count_before(request, stuck, err);
    else if (tells)
        status = hand_over(request, pass.accumulator, stuck, err);
    pass_clear(&pass);
    if (status == STATUS_OK)
        return stuck;
    stuck_free(stuck);
    return NULL;
}
