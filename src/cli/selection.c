/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/selection.h"

#include "cli/run.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int rank_compare(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static bool parse_rank(const char **at, uint32_t *rank)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    unsigned long value = strtoul(*at, &end, 10);
    if (end - *at > 9 || value >= PROCESS_LIMIT)
        return false;
    *rank = (uint32_t)value;
    *at = end;
    return true;
}

static bool parse_range(const char **at, uint32_t *first, uint32_t *last)
{
    if (!parse_rank(at, first))
        return false;
    *last = *first;
    if (**at == '-') {
        ++*at;
        if (!parse_rank(at, last))
            return false;
    }
    return *first <= *last && (**at == ',' || **at == '\0');
}

enum status selection_ranks(const char *text, uint32_t **ranks, size_t *count, struct error *err)
{
    if (!text)
        return STATUS_OK;
    size_t capacity = 0;
    const char *at = text;
    do {
        uint32_t first, last;
        at += at > text; /* the comma */
        if (!parse_range(&at, &first, &last))
            return error_set(err, ERROR_USAGE, "'%s' is no list of processes (such as 0-7,12)", text);
        for (uint32_t rank = first; rank <= last; rank++)
            ARRAY_PUSH(*ranks, *count, capacity, rank);
    } while (*at);
    qsort(*ranks, *count, sizeof **ranks, rank_compare);
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++)
        if (i == 0 || (*ranks)[i] != (*ranks)[kept - 1])
            (*ranks)[kept++] = (*ranks)[i];
    *count = kept;
    return STATUS_OK;
}

/* Where a trace begins and ends. */
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
        span->begin_ns = span->any && span->begin_ns < time_ns ? span->begin_ns : time_ns;
        span->end_ns = span->any && span->end_ns > time_ns ? span->end_ns : time_ns;
        span->any = true;
    }
    return STATUS_OK;
}

/* A time of the command line, as ns after the trace's begin; per cent are of the span, where there is one. */
static enum status parse_time(const char *text, const struct span *span, int64_t *ns, struct error *err)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"", 1e9}};
    char *unit;
    double value = strtod(text, &unit);
    if (unit == text || !isfinite(value) || value < 0)
        return error_set(err, ERROR_USAGE, "'%s' is no time (such as 1.5s, 20ms, 10%%)", text);
    unit += strspn(unit, " ");
    double result = NAN;
    if (span && strcmp(unit, "%") == 0)
        result = value / 100 * (double)time_since(span->begin_ns, span->end_ns);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i].unit) == 0)
            result = value * units[i].ns;
    if (isnan(result))
        return error_set(err, ERROR_USAGE, "'%s': unit '%s' is not known (ns us ms s %%)", text, unit);
    *ns = result < 9e18 ? llrint(result) : INT64_MAX / 2;
    return STATUS_OK;
}

enum status selection_time(const char *text, int64_t *ns, struct error *err)
{
    return parse_time(text, NULL, ns, err);
}

static int64_t time_later(int64_t begin_ns, int64_t ns)
{
    int64_t later;
    return __builtin_add_overflow(begin_ns, ns, &later) ? INT64_MAX : later;
}

static enum status window_from_span(const struct options *options, const struct span *span,
                                    struct accumulator_options *window, struct error *err)
{
    int64_t from = 0, to = 0;
    if (options->from && parse_time(options->from, span, &from, err) != STATUS_OK)
        return STATUS_FAILED;
    if (options->to && parse_time(options->to, span, &to, err) != STATUS_OK)
        return STATUS_FAILED;
    if (options->from && options->to && to < from)
        return error_set(err, ERROR_USAGE, "--to %s is before --from %s", options->to, options->from);
    window->have_from = options->from && from > 0;
    window->from_ns = time_later(span->begin_ns, from);
    /* The trace's last event belongs to a window that reaches to its end. */
    window->have_to = options->to && to < time_since(span->begin_ns, span->end_ns);
    window->to_ns = time_later(span->begin_ns, to);
    return STATUS_OK;
}

enum status selection_window(const struct options *options, struct reader **reader, struct accumulator_options *window,
                             struct error *err)
{
    struct span span = {.sink = {.events = span_events}};
    if (window_from_span(options, &span, window, err) != STATUS_OK)
        return STATUS_FAILED;
    for (size_t i = 0; i < options->input_count; i++)
        if (strcmp(options->inputs[i], "-") == 0)
            return error_set(err, ERROR_USAGE, "--from and --to need a file: standard input cannot be read twice");
    struct sink *sinks[] = {&span.sink};
    if (run_stream(options, *reader, sinks, 1, err) != STATUS_OK ||
        window_from_span(options, &span, window, err) != STATUS_OK)
        return STATUS_FAILED;
    *reader = run_again(options, *reader, err);
    return *reader ? STATUS_OK : STATUS_FAILED;
}

enum status selection_times(const struct options *options, int64_t begin_ns, int64_t end_ns, int64_t *from_ns,
                            int64_t *to_ns, struct error *err)
{
    const struct span span = {.any = true, .begin_ns = begin_ns, .end_ns = end_ns};
    struct accumulator_options window = {0};
    if (window_from_span(options, &span, &window, err) != STATUS_OK)
        return STATUS_FAILED;
    *from_ns = window.have_from ? window.from_ns : begin_ns;
    *to_ns = window.have_to ? window.to_ns : time_later(end_ns, 1);
    return STATUS_OK;
}
