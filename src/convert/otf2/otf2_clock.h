/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_OTF2_OTF2_CLOCK_H
#define SIGHT_CONVERT_OTF2_OTF2_CLOCK_H

#include <stdint.h>

/* Ticks as ns, exactly: ticks * 10^9 / resolution, rounded down. */
struct otf2_clock {
    uint64_t resolution, offset; /* offset: ticks that count as 0 */
    uint64_t base, rest, inverse;
    int64_t base_ns;
};
void otf2_clock_begin(struct otf2_clock *clock, uint64_t resolution, uint64_t offset);

/* The same by a division, which makes `ticks` the new base. */
int64_t otf2_clock_rebase(struct otf2_clock *clock, uint64_t ticks);

static inline int64_t otf2_clock_ns(struct otf2_clock *clock, uint64_t ticks)
{
    /* Below, rest + passed * 10^9 fits 64 bits. */
    const uint64_t reach = UINT64_C(9000000000);
    uint64_t passed = ticks - clock->base;
    if (clock->resolution == 1000000000)
        return (int64_t)(ticks - clock->offset);
    /* Also if the time goes back: passed is unsigned, and huge then. */
    if (passed >= reach || clock->rest > UINT64_C(1) << 62)
        return otf2_clock_rebase(clock, ticks);
    uint64_t value = clock->rest + passed * 1000000000;
    uint64_t quotient = (uint64_t)((unsigned __int128)value * clock->inverse >> 64);
    for (uint64_t rest = value - quotient * clock->resolution; rest >= clock->resolution; rest -= clock->resolution)
        quotient++;
    return clock->base_ns + (int64_t)quotient;
}

#endif
