/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of OpenMP's parallel regions in programs without MPI: preloaded by `sight scaling --threads`. A region is known
   by the address after its beginning. What was found is written to the file that SIGHT_RECORD_OPENMP names, when the
   program ends:

       region CALLS THREADS TIME_NS WORK_NS ADDRESS MODULE

   THREADS is the most that a call had, TIME_NS that of all calls, WORK_NS of all threads of all calls, until they wait
   for the end of the region. The address is counted as in the file MODULE. */
#include "../../include/sight.h"

#include "record/clock.h"
#include "record/openmp_runtime.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { REGIONS = 4096, THREADS = 1024 };

/* Times are ticks of the clock. */
struct region {
    _Atomic uintptr_t address; /* 0: free */
    _Atomic int64_t calls, time, work;
    _Atomic unsigned threads;
};

/* One execution of a region. Each thread has a place of its own, a cache line: writing to a shared one would slow down
   the very region that is measured. */
struct place {
    _Alignas(64) int64_t begin, end;
};
struct call {
    struct region *region;
    int64_t begin;
    _Atomic unsigned threads;
    struct place places[THREADS];
};

static __thread unsigned marked;              /* regions of sight.h that are open on this thread */
static __thread struct region *marked_region; /* the outermost */
static __thread int64_t marked_begin;
static struct region regions[REGIONS];
static pid_t owner;
static struct clock_pair started;
static __thread struct place *place; /* of this thread in the call it is part of */
static __thread struct call *spare;  /* of the last call, for the next one */

/* NULL where there are too many. */
static struct region *region_at(uintptr_t address)
{
    /* Open addressing without removal: an address once stored stays, so that compare-and-swap is all the locking
       needed. */
    for (size_t i = 0, at = address >> 2; i < REGIONS; i++, at++) {
        struct region *region = &regions[at % REGIONS];
        uintptr_t found = 0;
        if (atomic_compare_exchange_strong(&region->address, &found, address) || found == address)
            return region;
    }
    return NULL;
}

uint64_t openmp_begin(uintptr_t address)
{
    /* What the program has marked contains the rest, and is not counted twice. */
    struct region *region = marked == 0 ? region_at(address) : NULL;
    struct call *call = spare;
    if (!region || (!call && !(call = malloc(sizeof *call))))
        return 0;
    spare = NULL;
    call->region = region;
    atomic_store(&call->threads, 0);
    call->begin = clock_entry();
    return (uint64_t)(uintptr_t)call;
}

uintptr_t openmp_address(uint64_t team)
{
    return atomic_load(&((struct call *)(uintptr_t)team)->region->address);
}

void openmp_join(uint64_t team, bool master)
{
    struct call *call = (struct call *)(uintptr_t)team;
    unsigned index = atomic_fetch_add(&call->threads, 1);
    (void)master;
    place = NULL;
    if (index >= THREADS)
        return;
    place = &call->places[index];
    place->begin = place->end = clock_entry();
}

void openmp_idle(uint64_t team, bool master)
{
    (void)team;
    (void)master;
    if (place)
        place->end = clock_entry();
    place = NULL;
}

void openmp_end(uint64_t team)
{
    struct call *call = (struct call *)(uintptr_t)team;
    /* A single thread does not wait, and is never idle. */
    openmp_idle(team, true);
    int64_t time = clock_entry() - call->begin, work = 0;
    unsigned threads = atomic_load(&call->threads), most = atomic_load(&call->region->threads);
    for (unsigned i = 0; i < threads && i < THREADS; i++)
        work += call->places[i].end - call->places[i].begin;
    atomic_fetch_add(&call->region->calls, 1);
    atomic_fetch_add(&call->region->time, time);
    atomic_fetch_add(&call->region->work, work);
    /* Another thread may have stored more meanwhile: the exchange fails, and `most` is what it stored. */
    while (threads > most && !atomic_compare_exchange_weak(&call->region->threads, &most, threads))
        continue;
    /* It is never freed: a thread of libomp may look at its place once more. */
    spare = call;
}

static void mark_begin(uintptr_t address)
{
    if (marked++ > 0)
        return;
    /* Other threads, and this one within a directive's region, are part of a region already. */
    marked_region = place || gettid() != owner ? NULL : region_at(address);
    marked_begin = clock_entry();
}

static void mark_end(void)
{
    struct region *region = marked_region;
    if (marked == 0 || --marked > 0 || !region)
        return;
    int64_t time = clock_entry() - marked_begin;
    unsigned none = 0;
    atomic_fetch_add(&region->calls, 1);
    atomic_fetch_add(&region->time, time);
    /* Who waits in it is not known: nobody. */
    atomic_fetch_add(&region->work, time);
    atomic_compare_exchange_strong(&region->threads, &none, 1);
}

/* The regions of sight.h, and as Fortran calls them. */
#define EXPORT __attribute__((visibility("default")))
EXPORT void sight_region_begin(const char *name)
{
    (void)name;
    mark_begin((uintptr_t)__builtin_return_address(0));
}

EXPORT void sight_region_end(const char *name)
{
    (void)name;
    mark_end();
}

EXPORT void sight_region_begin_(const char *name, size_t length)
{
    (void)name;
    (void)length;
    mark_begin((uintptr_t)__builtin_return_address(0));
}

EXPORT void sight_region_end_(const char *name, size_t length)
{
    (void)name;
    (void)length;
    mark_end();
}

__attribute__((constructor)) static void begin(void)
{
    owner = getpid();
    clock_start(CLOCK_AUTO);
    started = clock_read();
}

/* Both clocks were read as the program began, and now. */
static long long ns_of(int64_t ticks, struct clock_pair now)
{
    double elapsed = (double)(now.ticks - started.ticks);
    if (elapsed <= 0)
        return 0;
    return (long long)((double)ticks * (double)(now.ns - started.ns) / elapsed);
}

/* Children of the program that did not start another one do not write. */
__attribute__((destructor)) static void write_regions(void)
{
    const char *path = getenv("SIGHT_RECORD_OPENMP");
    struct clock_pair now = clock_read();
    FILE *file = NULL;
    for (size_t i = 0; path && getpid() == owner && i < REGIONS; i++) {
        uintptr_t address = atomic_load(&regions[i].address);
        Dl_info about;
        struct link_map *map = NULL;
        /* - 1: the address is that after the call, which may belong to the next function. */
        if (!address || !dladdr1((void *)(address - 1), &about, (void **)&map, RTLD_DL_LINKMAP) || !map)
            continue;
        /* Only with a region to write: a program without OpenMP leaves no file. */
        if (!file && !(file = fopen(path, "we")))
            return;
        fprintf(file, "region %lld %u %lld %lld %llu %s\n", (long long)regions[i].calls, regions[i].threads,
                ns_of(regions[i].time, now), ns_of(regions[i].work, now),
                (unsigned long long)(address - 1 - map->l_addr), *map->l_name ? map->l_name : about.dli_fname);
    }
    if (file)
        fclose(file);
}
