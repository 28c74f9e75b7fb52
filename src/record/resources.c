/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/resources.h"

#include "record/clock.h"

#include <errno.h>
#include <fcntl.h>
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

/* The beginning of a small file of /proc or /sys; false: it cannot be read. */
static bool text_read(const char *path, char *text, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = -1;
    if (file >= 0)
        got = read(file, text, size - 1);
    if (file >= 0)
        close(file);
    if (got <= 0)
        return false;
    text[got] = '\0';
    return true;
}

/* CPUs that the control group may use at once, in thousandths; 0: no limit, or not known. */
static uint32_t quota(void)
{
    char text[64], *end;
    /* Control groups, version 2: "max 100000" without a limit, else microseconds in each period. */
    if (!text_read("/sys/fs/cgroup/cpu.max", text, sizeof text) || *text < '0' || *text > '9')
        return 0;
    double most = strtod(text, &end), period = strtod(end, NULL);
    if (period <= 0 || most / period >= 1e6)
        return 0;
    return (uint32_t)(1000 * most / period);
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
    machine->quota = quota();
    machine->memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    location_commit(location, sizeof *machine, RECORD_MACHINE, 0, RECORD_WORLD);
    errno = before;
}

/* Time that the thread was ready to run and had no core (Documentation/scheduler/sched-stats); -1: not known. */
static int64_t delay_ns(void)
{
    char text[96], *end;
    if (!text_read("/proc/thread-self/schedstat", text, sizeof text))
        return -1;
    /* The first number is the time on a core, the second the time in the run queue. */
    strtoull(text, &end, 10);
    return (int64_t)strtoull(end, NULL, 10);
}

void resources_put(struct location *location)
{
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
    location_commit(location, sizeof *record, RECORD_RESOURCES, 0, RECORD_WORLD);
    errno = before;
}
