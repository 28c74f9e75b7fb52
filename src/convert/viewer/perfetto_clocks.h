/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_VIEWER_PERFETTO_CLOCKS_H
#define SIGHT_CONVERT_VIEWER_PERFETTO_CLOCKS_H

#include "convert/viewer/perfetto_packets.h"
#include "convert/viewer/protobuf.h"
#include "core/map.h"

/* Times of Perfetto's packets: of the machine's clocks, and of those that a sequence has of its own, which may count on
   from the packet before. All become times of the clock of boot time. */

struct perfetto_clock {
    bool adds;
    int64_t unit_ns, last_ns, offset_ns; /* offset: to boot time */
};

/* A zero-initialised one has no readings: all clocks agree. */
struct perfetto_clocks {
    struct map own; /* (sequence, clock) -> index */
    struct perfetto_clock *clock;
    size_t count, capacity;
    int64_t offsets_ns[CLOCK_FIRST_OF_SEQUENCE]; /* of the machine's clocks */
};

/* A ClockSnapshot: readings of several clocks at the same instant. */
void perfetto_clocks_take(struct perfetto_clocks *clocks, uint64_t sequence, struct protobuf_message snapshot);

/* The time of the next packet of a sequence, in ns; 0 where it exceeds 64 bits. */
int64_t perfetto_clocks_time(struct perfetto_clocks *clocks, uint64_t sequence, uint32_t clock, uint64_t timestamp);

void perfetto_clocks_clear(struct perfetto_clocks *clocks);

#endif
