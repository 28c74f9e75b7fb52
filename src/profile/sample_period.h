/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_PROFILE_SAMPLE_PERIOD_H
#define SIGHT_PROFILE_SAMPLE_PERIOD_H

#include "core/map.h"

#include <stdint.h>

/* How long a sample stands for where the trace does not say (Extrae; OTF2): the median of the times between two samples
   of a thread. A timer of real time has its period as most of them, one of processor time wherever its thread does not
   wait in between. */

enum { SAMPLE_GAPS = 4096 }; /* that are kept: of more every second, then every fourth, ... */

struct sample_period {
    struct map last; /* thread of a process -> time of its last sample */
    int64_t gaps[SAMPLE_GAPS];
    uint64_t seen, stride; /* stride 0: none yet */
    uint32_t kept;
};

void sample_period_add(struct sample_period *period, uint32_t process, uint32_t thread, int64_t time_ns);

/* 0: no thread has two samples. Frees what the period has. */
int64_t sample_period_end(struct sample_period *period);

#endif
