/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/record/record_sites.h"

#include "convert/record/record_wrappers.h"
#include "convert/record/source_lines.h"
#include "core/memory.h"

#include <stdio.h>
#include <string.h>

/* Module and offset are one key of 62 bits. */
enum { MODULES_MAX = 1 << 16, OFFSET_BITS = 46 };

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

/* Its index + 1. Where two have the same hash, the newer one takes the place, and the older may be there once more. */
static uint32_t module_of(struct record_run *run, const char *path, const char *function)
{
    uint64_t *known = map_put(&run->module_of, hash_text(hash_text(1, path), function) >> 1, 0);
    const struct record_code_file *same = *known ? &run->modules[*known - 1] : NULL;
    if (same && same_text(same->path, path) && same_text(same->function, function))
        return (uint32_t)*known;
    if (run->module_count >= MODULES_MAX)
        return 0;
    ARRAY_PUSH(run->modules, run->module_count, run->module_capacity,
               (struct record_code_file){.path = memory_copy_string(path),
                                         .function = function ? memory_copy_string(function) : NULL});
    *known = run->module_count;
    return (uint32_t)*known;
}

/* Index + 1 of a place in a module, of which the index + 1 is given. */
static uint32_t place_in(struct record_run *run, uint32_t module, uint64_t offset)
{
    if (offset >> OFFSET_BITS || module == 0)
        return 0;
    module--;
    uint64_t *known = map_put(&run->place_of, (uint64_t)module << OFFSET_BITS | offset, 0);
    if (*known == 0) {
        ARRAY_PUSH(run->places, run->place_count, run->place_capacity,
                   (struct record_place){.module = module, .offset = offset});
        *known = run->place_count;
    }
    return (uint32_t)*known;
}

uint32_t record_sites_place(struct record_run *run, const char *path, uint64_t offset)
{
    return place_in(run, module_of(run, path, NULL), offset);
}

void record_sites_program(struct record_run *run, const char *path)
{
    uint32_t module = module_of(run, path, NULL);
    if (module)
        run->modules[module - 1].program = true;
}

static bool begins_with_one(const char *text, const char *const *beginnings)
{
    for (; *beginnings; beginnings++)
        if (strncmp(text, *beginnings, strlen(*beginnings)) == 0)
            return true;
    return false;
}

static bool is_python_library(const char *file)
{
    static const char *const marks[] = {"/lib/python", "/lib64/python", "/site-packages/", "/dist-packages/"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strstr(file, marks[i]))
            return true;
    return *file == '<'; /* <frozen importlib._bootstrap> */
}

bool record_sites_in_library(const struct record_code_file *module, bool with_line)
{
    static const char *const system[] = {"/lib/", "/lib32/", "/lib64/", "/usr/lib", "/usr/local/lib", NULL};
    if (module->function)
        return is_python_library(module->path);
    return !module->program && (!with_line || begins_with_one(module->path, system));
}

void record_sites_python(struct record_run *run, struct record_file *file, struct record_python *python)
{
    python->texts[sizeof python->texts - 1] = '\0';
    const char *function = python->texts + strlen(python->texts) + 1;
    /* Each takes room in the file; a name that is not there is damage, as is a file with every byte. */
    if (python->number > file->size / (sizeof *python - sizeof python->texts) ||
        function >= python->texts + sizeof python->texts)
        return;
    while (file->function_count <= python->number)
        ARRAY_PUSH(file->functions, file->function_count, file->function_capacity, 0);
    file->functions[python->number] = module_of(run, python->texts, function);
}

uint32_t record_sites_line(struct record_run *run, const struct record_file *file, uint64_t address)
{
    uint64_t number = (address & ~RECORD_PYTHON_ADDRESS) >> RECORD_PYTHON_NUMBER;
    return place_in(run, number < file->function_count ? file->functions[number] : 0, address & INT32_MAX);
}

static uint32_t place_of(struct record_run *run, const struct record_file *file, const struct record_site *site)
{
    return site->offset & RECORD_PYTHON_ADDRESS ? record_sites_line(run, file, site->offset)
                                                : record_sites_place(run, site->path, site->offset);
}

void record_sites_define(struct record_run *run, struct record_file *file, struct record_site *site)
{
    site->path[sizeof site->path - 1] = '\0';
    /* Each takes room in the file: a number beyond that is damage, and calls from there are no records. */
    if (site->number > file->size / (sizeof *site - sizeof site->path) || site->function >= RECORD_FUNCTIONS_MAX)
        return;
    while (file->site_count <= site->number)
        ARRAY_PUSH(file->sites, file->site_count, file->site_capacity, (struct record_file_site){0});
    file->sites[site->number] = (struct record_file_site){
        .comm = site->base.comm, .function = (uint16_t)site->function, .place = place_of(run, file, site)};
}

void record_sites_outer(struct record_run *run, struct record_file *file, struct record_outer *outer)
{
    outer->path[sizeof outer->path - 1] = '\0';
    /* It follows its site. */
    if (outer->number < file->site_count)
        file->sites[outer->number].outer = record_sites_place(run, outer->path, outer->offset);
}

/* A large program is compiled in many directories. With --no-metadata none is recorded. */
enum { DIRECTORIES_MOST = 256 };

static void note_directory(struct defs *defs, const char *directory)
{
    size_t known = 0;
    if (!directory || *directory != '/' || !property_find(&defs->properties, PROPERTY_RECORDER))
        return;
    for (size_t i = 0; i < defs->properties.count; i++)
        known += strcmp(defs->properties.rows[i].name, PROPERTY_COMPILED) == 0;
    if (known < DIRECTORIES_MOST)
        property_add(&defs->properties, PROPERTY_COMPILED, directory);
}

/* The file of code of a place that samples were taken in; NULL: none were. */
static const struct record_code_file *module_sampled(const struct record_run *run, const struct record_place *place)
{
    return place->sampled ? &run->modules[place->module] : NULL;
}

/* event.site of a place in the source: several places in the code may be one there. */
static uint32_t site_of(struct map *known, struct defs *defs, const struct source_place *place,
                        const struct record_code_file *sampled)
{
    bool library = sampled && record_sites_in_library(sampled, place->line > 0);
    struct site_def site = {.file = (char *)(place->file ? place->file : ""),
                            .function = (char *)place->function,
                            .id = (int32_t)defs->site_count + 1,
                            .line = place->line,
                            .library = library};
    if (!*site.file && !site.function)
        return 0;
    uint64_t hash = hash_text(hash_text((uint64_t)(uint32_t)site.line << 1 | library, site.file), site.function) >> 1;
    uint64_t *index = map_put(known, hash, 0);
    const struct site_def *same = *index ? &defs->sites[*index - 1] : NULL;
    /* Another site with the same hash: the newer one takes the place, and the older may be defined once more. */
    if (!same || same->line != site.line || same->library != library || !same_text(same->file, site.file) ||
        !same_text(same->function, site.function)) {
        *index = (uint64_t)defs_add_site(defs, &site) + 1;
        note_directory(defs, place->directory);
    }
    return (uint32_t)*index;
}

/* The places from which the function of a place was inlined. */
static void resolve_outers(struct record_run *run, struct map *known, struct defs *defs, struct source_lines *lines,
                           struct record_place *place)
{
    enum { OUTERS_MOST = 16 };
    struct source_place outers[OUTERS_MOST];
    size_t count = source_lines_inlined(lines, place->offset - 1, outers, OUTERS_MOST);
    place->outer = run->outer_count;
    place->outer_count = (uint8_t)count;
    for (size_t i = 0; i < count; i++)
        ARRAY_PUSH(run->outers, run->outer_count, run->outer_capacity,
                   site_of(known, defs, &outers[i], module_sampled(run, place)));
}

static void resolve_python(struct record_run *run, struct map *known, struct defs *defs)
{
    for (size_t i = 0; i < run->place_count; i++) {
        const struct record_code_file *module = &run->modules[run->places[i].module];
        struct source_place place = {
            .file = module->path, .line = (int32_t)run->places[i].offset, .function = module->function};
        if (module->function)
            run->places[i].site = site_of(known, defs, &place, module_sampled(run, &run->places[i]));
    }
}

/* The program's place that calls a library, which calls MPI: with its own function and that of the library. */
static void name_program(struct record_run *run, struct map *known, struct defs *defs, struct record_file_site *site)
{
    struct record_place inner = run->places[site->place - 1], outer = run->places[site->outer - 1];
    const struct record_code_file *library = &run->modules[inner.module];
    const struct site_def *from = inner.site ? &defs->sites[inner.site - 1] : NULL;
    const char *slash = strrchr(library->path, '/'), *file = slash ? slash + 1 : library->path;
    char function[600];
    if (!outer.site || inner.module == outer.module || library->function ||
        !record_sites_in_library(library, from && from->line > 0))
        return;
    const struct site_def *to = &defs->sites[outer.site - 1];
    snprintf(function, sizeof function, "%.*s" SITE_FUNCTIONS_LINK "%.*s", to->function ? 250 : 1,
             to->function ? to->function : "?", 250, from && from->function ? from->function : file);
    struct source_place place = {.file = to->file, .line = to->line, .function = function};
    outer.site = site_of(known, defs, &place, NULL);
    outer.sampled = false;
    ARRAY_PUSH(run->places, run->place_count, run->place_capacity, outer);
    site->place = (uint32_t)run->place_count;
    site->outer = 0;
}

void record_sites_resolve(struct record_run *run, struct defs *defs)
{
    struct map known = {0};
    resolve_python(run, &known, defs);
    /* One file of debug information is open at a time: a large program's may take GBs. */
    for (size_t module = 0; module < run->module_count; module++) {
        if (run->modules[module].function)
            continue;
        struct source_lines *lines = source_lines_open(run->modules[module].path);
        for (size_t i = 0; lines && i < run->place_count; i++) {
            struct source_place place;
            /* The call ends where it returns to. */
            if (run->places[i].module == module && source_lines_find(lines, run->places[i].offset - 1, &place)) {
                run->places[i].site = site_of(&known, defs, &place, module_sampled(run, &run->places[i]));
                if (run->places[i].sampled || wrapper_may_be(place.function))
                    resolve_outers(run, &known, defs, lines, &run->places[i]);
            }
        }
        source_lines_close(lines);
    }
    for (size_t i = 0; i < run->file_count; i++)
        for (size_t k = 0; k < run->files[i].site_count; k++)
            if (run->files[i].sites[k].place && run->files[i].sites[k].outer)
                name_program(run, &known, defs, &run->files[i].sites[k]);
    map_clear(&known);
    record_wrappers_pass_by(run, defs);
}

void record_sites_clear(struct record_run *run)
{
    for (size_t i = 0; i < run->module_count; i++) {
        free(run->modules[i].path);
        free(run->modules[i].function);
    }
    map_clear(&run->module_of);
    free(run->modules);
    free(run->places);
    free(run->outers);
    map_clear(&run->place_of);
}
