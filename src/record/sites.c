/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/sites.h"

#include "record/python.h"

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

/* The slot of a site, or the free one for it. */
static struct site *slot_of(struct site *sites, uint32_t mask, uintptr_t caller, uint32_t call)
{
    size_t at = site_slot(caller, call) & mask;
    while (sites[at].number && (sites[at].caller != caller || sites[at].call != call))
        at = (at + 1) & mask;
    return &sites[at];
}

static bool make_room(struct location *location)
{
    uint32_t slots = location->sites == no_sites ? 0 : location->site_mask + 1;
    if (2 * (location->site_count + 1) <= slots)
        return true;
    uint32_t wanted = slots ? 2 * slots : SITES_FIRST;
    struct site *sites = wanted <= SITES_MAX ? calloc(wanted, sizeof *sites) : NULL;
    if (!sites)
        return false;
    for (uint32_t i = 0; i < slots; i++)
        if (location->sites[i].number)
            *slot_of(sites, wanted - 1, location->sites[i].caller, location->sites[i].call) = location->sites[i];
    if (slots)
        free(location->sites);
    location->sites = sites;
    location->site_mask = wanted - 1;
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

static void define(struct location *location, const struct site *site, int64_t ticks)
{
    bool python = site->caller & RECORD_PYTHON_ADDRESS;
    struct code code = {.address = python ? site->caller : site->caller & ~(uintptr_t)PYTHON_NO_PLACE};
    uint32_t comm = site->call & ((1 << SITE_COMM_BITS) - 1);
    if (!python)
        dl_iterate_phdr(code_look, &code);
    size_t length = strlen(code.path);
    struct record_site record = {.base = {.ticks = ticks},
                                 .offset = code.address - code.base,
                                 .number = site->number,
                                 .function = site->call >> SITE_COMM_BITS};
    if (length >= sizeof record.path)
        length = 0;
    memcpy(record.path, code.path, length);
    size_t size = (offsetof(struct record_site, path) + length + 8) / 8 * 8;
    location_define(location, &record, size, RECORD_DEFINE_SITE, comm < RECORD_SHORT_COMMS ? comm : RECORD_COMM_NONE);
}

struct site *site_find(struct location *location, uintptr_t caller, uint32_t call, int64_t ticks)
{
    struct site *site = slot_of(location->sites, location->site_mask, caller, call);
    if (site->number)
        return site;
    /* Calls from a module of Python never have its code as their place, so that they always come here. A parallel
       region is its code in all of its threads, most of which Python does not know. */
    if (call >> SITE_COMM_BITS < RECORD_OPENMP_REGION)
        caller = python_caller(location, caller, ticks);
    site = slot_of(location->sites, location->site_mask, caller, call);
    if (site->number)
        return site;
    if (!make_room(location))
        return NULL;
    site = slot_of(location->sites, location->site_mask, caller, call);
    *site = (struct site){.caller = caller, .call = call, .number = ++location->site_count};
    location_note_used(location, call >> SITE_COMM_BITS);
    define(location, site, ticks);
    return site;
}
