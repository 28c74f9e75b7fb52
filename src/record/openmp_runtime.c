/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/openmp_runtime.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static __thread unsigned depth; /* of regions of libgomp, on this thread */

/* GCC: what a thread does, with our notes around it. */
struct wrapped {
    void (*function)(void *);
    void *data;
    uint64_t team;           /* 0: not recorded */
    const unsigned *masters; /* the master's `depth`: no other thread has it at this address */
};

static void run_wrapped(void *data)
{
    struct wrapped *wrapped = data;
    bool master = wrapped->masters == &depth;
    if (wrapped->team)
        openmp_join(wrapped->team, master);
    depth++;
    wrapped->function(wrapped->data);
    depth--;
    if (wrapped->team)
        openmp_idle(wrapped->team, master);
}

/* In a library that is loaded already, and those that it needs. */
static void *find_in(const char *file, const char *name)
{
    void *library = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
    void *symbol = library ? dlsym(library, name) : NULL;
    if (library)
        dlclose(library);
    return symbol;
}

/* The library stays, whatever the program closes: its threads wait in it for the next region. */
static void pin(const char *file)
{
    void *library = dlopen(file, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    if (library)
        dlclose(library);
}

/* The runtime's own function. *ours: it is libgomp's, which is pinned; LLVM's runtime has the same functions, and shows
   their regions itself. *for_all: the whole program has this one. A module that the program loaded for itself may have
   brought a runtime that is not among the next, and another module another one: the right one is that of the region's
   code. */
static void *find_real(const char *name, void (*region)(void *), bool *ours, bool *for_all)
{
    void *symbol = dlsym(RTLD_NEXT, name), *code;
    Dl_info about;
    *(void (**)(void *)) & code = region;
    *for_all = symbol != NULL;
    if (!symbol && dladdr(code, &about) && about.dli_fname)
        symbol = find_in(about.dli_fname, name);
    if (!symbol)
        symbol = find_in("libgomp.so.1", name);
    if (!symbol)
        symbol = find_in("libomp.so.5", name);
    /* Nothing else could be called instead. */
    if (!symbol)
        abort();
    *ours = dladdr(symbol, &about) && about.dli_fname && strstr(about.dli_fname, "libgomp");
    if (*ours)
        pin(about.dli_fname);
    return symbol;
}

/* Prepares the call of a region: without a team, and not nested, it is made as the program makes it. */
static bool wrap(struct wrapped *wrapped, void (*function)(void *), void *data)
{
    /* The call has no line of its own in GCC's debug information, the function has that of the directive. + 1: as if it
       returned there. */
    uint64_t team = depth == 0 ? openmp_begin((uintptr_t)function + 1) : 0;
    *wrapped = (struct wrapped){function, data, team, &depth};
    return team || depth > 0;
}

/* GOMP_NAME(function, data, number of threads, what follows). GOMP_parallel_reductions is not among them: libgomp takes
   the first word of its data for a table. */
#define GOMP(name, parameters, arguments)                                                                              \
    EXPORT void GOMP_##name parameters;                                                                                \
    EXPORT void GOMP_##name parameters                                                                                 \
    {                                                                                                                  \
        static void *found;                                                                                            \
        static bool is_libgomp;                                                                                        \
        void *symbol = __atomic_load_n(&found, __ATOMIC_ACQUIRE);                                                      \
        bool ours = __atomic_load_n(&is_libgomp, __ATOMIC_RELAXED), for_all = false;                                   \
        if (__builtin_expect(!symbol, 0))                                                                              \
            symbol = find_real("GOMP_" #name, function, &ours, &for_all);                                              \
        if (__builtin_expect(for_all, 0)) {                                                                            \
            __atomic_store_n(&is_libgomp, ours, __ATOMIC_RELAXED);                                                     \
            __atomic_store_n(&found, symbol, __ATOMIC_RELEASE);                                                        \
        }                                                                                                              \
        void(*real) parameters;                                                                                        \
        *(void **)&real = symbol;                                                                                      \
        struct wrapped wrapped = {0};                                                                                  \
        if (ours && wrap(&wrapped, function, data)) {                                                                  \
            function = run_wrapped;                                                                                    \
            data = &wrapped;                                                                                           \
        }                                                                                                              \
        real arguments;                                                                                                \
        if (wrapped.team)                                                                                              \
            openmp_end(wrapped.team);                                                                                  \
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
enum { OMPT_BARRIER_IMPLICIT = 2, OMPT_BARRIER_OF_PARALLEL = 9 };

static __thread uint64_t led; /* the team whose master this thread is */

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

/* libomp looks for this in what is preloaded. Another tool of the program goes first: there can be only one. */
EXPORT struct ompt_start *ompt_start_tool(unsigned version, const char *runtime);
EXPORT struct ompt_start *ompt_start_tool(unsigned version, const char *runtime)
{
    static struct ompt_start start = {ompt_begin, ompt_end, {0}};
    struct ompt_start *(*next)(unsigned, const char *) = NULL;
    *(void **)&next = dlsym(RTLD_NEXT, "ompt_start_tool");
    struct ompt_start *other = next ? next(version, runtime) : NULL;
    if (other)
        return other;
    const char *tools = getenv("OMP_TOOL_LIBRARIES");
    return tools && *tools ? NULL : &start;
}
