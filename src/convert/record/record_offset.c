/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/record/record_offset.h"

#include <math.h>

void record_offset_add(struct record_clock_line *clock, const struct record_clock *record)
{
    if (record->offset_ns > RECORD_OFFSET_MAX || record->offset_ns < -RECORD_OFFSET_MAX ||
        record->time_ns > RECORD_TIME_MAX || record->time_ns < -RECORD_TIME_MAX)
        return;
    clock->last_ns = record->time_ns;
    clock->last_offset_ns = record->offset_ns;
    clock->last_delay_ns = record->delay_ns;
    if (clock->points++ == 0) {
        clock->first_delay_ns = clock->last_delay_ns;
        clock->first_ns = clock->last_ns;
        clock->first_offset_ns = clock->last_offset_ns;
    }
}

int64_t record_clock_offset(const struct record_clock_line *clock, int64_t time_ns)
{
    if (clock->points < 2 || clock->last_ns <= clock->first_ns)
        return clock->first_offset_ns;
    double span = (double)(clock->last_ns - clock->first_ns), passed = (double)(time_ns - clock->first_ns);
    double change = (double)(clock->last_offset_ns - clock->first_offset_ns);
    double within = fmin(fmax(passed, 0), span);
    /* Extrapolated before the first moment and after the last, only by the part of the change that exceeds the
       measuring error. */
    double error = ((double)clock->first_delay_ns + (double)clock->last_delay_ns) / 2;
    double sure = copysign(fmax(fabs(change) - fmax(error, 0), 0), change);
    double beyond = fmin(fmax(passed - within, -span), span);
    return clock->first_offset_ns + llrint((within * change + beyond * sure) / span);
}
