/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_STATUS_REPORT_H
#define SIGHT_CLI_STATUS_REPORT_H

#include "cli/live.h"

/* The data that `sight status` and `sight top` show of a running program. */

/* The last seconds: shares of 1; negative: not known. */
struct live_pace {
    double seconds, parallel, load_balance, communication;
    double bytes_per_second; /* by which the recording grows */
    uint32_t *late;          /* processes that compute longer than the others, which wait for them; owned */
    size_t late_count;
    double late_share; /* of the time that the latest of them computes */
    double mean_share; /* that all compute on average */
};

/* Of the last seconds that were read; growth since the reading before (NULL: since the begin). */
struct live_pace live_pace_of(const struct live *before, const struct live *now);
void live_pace_clear(struct live_pace *pace);

void status_write_text(struct output *output, const struct live *live, const struct live_pace *pace,
                       const char *directory, size_t lines);
void status_write_json(struct output *output, const struct live *live, const struct live_pace *pace,
                       const char *directory);

#endif
