/* SPDX-License-Identifier: BSD-3-Clause */
/* GCC's libgomp is called through these functions. */
#include "record/openmp_runtime.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static __thread unsigned depth OPENMP_OWN; /* of regions of libgomp, on this thread */

/* What a thread does, with our notes around it. */
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

/* Prepares the call of a region: without a team, and not nested, it is made as the program makes it. */
static bool wrap(struct wrapped *wrapped, void (*function)(void *), void *data)
{
    /* The call has no line of its own in GCC's debug information, the function has that of the directive. + 1: as if it
       returned there. */
    uint64_t team = depth == 0 ? openmp_begin((uintptr_t)function + 1) : 0;
    *wrapped = (struct wrapped){function, data, team, &depth};
    return team || depth > 0;
}

/* Calls the runtime's own function, `real`. */
#define CALL(ours, real, arguments)                                                                                    \
    struct wrapped wrapped = {0};                                                                                      \
    if ((ours) && wrap(&wrapped, function, data)) {                                                                    \
        function = run_wrapped;                                                                                        \
        data = &wrapped;                                                                                               \
    }                                                                                                                  \
    real arguments;                                                                                                    \
    if (wrapped.team)                                                                                                  \
        openmp_end(wrapped.team);

#define PLAIN_PARAMETERS (void (*function)(void *), void *data, unsigned number, unsigned flags)
#define PLAIN_ARGUMENTS (function, data, number, flags)
#define LOOP_PARAMETERS                                                                                                \
    (void (*function)(void *), void *data, unsigned number, long start, long end, long step, long chunk, unsigned flags)
#define LOOP_ARGUMENTS (function, data, number, start, end, step, chunk, flags)
#define LOOP_RUNTIME_PARAMETERS                                                                                        \
    (void (*function)(void *), void *data, unsigned number, long start, long end, long step, unsigned flags)
#define LOOP_RUNTIME_ARGUMENTS (function, data, number, start, end, step, flags)
#define SECTIONS_PARAMETERS (void (*function)(void *), void *data, unsigned number, unsigned count, unsigned flags)
#define SECTIONS_ARGUMENTS (function, data, number, count, flags)

#ifdef RECORD_STATIC

/* The program is linked with --wrap for each of these names (`sight record --link`): what it calls is __wrap_NAME, and
   __real_NAME is the runtime's, which may be linked statically as well. References to what libgomp has had for long
   bring it in; others must not fail where it is older. */
#define BINDING_OLD
#define BINDING_NEW __attribute__((weak))
/* LLVM's runtime has the same functions, and shows their regions itself. */
extern const char __kmpc_fork_call[] __attribute__((weak));
#define GOMP(name, age, shape)                                                                                         \
    extern void __real_GOMP_##name shape##_PARAMETERS BINDING_##age;                                                   \
    void __wrap_GOMP_##name shape##_PARAMETERS;                                                                        \
    void __wrap_GOMP_##name shape##_PARAMETERS                                                                         \
    {                                                                                                                  \
        CALL(!__kmpc_fork_call, __real_GOMP_##name, shape##_ARGUMENTS)                                                 \
    }

#else

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

#define GOMP(name, age, shape)                                                                                         \
    __attribute__((visibility("default"))) void GOMP_##name shape##_PARAMETERS;                                        \
    void GOMP_##name shape##_PARAMETERS                                                                                \
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
        void(*real) shape##_PARAMETERS;                                                                                \
        *(void **)&real = symbol;                                                                                      \
        CALL(ours, real, shape##_ARGUMENTS)                                                                            \
    }

#endif

#include "record/gomp.def"
