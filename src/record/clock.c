/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

/* The narrowest of them counts: an interrupt between the two clocks makes a reading wide, rarely all of them. */
enum { READINGS = 5 };

struct clock recorder_clock;

/* The processor has RDTSCP, and its counter always runs at one rate. */
static bool processor_has_tsc(void)
{
#ifdef __x86_64__
    enum { EXTENDED = 0x80000001, POWER = 0x80000007 };
    const uint32_t rdtscp = UINT32_C(1) << 27, invariant = UINT32_C(1) << 8;
    uint32_t a, b, c, features = 0, power = 0;
    return __get_cpuid((uint32_t)EXTENDED, &a, &b, &c, &features) && (features & rdtscp) &&
           __get_cpuid((uint32_t)POWER, &a, &b, &c, &power) && (power & invariant);
#else
    return false;
#endif
}

static bool kernel_trusts_tsc(void)
{
    char name[8] = "";
    int file = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
    /* Where the kernel found the counters of the cores apart, it uses another clock, and so does the recorder. */
    if (file < 0)
        return false;
    ssize_t length = read(file, name, sizeof name - 1);
    close(file);
    return length > 0 && strcmp(name, "tsc\n") == 0;
}

enum clock_choice clock_choice_of(const char *name)
{
    if (!name)
        return CLOCK_AUTO;
    if (strcmp(name, "tsc") == 0)
        return CLOCK_TSC;
    return strcmp(name, "monotonic") == 0 ? CLOCK_KERNEL : CLOCK_AUTO;
}

static void choose(enum clock_choice choice)
{
    bool has = choice != CLOCK_KERNEL && processor_has_tsc();
    if (choice == CLOCK_TSC && !has)
        /* The user's choice is not refused silently: the times are still right, but each costs more. */
        fputs("sight: recorder: this processor has no usable time stamp counter; using the kernel's clock\n", stderr);
    recorder_clock.tsc = has && (choice == CLOCK_TSC || kernel_trusts_tsc());
    recorder_clock.begin = clock_read();
    recorder_clock.chosen = true;
}

int64_t clock_start(enum clock_choice choice)
{
    if (!recorder_clock.chosen)
        choose(choice);
    return clock_now();
}

static int64_t with_error(int64_t ns)
{
    return ns + recorder_clock.error_ns + (int64_t)((double)ns * recorder_clock.error_drift);
}

void clock_set_error(int64_t offset_ns, double drift)
{
    recorder_clock.error_ns = offset_ns;
    recorder_clock.error_drift = drift;
    recorder_clock.begin.ns = with_error(recorder_clock.begin.ns);
}

/* Also for records of other processes: sync_clocks compares this clock. The error is of tests (host_of_clock). */
int64_t clock_ns(void)
{
    return with_error(clock_kernel());
}

struct clock_pair clock_read(void)
{
    int64_t now = clock_now();
    struct clock_pair best = {.ticks = now, .ns = with_error(now)};
    if (!recorder_clock.tsc)
        return best;
    best.width = INT64_MAX;
    for (int i = 0; i < READINGS; i++) {
        /* The kernel's clock was read at some moment between the two ticks: the middle is wrong by half the width at
           most. */
        int64_t before = clock_now(), ns = clock_ns(), width = clock_now() - before;
        if (width < best.width)
            best = (struct clock_pair){.ticks = before + width / 2, .ns = ns, .width = width};
    }
    return best;
}
