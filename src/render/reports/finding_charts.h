/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_FINDING_CHARTS_H
#define SIGHT_RENDER_REPORTS_FINDING_CHARTS_H

#include "heuristics/finding.h"
#include "render/charts/chart.h"

/* The charts that show a finding, the one to look at first in front; those that the input has no data for are left
   out. Returns how many. */
enum { FINDING_CHARTS = 2 };
size_t finding_charts(const struct finding *finding, const struct chart_input *input,
                      const struct chart *charts[FINDING_CHARTS]);

#endif
