/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_EVENTS_REPORT_H
#define SIGHT_RENDER_REPORTS_EVENTS_REPORT_H

#include "core/sink.h"
#include "render/field.h"

/* Events one by one as they are read, a line each: CSV with a header, or JSON objects. Memory does not grow. */

struct events_report {
    struct sink sink; /* the first member */
    struct output *output;
    bool json;
    const uint32_t *ranks; /* only these processes, ascending; NULL: all */
    size_t rank_count;
    const struct defs *defs; /* internal */
};

/* A sink that writes to the output, for engine_stream. */
struct events_report events_report_to(struct output *output, bool json, const uint32_t *ranks, size_t rank_count);

#endif
