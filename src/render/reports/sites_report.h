/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_SITES_REPORT_H
#define SIGHT_RENDER_REPORTS_SITES_REPORT_H

#include "metrics/metrics.h"
#include "render/field.h"

/* Calls of MPI functions by the place in the source that they come from. The metrics have an analysis. */

/* At most `rows`; nothing where there are no calls. */
void sites_write_text(struct output *output, const struct metrics *metrics, size_t rows);
void sites_write_html(struct output *output, const struct metrics *metrics, size_t rows);

/* The same as rows and fields; no rows where the trace has no places in the source. Free `rows`. */
enum { SITES_FIELDS = 13 };
struct sites_table {
    struct field fields[SITES_FIELDS];
    size_t field_count;
    void *rows;
    size_t count, row_size;
};
struct sites_table sites_table_of(const struct metrics *metrics);

/* All: schema sight-sites/1, and a table. */
void sites_write_json(struct output *output, const struct metrics *metrics);
void sites_write_csv(struct output *output, const struct metrics *metrics);

/* The elements `call_site` of a metrics file. */
void sites_write_xml(struct output *output, const struct metrics *metrics);

#endif
