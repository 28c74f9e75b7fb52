/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/curves.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "timeline/scan.h"

#include <math.h>

size_t timeline_counters(const struct timeline *timeline, struct timeline_counter **counters)
{
    size_t curves, steps, count = 0, capacity = 0;
    const struct counter_curve *curve = index_section(&timeline->index, SECTION_CURVES, &curves);
    const struct counter_step *step = index_section(&timeline->index, SECTION_STEPS, &steps);
    const struct defs *defs = timeline->info.defs;
    *counters = NULL;
    for (size_t i = 0; i < curves; i++) {
        /* The index does not know which marks are defined. */
        if (curve[i].mark >= defs->mark_count || curve[i].steps == 0)
            continue;
        if (count == 0 || (*counters)[count - 1].mark != curve[i].mark) {
            struct timeline_counter counter = {.mark = curve[i].mark,
                                               .sum = counter_is_sum(&defs->marks[curve[i].mark].counter),
                                               .least = INFINITY,
                                               .most = -INFINITY};
            ARRAY_PUSH(*counters, count, capacity, counter);
        }
        struct timeline_counter *counter = &(*counters)[count - 1];
        counter->rows++;
        for (uint32_t k = 0; k < curve[i].steps; k++) {
            counter->least = fmin(counter->least, (double)step[curve[i].step_at + k].least);
            counter->most = fmax(counter->most, (double)step[curve[i].step_at + k].most);
        }
    }
    return count;
}

/* A curve being added up: equal parts of a window. */
struct bins {
    struct timeline_curve *curve; /* `mean` has amounts until the end */
    double *ns;                   /* by bin: of the steps in it */
    double from_ns, bin_ns;
    int64_t window_from_ns, window_to_ns;
};

static void add_to_bin(struct bins *bins, uint32_t bin, const struct counter_step *step, double share, double ns)
{
    struct timeline_curve *curve = bins->curve;
    curve->mean[bin] += step->amount * share;
    bins->ns[bin] += ns;
    curve->least[bin] = fmin(curve->least[bin], (double)step->least);
    curve->most[bin] = fmax(curve->most[bin], (double)step->most);
}

/* A step that begins at begin_ns, as far as it lies in [from_ns, to_ns) and the window. */
static void add_step(struct bins *bins, const struct counter_step *step, int64_t begin_ns, int64_t from_ns,
                     int64_t to_ns)
{
    int64_t from = larger(larger(begin_ns, from_ns), bins->window_from_ns);
    int64_t to = smaller(smaller(step->end_ns, to_ns), bins->window_to_ns);
    double length = (double)time_since(begin_ns, step->end_ns);
    if (from >= to)
        return;
    double left = (double)time_since(bins->window_from_ns, from), right = (double)time_since(bins->window_from_ns, to);
    uint32_t last = bins->curve->bins - 1;
    uint32_t bin = (uint32_t)fmin(last, left / bins->bin_ns), end = (uint32_t)fmin(last, right / bins->bin_ns);
    for (; bin <= end; bin++) {
        double ns = fmin(right, (bin + 1) * bins->bin_ns) - fmax(left, bin * bins->bin_ns);
        if (ns > 0)
            add_to_bin(bins, bin, step, ns / length, ns);
    }
}

/* The steps of a curve, as far as they lie in [from_ns, to_ns). */
static void add_curve(struct bins *bins, const struct counter_curve *curve, const struct counter_step *step,
                      int64_t from_ns, int64_t to_ns)
{
    from_ns = larger(from_ns, bins->window_from_ns);
    /* By halving: the first step that ends after the begin. */
    uint32_t low = 0, high = curve->steps;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (step[middle].end_ns <= from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    int64_t begin_ns = low > 0 ? step[low - 1].end_ns : curve->begin_ns;
    for (; low < curve->steps && begin_ns < bins->window_to_ns; begin_ns = step[low++].end_ns)
        add_step(bins, &step[low], begin_ns, from_ns, to_ns);
}

static void end_bins(struct bins *bins, bool sum)
{
    for (uint32_t i = 0; i < bins->curve->bins; i++) {
        if (bins->ns[i] > 0)
            bins->curve->mean[i] /= sum ? bins->ns[i] / 1e9 : bins->ns[i];
        else
            bins->curve->mean[i] = bins->curve->least[i] = bins->curve->most[i] = NAN;
    }
}

static void bins_begin(struct bins *bins, struct timeline_curve *curve, const struct timeline_view *view,
                       uint32_t count)
{
    size_t size = count * sizeof(double);
    *curve = (struct timeline_curve){
        .bins = count, .mean = memory_new(size), .least = memory_new(size), .most = memory_new(size)};
    *bins = (struct bins){.curve = curve,
                          .ns = memory_new(size),
                          .bin_ns = (double)time_since(view->from_ns, view->to_ns) / count,
                          .window_from_ns = view->from_ns,
                          .window_to_ns = view->to_ns};
    for (uint32_t i = 0; i < count; i++) {
        curve->least[i] = INFINITY;
        curve->most[i] = -INFINITY;
    }
}

/* The curves of a counter: [*first, the result). */
static size_t curves_of(const struct timeline *timeline, uint32_t mark, size_t *first)
{
    size_t count, at = 0;
    const struct counter_curve *curve = index_section(&timeline->index, SECTION_CURVES, &count);
    while (at < count && curve[at].mark < mark)
        at++;
    *first = at;
    while (at < count && curve[at].mark == mark)
        at++;
    return at;
}

/* The events of the window, where they are few and the index has fewer steps than readings. */
struct exact {
    struct timeline *timeline;
    struct curves_build build;
    uint32_t mark;
};
enum { EXACT_EVENTS = 200000 };

static void take(void *context, const struct walk_event *walked)
{
    struct exact *exact = context;
    if (walked->event->kind == EVENT_COUNTER && walked->event->state == exact->mark)
        curves_build_event(&exact->build, exact->timeline->info.defs, walked->row, walked->event, walked->time_ns,
                           INT64_MIN);
}

/* Adds a curve of the index, and where its readings are known instead, these. */
static void add_row(struct bins *bins, const struct exact *exact, const struct counter_curve *curve,
                    const struct counter_step *step)
{
    const uint64_t *place = map_find(&exact->build.place_of, map_pair(curve->row, curve->mark));
    const struct counter_growing *known = place ? &exact->build.list[*place - 1] : NULL;
    if (!known || known->curve.steps == 0) {
        add_curve(bins, curve, step, INT64_MIN, INT64_MAX);
        return;
    }
    add_curve(bins, curve, step, INT64_MIN, known->curve.begin_ns);
    add_curve(bins, &known->curve, known->step, INT64_MIN, INT64_MAX);
    add_curve(bins, curve, step, known->step[known->curve.steps - 1].end_ns, INT64_MAX);
}

static enum status read_exact(struct exact *exact, const struct timeline_view *view, size_t first, size_t end,
                              struct error *err)
{
    size_t count;
    const struct counter_curve *curve = index_section(&exact->timeline->index, SECTION_CURVES, &count);
    struct walk_visitor visitor = {.context = exact, .event = take};
    bool coarse = false;
    for (size_t i = first; i < end; i++)
        coarse |= curve[i].readings > 1;
    if (!coarse || timeline_scan_cost(exact->timeline, view->from_ns, view->to_ns) > EXACT_EVENTS)
        return STATUS_OK;
    return timeline_scan(exact->timeline, view->from_ns, view->to_ns, &visitor, err);
}

enum status timeline_curve(struct timeline *timeline, const struct timeline_view *view, uint32_t mark, uint32_t bins,
                           struct timeline_curve *curve, struct error *err)
{
    size_t first, steps, count, end = curves_of(timeline, mark, &first);
    const struct counter_curve *curves = index_section(&timeline->index, SECTION_CURVES, &count);
    const struct counter_step *step = index_section(&timeline->index, SECTION_STEPS, &steps);
    struct exact exact = {.timeline = timeline, .mark = mark};
    struct bins sums;
    if (view->from_ns >= view->to_ns || bins == 0 || bins > TIMELINE_CURVE_BINS ||
        mark >= timeline->info.defs->mark_count)
        return error_set(err, ERROR_USAGE, "no such counter or part of the trace");
    curves_build_begin(&exact.build, CURVE_STEPS * 16, CURVES_STEPS);
    enum status status = read_exact(&exact, view, first, end, err);
    if (status == STATUS_OK) {
        uint32_t *places = timeline_places(timeline, view);
        bins_begin(&sums, curve, view, bins);
        for (size_t i = first; i < end; i++)
            if (places[curves[i].row] != TIMELINE_NONE)
                add_row(&sums, &exact, &curves[i], &step[curves[i].step_at]);
        end_bins(&sums, counter_is_sum(&timeline->info.defs->marks[mark].counter));
        free(sums.ns);
        free(places);
    }
    curves_build_clear(&exact.build);
    return status;
}

void timeline_curve_clear(struct timeline_curve *curve)
{
    free(curve->mean);
    free(curve->least);
    free(curve->most);
    *curve = (struct timeline_curve){0};
}
