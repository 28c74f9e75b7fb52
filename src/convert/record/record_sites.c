/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/record/record_sites.h"

#include "convert/record/source_lines.h"
#include "core/memory.h"

#include <string.h>

/* Module and offset are one key of 62 bits. */
enum { MODULES_MAX = 1 << 16, OFFSET_BITS = 46 };

static uint32_t module_of(struct record_run *run, const char *path)
{
    for (size_t i = 0; i < run->module_count; i++)
        if (strcmp(run->modules[i], path) == 0)
            return (uint32_t)i;
    ARRAY_PUSH(run->modules, run->module_count, run->module_capacity, memory_copy_string(path));
    return (uint32_t)run->module_count - 1;
}

uint32_t record_sites_place(struct record_run *run, const char *path, uint64_t offset)
{
    if (offset >> OFFSET_BITS || run->module_count >= MODULES_MAX)
        return 0;
    uint32_t module = module_of(run, path);
    uint64_t *known = map_put(&run->place_of, (uint64_t)module << OFFSET_BITS | offset, 0);
    if (*known == 0) {
        ARRAY_PUSH(run->places, run->place_count, run->place_capacity,
                   (struct record_place){.module = module, .offset = offset});
        *known = run->place_count;
    }
    return (uint32_t)*known;
}

void record_sites_define(struct record_run *run, struct record_file *file, struct record_site *site)
{
    site->path[sizeof site->path - 1] = '\0';
    /* Each takes room in the file: a number beyond that is damage, and calls from there are no records. */
    if (site->number > file->size / (sizeof *site - sizeof site->path) || site->function >= RECORD_FUNCTIONS_MAX)
        return;
    while (file->site_count <= site->number)
        ARRAY_PUSH(file->sites, file->site_count, file->site_capacity, (struct record_file_site){0});
    file->sites[site->number] = (struct record_file_site){.comm = site->base.comm,
                                                          .function = (uint16_t)site->function,
                                                          .place = record_sites_place(run, site->path, site->offset)};
}

static bool same_text(const char *left, const char *right)
{
    return left == right || (left && right && strcmp(left, right) == 0);
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; text && *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash * 31;
}

/* event.site of a place in the source: several places in the code may be one there. */
static uint32_t site_of(struct map *known, struct defs *defs, const struct source_place *place)
{
    struct site_def site = {.file = (char *)(place->file ? place->file : ""),
                            .function = (char *)place->function,
                            .id = (int32_t)defs->site_count + 1,
                            .line = place->line};
    if (!*site.file && !site.function)
        return 0;
    uint64_t hash = hash_text(hash_text((uint64_t)(uint32_t)site.line, site.file), site.function) >> 1;
    uint64_t *index = map_put(known, hash, 0);
    const struct site_def *same = *index ? &defs->sites[*index - 1] : NULL;
    /* Another site with the same hash: the newer one takes the place, and the older may be defined once more. */
    if (!same || same->line != site.line || !same_text(same->file, site.file) ||
        !same_text(same->function, site.function))
        *index = (uint64_t)defs_add_site(defs, &site) + 1;
    return (uint32_t)*index;
}

/* The places from which the function of a place of samples was inlined. */
static void resolve_outers(struct record_run *run, struct map *known, struct defs *defs, struct source_lines *lines,
                           struct record_place *place)
{
    enum { OUTERS_MOST = 16 };
    struct source_place outers[OUTERS_MOST];
    size_t count = source_lines_inlined(lines, place->offset - 1, outers, OUTERS_MOST);
    place->outer = run->outer_count;
    place->outer_count = (uint8_t)count;
    for (size_t i = 0; i < count; i++)
        ARRAY_PUSH(run->outers, run->outer_count, run->outer_capacity, site_of(known, defs, &outers[i]));
}

void record_sites_resolve(struct record_run *run, struct defs *defs)
{
    struct map known = {0};
    /* One file of debug information is open at a time: a large program's may take GBs. */
    for (size_t module = 0; module < run->module_count; module++) {
        struct source_lines *lines = source_lines_open(run->modules[module]);
        for (size_t i = 0; lines && i < run->place_count; i++) {
            struct source_place place;
            /* The call ends where it returns to. */
            if (run->places[i].module == module && source_lines_find(lines, run->places[i].offset - 1, &place)) {
                run->places[i].site = site_of(&known, defs, &place);
                if (run->places[i].sampled)
                    resolve_outers(run, &known, defs, lines, &run->places[i]);
            }
        }
        source_lines_close(lines);
    }
    map_clear(&known);
}

void record_sites_clear(struct record_run *run)
{
    for (size_t i = 0; i < run->module_count; i++)
        free(run->modules[i]);
    free(run->modules);
    free(run->places);
    free(run->outers);
    map_clear(&run->place_of);
}
