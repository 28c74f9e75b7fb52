/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_PHASES_REPORT_H
#define SIGHT_RENDER_REPORTS_PHASES_REPORT_H

#include "metrics/metrics.h"
#include "render/field.h"

/* Phases, loops and iterations of a run: as text, JSON, CSV, and as a part of metrics files. */

struct phases_report {
    const struct metrics *metrics; /* with phases */
    double bottleneck;             /* a loop takes strictly more of the one around it to be one */
    const char *title;             /* the trace's name */
    bool all;                      /* all rows of text tables */
};

void phases_write_text(struct output *output, const struct phases_report *report);
void phases_write_json(struct output *output, const struct phases_report *report);

/* One of the tables: phases shares loops iterations slowest. */
void phases_write_csv(struct output *output, const struct phases_report *report, const char *table);

/* The elements of a metrics file; nothing without phases. */
void phases_write_xml(struct output *output, const struct metrics *metrics);

/* Fields of tables; context is a struct phases_report, rows are those of the metrics. */
const struct field *phases_slow_fields(size_t *count);

/* Of loops: true if it is a bottleneck; its share of the loop around it; the kind of time that it has most of. */
bool phases_is_bottleneck(const struct phases_report *report, const struct loop_row *row);
double phases_loop_share(const struct phase_metrics *phases, const struct loop_row *row);
const char *phases_loop_class(const struct loop_row *row);

/* The loop tree, as the window of Paradyn's extension to loops shows it (Boccardo et al. 2005, 3.8): loops in the order
   in which they occur, marked [+] if a bottleneck has loops inside, and only these are opened; --all shows everything.
 */
void phases_write_tree(struct output *output, const struct phases_report *report);

#endif
