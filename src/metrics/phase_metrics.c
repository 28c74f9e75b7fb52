/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/phase_metrics.h"

#include "core/event.h"
#include "core/memory.h"
#include "core/numbers.h"

#include <math.h>
#include <stdlib.h>

/* The largest difference of the rhythm from the median iteration that counts as equal. */
static const double RHYTHM_AGREES = 0.1;

const char *phase_source_name(enum phase_source source)
{
    static const char *const names[] = {
#define PHASE_SOURCE_NAME(source, word) word,
        PHASE_SOURCES(PHASE_SOURCE_NAME)
#undef PHASE_SOURCE_NAME
    };
    return names[source];
}

const char *loop_class_name(enum loop_class kind)
{
    static const char *const names[] = {"computing", "waiting", "communicating"};
    return names[kind];
}

int64_t part_waiting_ns(const struct part_sums *sums)
{
    int64_t sum = 0;
    for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++)
        time_add(&sum, sums->waits_ns[kind]);
    return sum;
}

bool iteration_rhythm_differs(const struct iteration_metrics *iterations)
{
    double median = (double)iterations->median_ns, rhythm = (double)iterations->rhythm_ns;
    if (rhythm <= 0 || median <= 0)
        return false;
    /* Work that happens only every k-th iteration has a rhythm of its own. */
    double times = fmax(1, round(rhythm / median));
    return fabs(rhythm / median - times) > RHYTHM_AGREES * times;
}

size_t phase_group_size(size_t processes, size_t columns, size_t cells)
{
    size_t rows = larger(cells / larger(columns, 1), 1);
    return larger((processes + rows - 1) / rows, 1);
}

void phase_metrics_free(struct phase_metrics *metrics)
{
    if (!metrics)
        return;
    for (size_t i = 0; i < metrics->phase_count; i++)
        free(metrics->phases[i].name);
    for (size_t i = 0; i < metrics->loop_count; i++)
        free(metrics->loops[i].name);
    free(metrics->phases);
    free(metrics->cells);
    free(metrics->loops);
    free(metrics->iterations.rows);
    free(metrics->iterations.computing_ns);
    free(metrics);
}
