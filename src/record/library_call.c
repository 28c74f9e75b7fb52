/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/library_call.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <unwind.h>

/* More levels, or larger frames, are taken for a broken stack. The ways of one location are searched one by one. */
enum { STEPS_MOST = 24, FRAME_MOST = 1 << 16, WAYS_MOST = 64 };

/* Return addresses, in bytes above that of the call of MPI; the last one is in the program. */
struct library_way {
    struct library_way *next;
    uintptr_t caller;
    uint32_t count;
    struct {
        uint32_t depth;
        uintptr_t address;
    } step[STEPS_MOST];
};

static int find_own(struct dl_phdr_info *file, size_t size, void *context)
{
    uintptr_t *range = context;
    (void)size;
    for (size_t i = 0; i < file->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &file->dlpi_phdr[i];
        uintptr_t begin = file->dlpi_addr + segment->p_vaddr, end = begin + segment->p_memsz;
        if (segment->p_type != PT_LOAD)
            continue;
        range[0] = range[0] == 0 || begin < range[0] ? begin : range[0];
        range[1] = end > range[1] ? end : range[1];
    }
    return 1; /* the program comes first */
}

bool library_call_is_own(uintptr_t address)
{
    static uintptr_t begin, end;
    uintptr_t last = __atomic_load_n(&end, __ATOMIC_ACQUIRE);
    if (last == 0) {
        uintptr_t range[2] = {0};
        dl_iterate_phdr(find_own, range);
        last = range[1];
        __atomic_store_n(&begin, range[0], __ATOMIC_RELAXED);
        __atomic_store_n(&end, last, __ATOMIC_RELEASE);
    }
    return address >= __atomic_load_n(&begin, __ATOMIC_RELAXED) && address < last;
}

static uintptr_t at(const uintptr_t *stack, uint32_t depth)
{
    return stack[depth / sizeof *stack];
}

/* Each address is looked at only where the one before is right. */
static uintptr_t outer_by(const struct library_way *way, const uintptr_t *stack)
{
    uint32_t last = way->count - 1;
    for (uint32_t i = 0; i < last; i++)
        if (at(stack, way->step[i].depth) != way->step[i].address)
            return 0;
    uintptr_t outer = at(stack, way->step[last].depth);
    return library_call_is_own(outer) ? outer : 0;
}

/* A function with an array of variable length may have a smaller frame this time: then the way leads beyond the last
   frame. What is read must be in the thread's stack; on one of another kind, as coroutines have, nothing is. */
static bool is_in_stack(const struct location *location, const struct library_way *way, const uintptr_t *stack)
{
    uintptr_t at = (uintptr_t)stack;
    return at >= location->stack_begin && at < location->stack_end &&
           location->stack_end - at >= way->step[way->count - 1].depth + sizeof *stack;
}

static void find_stack(struct location *location)
{
    int before = errno;
    pthread_attr_t attributes;
    void *begin;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &begin, &size) == 0) {
            location->stack_begin = (uintptr_t)begin;
            location->stack_end = (uintptr_t)begin + size;
        }
        pthread_attr_destroy(&attributes);
    }
    errno = before;
}

uintptr_t library_call_outer(const struct location *location, uintptr_t caller, const uintptr_t *stack)
{
    uintptr_t outer = 0;
    for (const struct library_way *way = location->ways; way && !outer; way = way->next)
        if (way->caller == caller && is_in_stack(location, way, stack))
            outer = outer_by(way, stack);
    return outer;
}

struct search {
    const uintptr_t *stack;
    struct library_way way;
    bool calling, found;
};

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *argument)
{
    struct search *search = argument;
    struct library_way *way = &search->way;
    uintptr_t low = _Unwind_GetCFA(context), begin = (uintptr_t)(search->stack + 1); /* as in wrapped.c */
    if (!search->calling) {
        search->calling = low == begin;
        return low > begin ? _URC_END_OF_STACK : _URC_NO_REASON;
    }
    uintptr_t depth = low - begin, before = way->count ? way->step[way->count - 1].depth : 0;
    uintptr_t address = _Unwind_GetIP(context);
    if (depth <= before || depth - before > FRAME_MOST || depth % sizeof *search->stack != 0 ||
        at(search->stack, (uint32_t)depth) != address)
        return _URC_END_OF_STACK;
    way->step[way->count].depth = (uint32_t)depth;
    way->step[way->count++].address = address;
    search->found = library_call_is_own(address);
    return search->found || way->count == STEPS_MOST ? _URC_END_OF_STACK : _URC_NO_REASON;
}

uintptr_t library_call_unwind(struct location *location, uintptr_t caller, const uintptr_t *stack)
{
    struct search search = {.stack = stack, .way = {.next = location->ways, .caller = caller}};
    _Unwind_Backtrace(on_frame, &search);
    if (!search.found)
        return 0;
    if (!location->ways)
        find_stack(location);
    uintptr_t outer = search.way.step[search.way.count - 1].address;
    if (library_call_outer(location, caller, stack) == outer)
        return outer;
    struct library_way *way = location->way_count < WAYS_MOST ? malloc(sizeof *way) : NULL;
    if (!way)
        return 0;
    *way = search.way;
    location->ways = way;
    location->way_count++;
    return outer;
}
