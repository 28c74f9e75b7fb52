/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/curves_build.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <math.h>

bool counter_is_sum(const struct counter_def *counter)
{
    return counter->mode == COUNTER_MODE_ACCUMULATED || counter->mode == COUNTER_MODE_RELATIVE;
}

void curves_build_begin(struct curves_build *build, uint32_t most, size_t allowed)
{
    *build = (struct curves_build){.most = most, .allowed = allowed};
}

static double number_of(const struct counter_def *counter, int64_t raw)
{
    if (counter->type == COUNTER_UINT64)
        return (double)(uint64_t)raw;
    if (counter->type != COUNTER_DOUBLE)
        return (double)raw;
    double number = event_double(&(struct event){.value = raw});
    return isfinite(number) ? number : 0;
}

/* A sum that falls without a known modulus is damage: such a step counts as nothing. */
static double growth(const struct counter_def *counter, int64_t before, int64_t now)
{
    if (counter->mode == COUNTER_MODE_RELATIVE)
        return fmax(number_of(counter, now), 0);
    if (counter->type == COUNTER_DOUBLE)
        return fmax(number_of(counter, now) - number_of(counter, before), 0);
    bool falls = counter->type == COUNTER_UINT64 ? (uint64_t)now < (uint64_t)before : now < before;
    /* Unsigned, as the difference of two int64_t may overflow. */
    return falls ? 0 : (double)((uint64_t)now - (uint64_t)before);
}

static void join(struct counter_step *step, const struct counter_step *next)
{
    step->end_ns = next->end_ns;
    step->amount += next->amount;
    step->least = fminf(step->least, next->least);
    step->most = fmaxf(step->most, next->most);
}

/* Two steps become one. An odd last one waits for readings that make it as long as the others. */
static void halve(struct curves_build *build, struct counter_growing *curve)
{
    uint32_t count = curve->curve.steps, halves = (count + 1) / 2;
    for (uint32_t i = 0; i < halves; i++) {
        curve->step[i] = curve->step[2 * (size_t)i];
        if (2 * i + 1 < count)
            join(&curve->step[i], &curve->step[2 * (size_t)i + 1]);
    }
    if (count % 2 == 0)
        curve->in_last += curve->curve.readings;
    build->steps -= count - halves;
    curve->curve.steps = halves;
    curve->curve.readings *= 2;
}

/* Fewer steps for each, as long as all together are too many. */
static void bound(struct curves_build *build)
{
    while (build->steps > build->allowed && build->most > CURVE_LEAST) {
        build->most /= 2;
        for (size_t i = 0; i < build->count; i++)
            while (build->list[i].curve.steps > build->most)
                halve(build, &build->list[i]);
    }
}

static void put(struct curves_build *build, struct counter_growing *curve, const struct counter_step *step)
{
    if (curve->curve.steps > 0 && curve->in_last < curve->curve.readings) {
        join(&curve->step[curve->curve.steps - 1], step);
        curve->in_last++;
        return;
    }
    if (curve->curve.steps >= build->most) {
        halve(build, curve);
        put(build, curve, step);
        return;
    }
    size_t count = curve->curve.steps++;
    ARRAY_PUSH(curve->step, count, curve->capacity, *step);
    curve->in_last = 1;
    build->steps++;
    bound(build);
}

/* What the counter did since its last reading. */
static void step_to(struct curves_build *build, struct counter_growing *curve, const struct counter_def *counter,
                    int64_t now_ns, double grown)
{
    int64_t ns = time_since(curve->at_ns, now_ns);
    curve->carry += grown;
    if (ns == 0)
        return;
    struct counter_step step = {.end_ns = now_ns};
    double value = number_of(counter, curve->raw);
    step.amount = value * (double)ns;
    if (counter_is_sum(counter)) {
        step.amount = curve->carry;
        value = curve->carry / ((double)ns / 1e9);
    }
    step.least = step.most = (float)value;
    put(build, curve, &step);
    curve->carry = 0;
    curve->at_ns = now_ns;
}

static struct counter_growing *curve_of(struct curves_build *build, uint32_t row, uint32_t mark, bool *first)
{
    uint64_t *known = map_put(&build->place_of, map_pair(row, mark), 0);
    *first = *known == 0;
    if (*first) {
        struct counter_growing curve = {.curve = {.row = row, .mark = mark, .readings = 1}};
        ARRAY_PUSH(build->list, build->count, build->capacity, curve);
        *known = build->count;
    }
    return &build->list[*known - 1];
}

void curves_build_event(struct curves_build *build, const struct defs *defs, uint32_t row, const struct event *event,
                        int64_t time_ns, int64_t begin_ns)
{
    bool first;
    const struct counter_def *counter = &defs->marks[event->state].counter;
    struct counter_growing *curve = curve_of(build, row, event->state, &first);
    if (first) {
        /* Changes count from the row's begin. */
        bool counts = counter->mode == COUNTER_MODE_RELATIVE && begin_ns != INT64_MIN;
        curve->at_ns = counts ? begin_ns : time_ns;
        curve->curve.begin_ns = curve->at_ns;
        curve->raw = event->value;
        if (!counts)
            return;
    }
    step_to(build, curve, counter, time_ns, counter_is_sum(counter) ? growth(counter, curve->raw, event->value) : 0);
    curve->raw = event->value;
}

void curves_build_end(struct curves_build *build, const struct defs *defs, const struct timeline_row *rows)
{
    for (size_t i = 0; i < build->count; i++) {
        struct counter_growing *curve = &build->list[i];
        const struct counter_def *counter = &defs->marks[curve->curve.mark].counter;
        if (!counter_is_sum(counter))
            step_to(build, curve, counter, rows[curve->curve.row].end_ns, 0);
    }
}

void curves_build_clear(struct curves_build *build)
{
    for (size_t i = 0; i < build->count; i++)
        free(build->list[i].step);
    free(build->list);
    map_clear(&build->place_of);
    *build = (struct curves_build){0};
}
