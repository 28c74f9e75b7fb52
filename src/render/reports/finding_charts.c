/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/finding_charts.h"

/* Waits are not listed: those have the chart of waits. */
static const char *const particular[FINDING_KINDS] = {
    [FINDING_oversubscription] = "balance",
    [FINDING_compute_imbalance] = "compute",
    [FINDING_shared_core] = "balance",
    [FINDING_idle_core] = "balance",
    [FINDING_slow_node] = "compute",
    [FINDING_paging] = "compute",
    [FINDING_disk_wait] = "compute",
    [FINDING_memory_growth] = "compute",
    [FINDING_slow_link] = "communication",
    [FINDING_dynamic_imbalance] = "iterations",
    [FINDING_idle_process] = "compute",
    [FINDING_contention] = "communication",
    [FINDING_io] = "activity",
    [FINDING_serialisation] = "critical-path",
    [FINDING_excessive_synchronisation] = "activity",
    [FINDING_transfer] = "efficiency",
    [FINDING_small_messages] = "messages",
    [FINDING_lost_time] = "efficiency",
    [FINDING_uneven_threads] = "balance",
    [FINDING_serial_threads] = "balance",
    [FINDING_short_regions] = "balance",
};

static const char *chart_of(const struct finding *finding)
{
    const char *chart = particular[finding->kind];
    if (chart)
        return chart;
    return "waits";
}

size_t finding_charts(const struct finding *finding, const struct chart_input *input,
                      const struct chart *charts[FINDING_CHARTS])
{
    /* What the finding is about, and when in the run it costs. */
    const char *const names[] = {chart_of(finding), "findings"};
    size_t count = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct chart *chart = chart_find(names[i]);
        /* Metrics files lack what some charts need, and a run what others show. */
        bool has_some = chart && chart_can(chart, input) &&
                        /* There is this finding. */
                        (chart->shows == SHOWS_FINDINGS || !chart_lack(chart, input));
        if (has_some)
            charts[count++] = chart;
    }
    return count;
}
