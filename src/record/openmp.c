/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of OpenMP's parallel regions in programs without MPI: preloaded by `sight scaling --threads`. GCC's libgomp is
   called through the functions here, LLVM's libomp calls back (OMPT, OpenMP 5.0, chapter 4). A region is known by the
   address after its beginning. Nested regions are part of the outer one. What was found is written to the file that
   SIGHT_RECORD_OPENMP names, when the program ends:

       region CALLS THREADS TIME_NS WORK_NS ADDRESS MODULE

   THREADS is the most that a call had, TIME_NS that of all calls, WORK_NS of all threads of all calls, until they wait
   for the end of the region. The address is counted as in the file MODULE. */
#include "record/clock.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

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

static struct region regions[REGIONS];
static pid_t owner;
static struct clock_pair started;
static __thread unsigned depth;      /* of regions, on this thread */
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

/* NULL where it is not recorded: nested, or no memory. */
static struct call *call_begin(uintptr_t address)
{
    struct region *region = NULL;
    if (depth == 0)
        region = region_at(address);
    if (!region)
        return NULL;
    struct call *call = spare;
    if (!call)
        call = malloc(sizeof *call);
    if (!call)
        return NULL;
    spare = NULL;
    call->region = region;
    atomic_store(&call->threads, 0);
    call->begin = clock_entry();
    return call;
}

/* This thread takes part. */
static void call_join(struct call *call)
{
    unsigned index = atomic_fetch_add(&call->threads, 1);
    place = NULL;
    if (index >= THREADS)
        return;
    place = &call->places[index];
    place->begin = place->end = clock_entry();
}

/* And does nothing more, unless this is called again. */
static void call_leave(void)
{
    if (place)
        place->end = clock_entry();
}

static void call_end(struct call *call)
{
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

/* GCC: what a thread does, with our times around it. */
struct wrapped {
    void (*function)(void *);
    void *data;
    struct call *call;
};

static void run_wrapped(void *data)
{
    struct wrapped *wrapped = data;
    call_join(wrapped->call);
    depth++;
    wrapped->function(wrapped->data);
    depth--;
    call_leave();
    place = NULL;
}

/* GOMP_NAME(function, data, number of threads, what follows). */
#define GOMP(name, parameters, arguments)                                                                              \
    EXPORT void GOMP_##name parameters;                                                                                \
    EXPORT void GOMP_##name parameters                                                                                 \
    {                                                                                                                  \
        static _Atomic(void *) found;                                                                                  \
        void *symbol = atomic_load(&found);                                                                            \
        if (!symbol)                                                                                                   \
            atomic_store(&found, symbol = dlsym(RTLD_NEXT, "GOMP_" #name));                                            \
        void(*real) parameters;                                                                                        \
        *(void **)&real = symbol;                                                                                      \
        struct call *call = call_begin((uintptr_t)__builtin_return_address(0));                                        \
        struct wrapped wrapped = {function, data, call};                                                               \
        if (call) {                                                                                                    \
            function = run_wrapped;                                                                                    \
            data = &wrapped;                                                                                           \
        }                                                                                                              \
        real arguments;                                                                                                \
        if (call)                                                                                                      \
            call_end(call);                                                                                            \
    }
#define LOOP                                                                                                           \
    (void (*function)(void *), void *data, unsigned number, long start, long end, long step, long chunk, unsigned flags)
#define LOOP_WITH (function, data, number, start, end, step, chunk, flags)
#define LOOP_RUNTIME                                                                                                   \
    (void (*function)(void *), void *data, unsigned number, long start, long end, long step, unsigned flags)
#define LOOP_RUNTIME_WITH (function, data, number, start, end, step, flags)
GOMP(parallel, (void (*function)(void *), void *data, unsigned number, unsigned flags), (function, data, number, flags))
GOMP(parallel_loop_static, LOOP, LOOP_WITH)
GOMP(parallel_loop_dynamic, LOOP, LOOP_WITH)
GOMP(parallel_loop_guided, LOOP, LOOP_WITH)
GOMP(parallel_loop_nonmonotonic_dynamic, LOOP, LOOP_WITH)
GOMP(parallel_loop_nonmonotonic_guided, LOOP, LOOP_WITH)
GOMP(parallel_loop_runtime, LOOP_RUNTIME, LOOP_RUNTIME_WITH)
GOMP(parallel_loop_nonmonotonic_runtime, LOOP_RUNTIME, LOOP_RUNTIME_WITH)
GOMP(parallel_loop_maybe_nonmonotonic_runtime, LOOP_RUNTIME, LOOP_RUNTIME_WITH)
GOMP(parallel_sections, (void (*function)(void *), void *data, unsigned number, unsigned count, unsigned flags),
     (function, data, number, count, flags))

/* LLVM: the types and numbers of OpenMP 5.0, as far as they are needed. */
union data {
    uint64_t value;
    void *pointer;
};
enum { OMPT_PARALLEL_BEGIN = 3, OMPT_PARALLEL_END = 4, OMPT_IMPLICIT_TASK = 7, OMPT_SYNC_REGION = 23 };
enum { OMPT_SCOPE_BEGIN = 1, OMPT_TASK_INITIAL = 1 };

static void on_parallel_begin(union data *task, const void *frame, union data *parallel, unsigned requested, int flags,
                              const void *address)
{
    (void)task;
    (void)frame;
    (void)requested;
    (void)flags;
    parallel->pointer = call_begin((uintptr_t)address);
}

static void on_parallel_end(union data *parallel, union data *task, int flags, const void *address)
{
    (void)task;
    (void)flags;
    (void)address;
    struct call *call = parallel->pointer;
    parallel->pointer = NULL;
    if (!call)
        return;
    /* A single thread does not wait, and has no barrier: the end is the begin only if no barrier has set it. */
    if (place && place->end == place->begin)
        call_leave();
    depth = 0;
    place = NULL;
    call_end(call);
}

/* The end of a worker's task may come after the region's: it is not looked at. */
static void on_implicit_task(int scope, union data *parallel, union data *task, unsigned threads, unsigned index,
                             int flags)
{
    (void)task;
    (void)threads;
    (void)index;
    if (scope != OMPT_SCOPE_BEGIN || flags & OMPT_TASK_INITIAL || !parallel || !parallel->pointer)
        return;
    call_join(parallel->pointer);
    depth = 1;
}

/* Barriers within a region are work; the last is its end. */
static void on_sync_region(int kind, int scope, union data *parallel, union data *task, const void *address)
{
    (void)kind;
    (void)parallel;
    (void)task;
    (void)address;
    /* The last barrier of the region sets the end that counts; after one inside, the work goes on and the next one
       moves it. */
    if (scope == OMPT_SCOPE_BEGIN) {
        call_leave();
        depth = 0;
    } else {
        depth = place != NULL;
    }
}

static int ompt_begin(void (*(*lookup)(const char *))(void), int device, union data *data)
{
    (void)device;
    (void)data;
    int (*set)(int, void (*)(void)) = (int (*)(int, void (*)(void)))lookup("ompt_set_callback");
    if (!set)
        return 0;
    set(OMPT_PARALLEL_BEGIN, (void (*)(void))on_parallel_begin);
    set(OMPT_PARALLEL_END, (void (*)(void))on_parallel_end);
    set(OMPT_IMPLICIT_TASK, (void (*)(void))on_implicit_task);
    set(OMPT_SYNC_REGION, (void (*)(void))on_sync_region);
    return 1;
}

static void ompt_end(union data *data)
{
    (void)data;
}

struct ompt_start {
    int (*begin)(void (*(*lookup)(const char *))(void), int device, union data *data);
    void (*end)(union data *data);
    union data data;
};

/* libomp looks for this in what is preloaded. */
EXPORT struct ompt_start *ompt_start_tool(unsigned version, const char *runtime);
EXPORT struct ompt_start *ompt_start_tool(unsigned version, const char *runtime)
{
    static struct ompt_start start = {ompt_begin, ompt_end, {0}};
    (void)version;
    (void)runtime;
    return &start;
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
