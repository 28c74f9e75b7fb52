/* SPDX-License-Identifier: BSD-3-Clause */
#include "runs/finding_changes.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <math.h>
#include <string.h>

/* A saving that differs by less than this share of the run is no change. */
static const double CHANGED = 0.01;

bool finding_is_same(const struct finding *a, const struct finding *b)
{
    const char *first = a->functions[0], *second = b->functions[0];
    if (!first || !second)
        return a->kind == b->kind && !first == !second;
    return a->kind == b->kind && strcmp(first, second) == 0;
}

const struct finding *finding_same_in(const struct findings *findings, const struct finding *wanted)
{
    for (size_t i = 0; i < findings->count; i++)
        if (finding_is_same(&findings->finding[i], wanted))
            return &findings->finding[i];
    return NULL;
}

static bool is_listed(const struct finding_changes *changes, const struct finding *finding)
{
    for (size_t i = 0; i < changes->count; i++)
        if (finding_is_same(changes->change[i].finding, finding))
            return true;
    return false;
}

/* The last version, then the first, which are the ones that are compared: their words stand for both. */
static void list_findings(struct finding_changes *changes, const struct gate_version *versions, size_t count)
{
    size_t capacity = 0;
    for (size_t place = 0; place < count; place++) {
        const struct gate_version *version = &versions[(count - 1 + place) % count];
        for (size_t r = 0; r < version->run_count; r++)
            for (size_t i = 0; i < version->runs[r].findings->count; i++) {
                const struct finding *finding = &version->runs[r].findings->finding[i];
                if (!is_listed(changes, finding))
                    ARRAY_PUSH(changes->change, changes->count, capacity, (struct finding_change){.finding = finding});
            }
    }
}

static void average(struct finding_change *change, const struct gate_version *version, size_t v)
{
    struct averaged *saving = &change->saving_s[v];
    for (size_t r = 0; r < version->run_count; r++) {
        const struct finding *found = finding_same_in(version->runs[r].findings, change->finding);
        double saving_s = found ? found->saving_s : 0;
        change->runs[v] += found != NULL;
        saving->mean += saving_s / (double)version->run_count;
        saving->least = r == 0 ? saving_s : fmin(saving->least, saving_s);
        saving->most = fmax(saving->most, saving_s);
    }
}

/* Of the longest run. */
static double duration_s(const struct gate_version *versions, size_t count)
{
    int64_t ns = 0;
    for (size_t v = 0; v < count; v++)
        for (size_t r = 0; r < versions[v].run_count; r++) {
            const struct metrics *metrics = versions[v].runs[r].metrics;
            ns = larger(ns, time_since(metrics->begin_ns, metrics->end_ns));
        }
    return (double)ns / 1e9;
}

static enum change judge(const struct finding_change *change, size_t version, double least_s)
{
    double s = change->saving_s[version].mean - change->saving_s[0].mean;
    if (fabs(s) < least_s)
        return CHANGE_SAME;
    return s > 0 ? CHANGE_WORSE : CHANGE_BETTER;
}

static int by_move(const void *a, const void *b)
{
    const struct finding_change *left = a, *right = b;
    const char *first = left->finding->functions[0], *second = right->finding->functions[0];
    if (fabs(left->moved_s) != fabs(right->moved_s))
        return order_by(fabs(right->moved_s), fabs(left->moved_s));
    if (left->finding->kind != right->finding->kind)
        return order_by(left->finding->kind, right->finding->kind);
    return strcmp(first ? first : "", second ? second : "");
}

struct finding_changes finding_changes_of(const struct gate_version *versions, size_t count)
{
    struct finding_changes changes = {.known = true};
    for (size_t v = 0; v < count; v++)
        for (size_t r = 0; r < versions[v].run_count; r++)
            changes.known &= versions[v].runs[r].findings != NULL;
    if (!changes.known)
        return changes;
    list_findings(&changes, versions, count);
    double least_s = CHANGED * duration_s(versions, count);
    for (size_t i = 0; i < changes.count; i++) {
        struct finding_change *change = &changes.change[i];
        change->saving_s = memory_new(count * sizeof *change->saving_s);
        change->runs = memory_new(count * sizeof *change->runs);
        change->changes = memory_new(count * sizeof *change->changes);
        for (size_t v = 0; v < count; v++) {
            average(change, &versions[v], v);
            change->changes[v] = judge(change, v, least_s);
        }
        change->moved_s = change->saving_s[count - 1].mean - change->saving_s[0].mean;
    }
    if (changes.count > 0)
        qsort(changes.change, changes.count, sizeof *changes.change, by_move);
    return changes;
}

void finding_changes_clear(struct finding_changes *changes)
{
    for (size_t i = 0; i < changes->count; i++) {
        free(changes->change[i].saving_s);
        free(changes->change[i].runs);
        free(changes->change[i].changes);
    }
    free(changes->change);
    *changes = (struct finding_changes){0};
}
