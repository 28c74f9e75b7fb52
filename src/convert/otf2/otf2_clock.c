/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/otf2/otf2_clock.h"

/* Score-P's resolution is the processor's, say 2095197216 ticks a second: a 128-bit division for each event would cost
   more than all else. So a base is converted exactly, with its rest, and what has passed since is multiplied by an
   inverse (2^64 / resolution). It is rounded down, and so is the product: otf2_clock_ns adds what is missing. */
void otf2_clock_begin(struct otf2_clock *clock, uint64_t resolution, uint64_t offset)
{
    *clock = (struct otf2_clock){.resolution = resolution, .offset = offset, .base = offset};
    clock->inverse = UINT64_MAX / resolution;
}

int64_t otf2_clock_rebase(struct otf2_clock *clock, uint64_t ticks)
{
    /* Clocks of other machines may show less than the offset. */
    __int128 product = ((__int128)ticks - clock->offset) * 1000000000;
    __int128 quotient = product / clock->resolution, rest = product % clock->resolution;
    if (rest < 0) {
        quotient--;
        rest += clock->resolution;
    }
    clock->base = ticks;
    clock->base_ns = (int64_t)quotient;
    clock->rest = (uint64_t)rest;
    return clock->base_ns;
}
