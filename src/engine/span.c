/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/span.h"

#include "core/numbers.h"
#include "core/text.h"
#include "engine/opening.h"
#include "engine/share_job.h"
#include "engine/sharing.h"
#include "timeline/fix_clocks.h"

#include <math.h>
#include <string.h>

/* Where a trace begins and ends: a sink. */
struct span {
    struct sink sink;
    bool any;
    int64_t begin_ns, end_ns;
};

static enum status span_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    (void)err;
    struct span *span = (struct span *)sink;
    for (size_t i = 0; i < batch->count; i++) {
        if (!event_counts(&batch->events[i]))
            continue;
        int64_t time_ns = batch->events[i].time_ns;
        if (!span->any)
            span->begin_ns = span->end_ns = time_ns;
        /* processes come one after the other: the first event is not the earliest */
        span->begin_ns = smaller(span->begin_ns, time_ns);
        span->end_ns = larger(span->end_ns, time_ns);
        span->any = true;
    }
    return STATUS_OK;
}

static int64_t after_begin(const struct engine_time *time, int64_t duration_ns)
{
    if (time->kind != ENGINE_TIME_SHARE)
        return time->ns;
    double ns = time->share * (double)duration_ns;
    if (ns >= 9e18) /* beyond int64_t; a share may be any number of times the run */
        return INT64_MAX / 2;
    return llrint(ns);
}

/* Saturates: a damaged trace may end where int64_t does. */
static int64_t time_later(int64_t begin_ns, int64_t ns)
{
    int64_t later;
    return __builtin_add_overflow(begin_ns, ns, &later) ? INT64_MAX : later;
}

enum status span_window(const struct engine_window *window, int64_t begin_ns, int64_t end_ns,
                        struct accumulator_options *found, struct error *err)
{
    int64_t duration_ns = time_since(begin_ns, end_ns);
    bool has_from = window->from.kind != ENGINE_TIME_OPEN, has_to = window->to.kind != ENGINE_TIME_OPEN;
    int64_t from = 0, to = 0;
    if (has_from)
        from = after_begin(&window->from, duration_ns);
    if (has_to)
        to = after_begin(&window->to, duration_ns);
    if (has_from && has_to && to < from)
        return error_set(err, ERROR_USAGE, "the window ends before it begins");
    char run[TEXT_NUMBER_SIZE];
    if (from > 0 && from >= duration_ns)
        return error_set(err, ERROR_USAGE, "the window begins after the run has ended: the run takes %s",
                         text_duration(run, duration_ns));
    if (has_to && to == from)
        return error_set(err, ERROR_USAGE, "the window is empty: it ends where it begins");
    found->have_from = has_from && from > 0;
    found->from_ns = time_later(begin_ns, from);
    found->have_to = has_to && to < duration_ns;
    found->to_ns = time_later(begin_ns, to);
    return STATUS_OK;
}

/* By all processes of the team: sums of no process, which still know their times. STATUS_END: it is still to be read.
 */
static enum status span_shared(const struct engine_request *request, struct reader **reader, struct span *span,
                               struct error *err)
{
    static const uint32_t none[1];
    unsigned shares;
    struct accumulator *accumulator =
        sharing_accumulate(request, *reader, (struct accumulator_options){.ranks = none}, ENGINE_STEP_SPAN, &shares);
    if (accumulator) {
        span->any = accumulator_span(accumulator, &span->begin_ns, &span->end_ns);
        accumulator_free(accumulator);
        return STATUS_OK;
    }
    if (shares > 1)
        *reader = reader_again(*reader, request->inputs, request->input_count, err);
    return *reader ? STATUS_END : STATUS_FAILED;
}

static enum status span_read(const struct engine_request *request, struct reader **reader, struct span *span,
                             struct error *err)
{
    struct sink *sinks[] = {&span->sink};
    struct watching watching = {.request = request, .step = ENGINE_STEP_SPAN};
    enum status status = STATUS_END;
    if (share_is_possible(request))
        status = span_shared(request, reader, span, err);
    if (status == STATUS_END)
        status = stream_run(*reader, sinks, 1, opening_watch, &watching, err);
    return status;
}

enum status span_find(const struct engine_request *request, struct reader **reader, struct accumulator_options *found,
                      struct error *err)
{
    struct span span = {.sink = {.events = span_events}};
    /* Where the run begins is known only after all of it was read: a window takes a pass of its own. */
    for (size_t i = 0; i < request->input_count; i++)
        if (strcmp(request->inputs[i], "-") == 0)
            return error_set(err, ERROR_USAGE, "a window of time needs a file: standard input cannot be read twice");
    if (span_read(request, reader, &span, err) != STATUS_OK ||
        span_window(&request->window, span.begin_ns, span.end_ns, found, err) != STATUS_OK)
        return STATUS_FAILED;
    *reader = reader_again(*reader, request->inputs, request->input_count, err);
    return *reader ? STATUS_OK : STATUS_FAILED;
}

enum status span_view(const struct engine_window *window, const struct timeline_info *info, struct timeline_view *view,
                      struct error *err)
{
    struct accumulator_options found = {0};
    if (span_window(window, info->begin_ns, info->end_ns, &found, err) != STATUS_OK)
        return STATUS_FAILED;
    view->from_ns = info->begin_ns;
    view->to_ns = time_later(info->end_ns, 1); /* windows are half-open: the last event is in it */
    if (found.have_from)
        view->from_ns = found.from_ns;
    if (found.have_to)
        view->to_ns = found.to_ns;
    return STATUS_OK;
}
