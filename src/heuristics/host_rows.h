/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_HOST_ROWS_H
#define SIGHT_HEURISTICS_HOST_ROWS_H

#include "core/property.h"
#include "core/resource_counter.h"
#include "metrics/metrics.h"

/* Which rows of metrics (processes) are on which host, and how many cores these may use. */
struct host_rows {
    const struct metrics *metrics;            /* borrowed */
    const struct process_resources **process; /* by row; NULL: the kernel's counters are not known; owned */
    size_t *host;                             /* by row; one that is not known is another for each row; owned */
    const char **name;                        /* by host; NULL: not known; owned, the texts by `facts` */
    size_t count;                             /* of hosts */
    struct property_list facts;
};
struct host_rows host_rows_of(const struct metrics *metrics);
void host_rows_clear(struct host_rows *rows);

/* What the process of a row used, or has; -1: not known. */
int64_t host_rows_value(const struct host_rows *rows, size_t row, enum resource_counter counter);

/* Different cores that the processes of a host may use, at most: those of each first core, as processes that are bound
   alike have the same. -1: not known. HOST_UNKNOWN: of all processes whose host is not known, as if they had one. */
#define HOST_UNKNOWN SIZE_MAX
int64_t host_rows_cores(const struct host_rows *rows, size_t host);

/* A host with more processes than they may use cores; of several, the one that lacks most. False: no host is known to
   be so. */
struct crowd {
    size_t processes;
    int64_t cores;
};
bool host_rows_crowded(const struct host_rows *rows, struct crowd *crowd);

#endif
