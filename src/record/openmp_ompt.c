/* SPDX-License-Identifier: BSD-3-Clause */
/* LLVM's libomp calls back: OMPT, as far as it is needed. */
#include "record/openmp_runtime.h"
#include "record/settings.h"

#include <dlfcn.h>
#include <stdlib.h>

/* The types and numbers of OpenMP 5.0. */
union data {
    uint64_t value;
    void *pointer;
};
enum { OMPT_PARALLEL_BEGIN = 3, OMPT_PARALLEL_END = 4, OMPT_IMPLICIT_TASK = 7, OMPT_SYNC_REGION = 23 };
enum { OMPT_SCOPE_BEGIN = 1, OMPT_TASK_INITIAL = 1 };
enum { OMPT_BARRIER_IMPLICIT = 2, OMPT_BARRIER_OF_PARALLEL = 9 };

static __thread uint64_t led OPENMP_OWN; /* the team whose master this thread is */

/* A task within a region has a value. */
static void on_parallel_begin(union data *task, const void *frame, union data *parallel, unsigned requested, int flags,
                              const void *address)
{
    (void)frame;
    (void)requested;
    (void)flags;
    parallel->value = led || (task && task->value) ? 0 : openmp_begin((uintptr_t)address);
    if (parallel->value)
        led = parallel->value;
}

static void on_parallel_end(union data *parallel, union data *task, int flags, const void *address)
{
    (void)task;
    (void)flags;
    (void)address;
    uint64_t team = parallel->value;
    parallel->value = 0;
    if (!team)
        return;
    led = 0;
    openmp_end(team);
}

/* The end of a worker's task may come after the region's: it is not looked at. */
static void on_implicit_task(int scope, union data *parallel, union data *task, unsigned threads, unsigned index,
                             int flags)
{
    (void)threads;
    (void)index;
    if (scope != OMPT_SCOPE_BEGIN || flags & OMPT_TASK_INITIAL || !parallel)
        return;
    if (task)
        task->value = 1;
    if (parallel->value)
        openmp_join(parallel->value, led == parallel->value);
}

/* Barriers within a region are work; the last is its end. Before OpenMP 5.1 gave it a kind of its own, it is known by
   its place: the region's on the master, none on other threads. */
static void on_sync_region(int kind, int scope, union data *parallel, union data *task, const void *address)
{
    (void)task;
    if (scope != OMPT_SCOPE_BEGIN || !parallel || !parallel->value)
        return;
    bool last = kind == OMPT_BARRIER_IMPLICIT && (!address || (uintptr_t)address == openmp_address(parallel->value));
    if (kind == OMPT_BARRIER_OF_PARALLEL || last)
        openmp_idle(parallel->value, led == parallel->value);
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

#ifdef RECORD_STATIC
/* The program contains the recorder whether it is recorded or not. */
static bool is_wanted(void)
{
    const char *directory = settings_text("SIGHT_RECORD_DIR");
    return directory && *directory;
}
#else
static bool is_wanted(void)
{
    return true;
}
#endif

/* libomp looks for this in the program and in what is preloaded. Another tool of the program goes first: there can be
   only one. */
__attribute__((visibility("default"))) struct ompt_start *ompt_start_tool(unsigned version, const char *runtime);
struct ompt_start *ompt_start_tool(unsigned version, const char *runtime)
{
    static struct ompt_start start = {ompt_begin, ompt_end, {0}};
    struct ompt_start *(*next)(unsigned, const char *) = NULL;
    *(void **)&next = dlsym(RTLD_NEXT, "ompt_start_tool");
    struct ompt_start *other = next ? next(version, runtime) : NULL;
    if (other || !is_wanted())
        return other;
    const char *tools = getenv("OMP_TOOL_LIBRARIES");
    return tools && *tools ? NULL : &start;
}
