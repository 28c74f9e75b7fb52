/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_METRICS_TOTALS_H
#define SIGHT_METRICS_TOTALS_H

#include "metrics/metrics.h"

/* Exact totals of a run whose trace is only a sample (`sight record --keep`): PROPERTY_TOTALS of each process,
   lines that convert/record/record_totals.c writes. Times are ns.

       t THREAD EVENTS BEGIN END IN-MPI                   a thread; what follows is of it
       f FUNCTION CALLS TIME SHORTEST LONGEST OPEN OPEN-TIME OWN-TIME
       u CALLS TIME SHORTEST LONGEST OPEN OPEN-TIME OWN-TIME STRAY NAME   a state of the program
       s|r PARTNER COMMUNICATOR TAG MESSAGES BYTES        sent, received
       z CLASS SENT RECEIVED BYTES-SENT BYTES-RECEIVED    messages of a size: struct metrics */

/* True if the definitions have totals. */
bool totals_known(const struct defs *defs);

/* Replaces what the metrics say of their processes by the totals. Marks and numbers that are
   computed from the order of events are not known then. Lines that are no totals are passed over. */
void totals_use(struct metrics *metrics);

#endif
