/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/finding_charts.h"

#include <string.h>

/* Waits are not listed: those have the chart of waits. */
static const struct {
    const char *finding, *chart;
} particular[] = {
    {"oversubscription", "balance"},     {"compute-imbalance", "compute"},
    {"dynamic-imbalance", "iterations"}, {"idle-process", "compute"},
    {"contention", "communication"},     {"io", "activity"},
    {"serialisation", "critical-path"},  {"excessive-synchronisation", "activity"},
    {"transfer", "efficiency"},          {"small-messages", "messages"},
    {"lost-time", "efficiency"},         {"uneven-threads", "balance"},
    {"serial-threads", "balance"},       {"short-regions", "balance"},
};

static const char *chart_of(const struct finding *finding)
{
    for (size_t i = 0; i < sizeof particular / sizeof *particular; i++)
        if (strcmp(particular[i].finding, finding->id) == 0)
            return particular[i].chart;
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
        /* Metrics files lack what some charts need. */
        if (chart && chart_can(chart, input))
            charts[count++] = chart;
    }
    return count;
}
