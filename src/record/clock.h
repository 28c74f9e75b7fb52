/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_CLOCK_H
#define SIGHT_RECORD_CLOCK_H

#include "core/record_format.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* The clock of recordings, one for all processes of a host. Records have its ticks; their relation to CLOCK_MONOTONIC's
   ns is measured now and then (clock_read), and the merge makes one map of it for the host
   (convert/record/record_clock.h).

   It is the processor's time stamp counter (TSC) if the kernel itself keeps time by it: then the kernel has found that
   it runs at a constant rate and is synchronised on all processors. Elsewhere it is CLOCK_MONOTONIC, and a tick is 1
   ns.

   Neither instruction is serialising (Intel SDM, volume 2B, "RDTSC" and "RDTSCP"): RDTSC need not wait for earlier
   instructions, and later ones may begin before it is done; RDTSCP waits until all before it have executed and all
   loads before it are globally visible, not for stores. AMD says of RDTSCP that it is serialising (APM of 2005, volume
   3, "RDTSC", "RDTSCP"). Rate and synchronism: SDM, volume 3B, chapter "Debug, Branch Profile, TSC, ...", "Time-Stamp
   Counter" and "Invariant TSC" (chapter 17, in newer editions 18). Order of stores: SDM, volume 3A, "Memory Ordering in
   P6 and More Recent Processor Families"; APM, volume 2, "Multiprocessor Memory Access Ordering". Hence it takes a
   proof that no receive is before its send (10^7 messages to and fro under MPICH: none was, docs/speed.md):
     1. A call's entry is read by RDTSC. It may be executed early, among instructions before it, but not after a later
   store can be seen by others: a store leaves its processor when it has retired, instructions retire in order, and
   RDTSC had its value when it retired. So entry <= the moment at which the message can be seen.
     2. A call's return is read by RDTSCP, which waits until all instructions before it were executed and all their
        loads done; one of them was the load that saw the message. So that moment <= return.
     3. An entry executed early may come out before the return that was recorded before it, and is then set to that
        (location_commit_word). By 1 that return, too, was read before the entry's stores can be seen.
   All this holds for loads and stores; communication through the kernel involves both. */

/* A moment on both clocks. */
struct clock_pair {
    int64_t ticks, ns;
    int64_t width; /* ticks within which the ns were read: they are as exact as that */
};

extern struct clock {
    bool tsc, chosen;
    struct clock_pair begin; /* of the program, as far as the recorder knows */
    int64_t error_ns;        /* for tests: see clock_set_error */
    double error_drift;
} recorder_clock;

/* The setting of SIGHT_RECORD_CLOCK. */
enum clock_choice { CLOCK_AUTO, CLOCK_KERNEL, CLOCK_TSC };
enum clock_choice clock_choice_of(const char *name); /* auto (also NULL), monotonic, tsc */

/* As MPI is initialised: the ticks at the entry. The first time, the clock is chosen. */
int64_t clock_start(enum clock_choice choice);

/* For tests: gives the ns of this process an error, an offset and a drift in ns per ns. */
void clock_set_error(int64_t offset_ns, double drift);

/* CLOCK_MONOTONIC, in ns. */
int64_t clock_ns(void);

/* Both clocks at one moment, as exactly as possible. */
struct clock_pair clock_read(void);

static inline int64_t clock_kernel(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Ticks at the entry of a call: not after what the thread does next can be seen. */
static inline int64_t clock_entry(void)
{
#ifdef __x86_64__
    if (__builtin_expect(recorder_clock.tsc, 1)) {
        uint32_t low, high;
        __asm__ volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
        return (int64_t)((uint64_t)high << 32 | low);
    }
#endif
    return clock_kernel();
}

/* Ticks at any other moment: not before what the thread has seen. */
static inline int64_t clock_now(void)
{
#ifdef __x86_64__
    if (__builtin_expect(recorder_clock.tsc, 1)) {
        uint32_t low, high;
        __asm__ volatile("rdtscp" : "=a"(low), "=d"(high)::"rcx", "memory");
        return (int64_t)((uint64_t)high << 32 | low);
    }
#endif
    return clock_kernel();
}

#endif
