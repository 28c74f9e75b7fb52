/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/memory.h"
#include "core/resource_counter.h"
#include "view/view.h"

#include <math.h>
#include <stdlib.h>

/* A report has so many counters at most: the others are seen in `sight view`. */
enum { EMBEDDED = 16 };

size_t view_counters(const struct view *view, struct timeline_counter **counters)
{
    size_t count = timeline_counters(view->timeline, counters), kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct timeline_counter *counter = &(*counters)[i];
        const struct mark_def *mark = &view->info->defs->marks[counter->mark];
        bool changes = counter->sum ? counter->most > 0 : counter->least < counter->most;
        if (changes || resource_counter_of(mark) == RESOURCE_COUNTERS)
            (*counters)[kept++] = *counter;
    }
    return kept;
}

static void write_numbers(struct output *output, const char *name, const double *numbers, uint32_t count)
{
    output_print(output, "\"%s\":[", name);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            output_text(output, ",");
        /* Pixels of a graph, and what a person reads at one: five digits are more than enough. */
        if (isfinite(numbers[i]))
            output_print(output, "%.5g", numbers[i]);
        else
            output_text(output, "null");
    }
    output_text(output, "]");
}

static void write_curve(struct output *output, const struct timeline_curve *curve)
{
    output_text(output, "{");
    write_numbers(output, "mean", curve->mean, curve->bins);
    output_text(output, ",");
    write_numbers(output, "least", curve->least, curve->bins);
    output_text(output, ",");
    write_numbers(output, "most", curve->most, curve->bins);
    output_text(output, "}");
}

enum status view_write_counter(struct output *output, struct view *view, struct view_area area, uint32_t mark,
                               uint32_t bins, struct error *err)
{
    struct timeline_view seen;
    struct timeline_curve curve;
    if (view_area_of(view, &area, &seen, err) != STATUS_OK ||
        timeline_curve(view->timeline, &seen, mark, bins, &curve, err) != STATUS_OK)
        return STATUS_FAILED;
    write_curve(output, &curve);
    timeline_curve_clear(&curve);
    return STATUS_OK;
}

void view_write_counters(struct output *output, struct view *view, uint32_t bins)
{
    struct timeline_counter *counters;
    size_t count = view_counters(view, &counters);
    struct timeline_view whole = timeline_whole(view->timeline);
    for (size_t i = 0; i < count && i < EMBEDDED; i++) {
        struct timeline_curve curve;
        struct error err = {0};
        if (timeline_curve(view->timeline, &whole, counters[i].mark, bins, &curve, &err) != STATUS_OK) {
            output_fail(output, &err);
            break;
        }
        output_print(output, "%s\"%u\":", i > 0 ? ",\n" : "", counters[i].mark);
        write_curve(output, &curve);
        timeline_curve_clear(&curve);
    }
    free(counters);
}
