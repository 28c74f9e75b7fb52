/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/clock.h"

struct clock_error clock_error;

int64_t clock_with_error(int64_t ns)
{
    return ns + clock_error.offset_ns + (int64_t)((double)ns * clock_error.drift);
}
