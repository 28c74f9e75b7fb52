/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_CLOCK_H
#define SIGHT_RECORD_CLOCK_H

#include <stdint.h>
#include <time.h>

/* The one clock of recordings: CLOCK_MONOTONIC, which all processes of a host share. */

/* For tests: what makes this process's clock go wrong; both 0 otherwise. */
struct clock_error {
    int64_t offset_ns;
    double drift; /* ns per ns */
};
extern struct clock_error clock_error;

int64_t clock_with_error(int64_t ns);

static inline int64_t clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    return __builtin_expect(clock_error.offset_ns != 0, 0) ? clock_with_error(ns) : ns;
}

#endif
