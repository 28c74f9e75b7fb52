/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/perf.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of perf_event_open(2): the cache, what is done to it, and how it ends. */
#define READ_OF(cache) (PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_READ << 8)
#define MISS_OF(cache) (READ_OF(cache) | PERF_COUNT_HW_CACHE_RESULT_MISS << 16)

static const struct perf_counter counters[] = {
    {"cycles", "cycles of the processor", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false},
    {"instructions", "instructions executed", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false},
    {"cache-references", "accesses to the last cache", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, false},
    {"cache-misses", "accesses that miss the last cache", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false},
    {"branches", "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, false},
    {"branch-misses", "branches that were mispredicted", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, false},
    {"ref-cycles", "cycles at a fixed frequency", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, false},
    {"stalled-cycles-frontend", "cycles without an instruction to execute", PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, false},
    {"stalled-cycles-backend", "cycles that wait for data or units", PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_STALLED_CYCLES_BACKEND, false},
    {"L1-dcache-loads", "loads from the first cache", PERF_TYPE_HW_CACHE, READ_OF(L1D), false},
    {"L1-dcache-load-misses", "loads that miss the first cache", PERF_TYPE_HW_CACHE, MISS_OF(L1D), false},
    {"LLC-loads", "loads from the last cache", PERF_TYPE_HW_CACHE, READ_OF(LL), false},
    {"LLC-load-misses", "loads that miss the last cache", PERF_TYPE_HW_CACHE, MISS_OF(LL), false},
    {"dTLB-loads", "loads that look up a page", PERF_TYPE_HW_CACHE, READ_OF(DTLB), false},
    {"dTLB-load-misses", "loads whose page is not in the table", PERF_TYPE_HW_CACHE, MISS_OF(DTLB), false},
    {"task-clock", "time on a core, in ns", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false},
    {"page-faults", "page faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false},
    {"minor-faults", "page faults without reading from disk", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, false},
    {"major-faults", "page faults that read from disk", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, false},
    {"context-switches", "switches to another thread", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, true},
    {"cpu-migrations", "moves to another core", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, true}};
enum { COUNTERS = sizeof counters / sizeof *counters };

size_t perf_count(void)
{
    return COUNTERS;
}

const struct perf_counter *perf_at(size_t index)
{
    return &counters[index];
}

size_t perf_find(const char *name, size_t length)
{
    for (size_t i = 0; i < COUNTERS; i++)
        if (strlen(counters[i].name) == length && memcmp(counters[i].name, name, length) == 0)
            return i;
    return SIZE_MAX;
}

int perf_open(const struct perf_counter *counter, uint64_t *number)
{
    struct perf_event_attr about;
    memset(&about, 0, sizeof about);
    about.size = sizeof about;
    about.type = counter->type;
    about.config = counter->config;
    about.exclude_kernel = !counter->of_kernel;
    about.exclude_hv = 1;
    about.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    long descriptor = syscall(SYS_perf_event_open, &about, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (descriptor >= 0 && ioctl((int)descriptor, PERF_EVENT_IOC_ID, number) != 0) {
        close((int)descriptor);
        return -1;
    }
    return (int)descriptor;
}

bool perf_is(int descriptor, uint64_t number)
{
    uint64_t found;
    return descriptor >= 0 && ioctl(descriptor, PERF_EVENT_IOC_ID, &found) == 0 && found == number;
}

bool perf_read(int descriptor, uint64_t number, int64_t *value)
{
    uint64_t found[3]; /* the count, the time for which it was wanted, and that for which it counted */
    /* Programs close descriptors that are not theirs, and open files under the same number: these must not be read. */
    if (!perf_is(descriptor, number) || read(descriptor, found, sizeof found) != (ssize_t)sizeof found)
        return false;
    /* Wanted, but never counted: others have the processor's counters. */
    if (found[1] > 0 && found[2] == 0)
        *value = -1;
    else if (found[2] > 0 && found[2] < found[1])
        *value = (int64_t)((double)found[0] * ((double)found[1] / (double)found[2]));
    else
        *value = (int64_t)found[0];
    return true;
}
