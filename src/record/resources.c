/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/resources.h"

#include "core/memory_room.h"
#include "core/system_text.h"
#include "record/clock.h"
#include "record/counters.h"
#include "record/own_file.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static bool wanted;

void resources_choose(bool is_wanted)
{
    wanted = is_wanted;
}

/* CPUs that the control group may use at once, in thousandths; 0: no limit, or not known. */
static uint32_t quota(void)
{
    char text[64], *end;
    /* Control groups, version 2: "max 100000" without a limit, else microseconds in each period. */
    if (!system_text_read("/sys/fs/cgroup/cpu.max", text, sizeof text) || *text < '0' || *text > '9')
        return 0;
    double most = strtod(text, &end), period = strtod(end, NULL);
    if (period <= 0 || most / period >= 1e6)
        return 0;
    return (uint32_t)(1000 * most / period);
}

/* The fastest turn so far of a loop of multiplications that each need the last one's result. A few turns are timed at
   once, as one is seldom interrupted, and a few more later, as processors change their frequency. */
static struct {
    int64_t least_ns, next_ns;
} loop;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t loop_ns(void)
{
    enum { LOOPS = 4, STEPS = 5000, PAUSE_NS = 250000000 };
    static volatile uint64_t result = 1;
    int64_t begin_ns = now_ns();
    if (begin_ns < loop.next_ns)
        return loop.least_ns;
    for (int i = 0; i < LOOPS; i++) {
        uint64_t value = result;
        for (int step = 0; step < STEPS; step++)
            value = value * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        result = value;
        int64_t end_ns = now_ns(), ns = end_ns - begin_ns;
        if (loop.least_ns == 0 || ns < loop.least_ns)
            loop.least_ns = ns;
        begin_ns = end_ns;
    }
    loop.next_ns = begin_ns + PAUSE_NS;
    return loop.least_ns;
}

/* The number after a name in the text of a file; -1: it is not there. */
static int64_t number_after(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? (int64_t)strtoull(at + strlen(name), NULL, 10) : -1;
}

/* Of /proc/self/io: what was read from disks, and what is to be written to them, as pages become dirty. */
static void put_bytes(struct record_resources *record)
{
    static int64_t written;
    char text[256];
    if (!system_text_read("/proc/self/io", text, sizeof text))
        return;
    record->read = number_after(text, "\nread_bytes: ");
    record->written = number_after(text, "\nwrite_bytes: ");
    if (record->written < 0)
        return;
    /* What the recorder has written itself is an upper bound: the rest could fall. */
    if (record->written - (int64_t)own_file_bytes() > written)
        written = record->written - (int64_t)own_file_bytes();
    record->written = written;
}

/* Field 42 of proc(5), in ticks; -1: the kernel does not account for delays. */
static int64_t blocked_ns(void)
{
    char text[1024];
    if (!system_text_read("/proc/sys/kernel/task_delayacct", text, sizeof text) || *text != '1' ||
        !system_text_read("/proc/thread-self/stat", text, sizeof text))
        return -1;
    /* The name of the program, field 2, is in brackets and may hold any of them. */
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < 42; field++)
        at = strchr(at + 1, ' ');
    return at ? (int64_t)strtoull(at, NULL, 10) * (1000000000 / sysconf(_SC_CLK_TCK)) : -1;
}

/* Pressure stall information: us for which at least one task waited for a disk. */
static int64_t stalled_ns(void)
{
    char text[256];
    if (!system_text_read("/proc/pressure/io", text, sizeof text))
        return -1;
    int64_t us = number_after(text, "total=");
    return us < 0 ? -1 : us * 1000;
}

/* RAPL: the energy that each processor used, which starts again at 0 beyond a range. */
enum { PROCESSORS_MAX = 16 };
static struct {
    bool looked, left_out[PROCESSORS_MAX]; /* "psys" is a whole platform, its processors included */
    int count, processors;
    int64_t sum_uj, last_uj[PROCESSORS_MAX], range_uj[PROCESSORS_MAX];
} energy;

/* -1: it cannot be read. */
static int64_t energy_number(int processor, const char *name)
{
    char path[128], text[32];
    snprintf(path, sizeof path, "/sys/class/powercap/intel-rapl:%d/%s", processor, name);
    return system_text_read(path, text, sizeof text) ? (int64_t)strtoull(text, NULL, 10) : -1;
}

static bool is_processor(int zone)
{
    char path[128], name[32];
    snprintf(path, sizeof path, "/sys/class/powercap/intel-rapl:%d/name", zone);
    return system_text_read(path, name, sizeof name) && strncmp(name, "package", 7) == 0;
}

static void energy_look(void)
{
    energy.looked = true;
    while (energy.count < PROCESSORS_MAX) {
        int64_t now_uj = energy_number(energy.count, "energy_uj");
        if (now_uj < 0)
            return;
        energy.last_uj[energy.count] = now_uj;
        energy.range_uj[energy.count] = energy_number(energy.count, "max_energy_range_uj");
        energy.left_out[energy.count] = !is_processor(energy.count);
        energy.processors += !energy.left_out[energy.count];
        energy.count++;
    }
}

static int64_t energy_uj(void)
{
    if (!energy.looked)
        energy_look();
    for (int i = 0; i < energy.count; i++) {
        int64_t now_uj = energy.left_out[i] ? -1 : energy_number(i, "energy_uj"), more_uj = now_uj - energy.last_uj[i];
        if (now_uj < 0)
            continue;
        if (more_uj < 0)
            more_uj = energy.range_uj[i] > 0 ? more_uj + energy.range_uj[i] : 0;
        energy.sum_uj += more_uj;
        energy.last_uj[i] = now_uj;
    }
    return energy.processors > 0 ? energy.sum_uj : -1;
}

static bool begin_record(struct location *location, size_t size, struct record_base **base)
{
    if (!wanted || !location->block)
        return false;
    *base = location_room(location, size);
    if (*base)
        /* Zeros for what cannot be read, also in fields that have no meaning here. */
        memset(*base, 0, size);
    return *base != NULL;
}

void resources_machine(struct location *location)
{
    int before = errno;
    cpu_set_t usable;
    struct record_base *base;
    if (!begin_record(location, sizeof(struct record_machine), &base))
        return;
    struct record_machine *machine = (struct record_machine *)(void *)base;
    machine->base.ticks = clock_now();
    machine->cores = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    if (sched_getaffinity(0, sizeof usable, &usable) == 0)
        machine->usable = (uint32_t)CPU_COUNT(&usable);
    while (machine->usable > 0 && !CPU_ISSET(machine->first, &usable))
        machine->first++;
    machine->limit = memory_group_limit();
    machine->quota = quota();
    machine->memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    location_commit(location, sizeof *machine, RECORD_MACHINE, 0, RECORD_WORLD);
    errno = before;
}

/* Time that the thread was ready to run and had no core (Documentation/scheduler/sched-stats); -1: not known. */
static int64_t delay_ns(void)
{
    char text[96], *end;
    if (!system_text_read("/proc/thread-self/schedstat", text, sizeof text))
        return -1;
    /* The first number is the time on a core, the second the time in the run queue. */
    strtoull(text, &end, 10);
    return (int64_t)strtoull(end, NULL, 10);
}

/* Once for all threads. */
static void put_process(const struct location *location, struct record_resources *record)
{
    record->read = record->written = record->sync_ns = record->blocked_ns = -1;
    record->stalled_ns = record->energy_uj = record->loop_ns = record->asleep_ns = -1;
#ifndef RECORD_STATIC /* there nothing of the C library is wrapped: see interrupts.c */
    record->asleep_ns = location->asleep_ns;
#endif
    if (location->thread > 0)
        return;
    put_bytes(record);
#ifndef RECORD_STATIC /* there fsync is not wrapped: see syncs.c */
    record->sync_ns = location->sync_ns;
#endif
    record->blocked_ns = blocked_ns();
    record->stalled_ns = stalled_ns();
    record->energy_uj = energy_uj();
    record->loop_ns = loop_ns();
}

void resources_put(struct location *location)
{
    counters_put(location);
    int before = errno;
    struct record_base *base;
    struct rusage usage;
    struct timespec cpu;
    if (!begin_record(location, sizeof(struct record_resources), &base))
        return;
    struct record_resources *record = (struct record_resources *)(void *)base;
    record->base.ticks = clock_now();
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu) == 0)
        record->cpu_ns = (int64_t)cpu.tv_sec * 1000000000 + cpu.tv_nsec;
    record->delay_ns = delay_ns();
    if (getrusage(RUSAGE_THREAD, &usage) == 0) {
        record->voluntary = usage.ru_nvcsw;
        record->involuntary = usage.ru_nivcsw;
        record->faults = usage.ru_minflt;
        record->disk_faults = usage.ru_majflt;
        /* Linux counts kB. */
        record->peak_bytes = (int64_t)usage.ru_maxrss * 1024;
    }
    put_process(location, record);
    location_commit(location, sizeof *record, RECORD_RESOURCES, 0, RECORD_WORLD);
    errno = before;
}
