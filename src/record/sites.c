/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/sites.h"

#include "record/library_call.h"
#include "record/python.h"
#include "record/wrapped.h"

#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SITES_FIRST = 128, SITES_MAX = 1 << 16 }; /* slots; half of them are used at most */

/* Every table begins as this empty one. */
static struct site no_sites[1];

void sites_start(struct location *location)
{
    location->sites = no_sites;
    location->site_mask = 0;
    location->site_count = 0;
}

/* The slot of a site, or a free one for it. With `outer` 0 it is the slot of the place itself, even if its callers have
   sites of their own. */
static struct site *slot_of(struct location *location, uintptr_t caller, uintptr_t outer, uint32_t call)
{
    struct site *sites = location->sites;
    size_t at = site_slot(caller, outer, call) & location->site_mask;
    while (sites[at].number && (sites[at].caller != caller || sites[at].call != call ||
                                (sites[at].outer < SITE_OUTER_LEAST ? 0 : sites[at].outer) != outer))
        at = (at + 1) & location->site_mask;
    return &sites[at];
}

static bool make_room(struct location *location)
{
    uint32_t slots = location->sites == no_sites ? 0 : location->site_mask + 1;
    if (2 * (location->site_count + 1) <= slots)
        return true;
    uint32_t wanted = slots ? 2 * slots : SITES_FIRST;
    struct site *sites = wanted <= SITES_MAX ? calloc(wanted, sizeof *sites) : NULL, *before = location->sites;
    if (!sites)
        return false;
    location->sites = sites;
    location->site_mask = wanted - 1;
    for (uint32_t i = 0; i < slots; i++)
        if (before[i].number)
            *slot_of(location, before[i].caller, before[i].outer < SITE_OUTER_LEAST ? 0 : before[i].outer,
                     before[i].call) = before[i];
    if (slots)
        free(before);
    return true;
}

/* The file of code that an address is in. */
struct code {
    uintptr_t address, base;
    char path[PATH_MAX];
};

static int code_look(struct dl_phdr_info *file, size_t size, void *context)
{
    struct code *code = context;
    (void)size;
    for (size_t i = 0; i < file->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &file->dlpi_phdr[i];
        uintptr_t begin = file->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD || code->address < begin || code->address - begin >= segment->p_memsz)
            continue;
        code->base = file->dlpi_addr;
        if (!realpath(*file->dlpi_name ? file->dlpi_name : "/proc/self/exe", code->path))
            code->path[0] = '\0';
        return 1;
    }
    return 0;
}

/* Puts the file of code that an address is in behind a definition of `head` bytes; its whole size. */
static size_t put_code(uintptr_t address, uint64_t *offset, char *path, size_t head)
{
    struct code code = {.address = address};
    dl_iterate_phdr(code_look, &code);
    *offset = code.address - code.base;
    size_t length = strlen(code.path);
    if (length >= RECORD_PATH_SIZE)
        length = 0;
    memcpy(path, code.path, length);
    return (head + length + 8) / 8 * 8;
}

static void define(struct location *location, const struct site *site, int64_t ticks)
{
    const size_t head = offsetof(struct record_site, path);
    uint32_t comm = site->call & ((1 << SITE_COMM_BITS) - 1);
    struct record_site record = {.base = {.ticks = ticks},
                                 .offset = site->caller,
                                 .number = site->number,
                                 .function = site->call >> SITE_COMM_BITS};
    size_t size = site->caller & RECORD_PYTHON_ADDRESS
                      ? (head + 8) / 8 * 8
                      : put_code(site->caller & ~(uintptr_t)PYTHON_NO_PLACE, &record.offset, record.path, head);
    location_define(location, &record, size, RECORD_DEFINE_SITE, comm < RECORD_SHORT_COMMS ? comm : RECORD_COMM_NONE);
}

static void define_outer(struct location *location, const struct site *site, int64_t ticks)
{
    struct record_outer record = {.base = {.ticks = ticks}, .number = site->number};
    size_t size = put_code(site->outer, &record.offset, record.path, offsetof(struct record_outer, path));
    location_define(location, &record, size, RECORD_DEFINE_OUTER, RECORD_WORLD);
}

/* A new one, which is to be defined before it is used. NULL: it cannot be kept. */
static struct site *add(struct location *location, uintptr_t caller, uintptr_t outer, uint32_t call)
{
    if (!make_room(location))
        return NULL;
    struct site *site = slot_of(location, caller, outer, call);
    *site = (struct site){.caller = caller, .outer = outer, .call = call, .number = ++location->site_count};
    location_note_used(location, call >> SITE_COMM_BITS);
    return site;
}

static struct site *add_outer(struct location *location, uintptr_t caller, uintptr_t outer, uint32_t call,
                              int64_t ticks)
{
    struct site *site = add(location, caller, outer, call);
    if (site) {
        define(location, site, ticks);
        define_outer(location, site, ticks);
    }
    return site;
}

/* From now on the callers of a place are not told apart. */
static struct site *define_plain(struct location *location, struct site *site, int64_t ticks)
{
    site->outer = 0;
    define(location, site, ticks);
    return site;
}

/* The site of a call by a library, of which `site` is the place. */
static struct site *site_of_library(struct location *location, struct site *site, const uintptr_t *stack, int64_t ticks)
{
    uintptr_t caller = site->caller, outer = library_call_outer(location, caller, stack);
    uint32_t call = site->call;
    struct site *known = outer ? slot_of(location, caller, outer, call) : NULL;
    if (known && known->number)
        return known;
    outer = library_call_unwind(location, caller, stack);
    known = outer ? slot_of(location, caller, outer, call) : NULL;
    if (known && known->number)
        return known;
    bool few = site_outers(site) < SITE_OUTERS_MAX;
    site->outer += 1 << SITE_DEPTH_BITS;
    struct site *added = known && few ? add_outer(location, caller, outer, call, ticks) : NULL;
    return added ? added : define_plain(location, slot_of(location, caller, 0, call), ticks);
}

/* The site of a call by way of a small function, of which `site` is the place. */
static struct site *site_of_outer(struct location *location, struct site *site, const uintptr_t *stack, int64_t ticks)
{
    uintptr_t caller = site->caller, outer = stack[site_depth(site) / sizeof *stack];
    uint32_t call = site->call;
    struct site *known = outer >= SITE_OUTER_LEAST ? slot_of(location, caller, outer, call) : NULL;
    if (known && known->number)
        return known;
    uint32_t outers = site_outers(site);
    if (outers > SITE_OUTERS_MAX)
        return site;
    site->outer += 1 << SITE_DEPTH_BITS;
    if (outers == SITE_OUTERS_MAX) {
        define(location, site, ticks);
        return site;
    }
    /* What was found at this place of the stack so far was one of the few addresses that are known to be right. */
    bool same = wrapped_depth(stack) == site_depth(site);
    struct site *added = known && same ? add_outer(location, caller, outer, call, ticks) : NULL;
    return added ? added : define_plain(location, slot_of(location, caller, 0, call), ticks);
}

/* The site of a call from a place that has one. */
static struct site *site_again(struct location *location, struct site *site, const uintptr_t *stack, int64_t ticks)
{
    if (site->outer == 0)
        return site;
    if (!stack)
        return define_plain(location, site, ticks);
    return site_depth(site) == SITE_DEPTH_LIBRARY ? site_of_library(location, site, stack, ticks)
                                                  : site_of_outer(location, site, stack, ticks);
}

/* How the callers of a place are told apart: struct site's `outer`. */
static uintptr_t outer_of(const uintptr_t *stack, uint32_t call)
{
    uint32_t depth = wrapped_depth(stack);
    bool library = call >> SITE_COMM_BITS < RECORD_OPENMP_REGION && !library_call_is_own(*stack);
    return depth == 0 && library ? SITE_DEPTH_LIBRARY : depth;
}

struct site *site_find(struct location *location, uintptr_t caller, const uintptr_t *stack, uint32_t call,
                       int64_t ticks)
{
    /* A library stands between: Fortran's, or Python's. */
    if (stack && *stack != caller)
        stack = NULL;
    struct site *site = slot_of(location, caller, 0, call);
    if (site->number)
        return site_again(location, site, stack, ticks);
    /* Calls from a module of Python never have its code as their place, so that they always come here. A parallel
       region is its code in all of its threads, most of which Python does not know. */
    if (call >> SITE_COMM_BITS < RECORD_OPENMP_REGION)
        caller = python_caller(location, caller, ticks);
    site = slot_of(location, caller, 0, call);
    if (site->number)
        return site;
    site = add(location, caller, 0, call);
    if (!site)
        return NULL;
    if (stack && *stack == caller)
        site->outer = outer_of(stack, call);
    return site->outer ? site_again(location, site, stack, ticks) : define_plain(location, site, ticks);
}
