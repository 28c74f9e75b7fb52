/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/record/record_samples.h"

#include "convert/record/record_sites.h"
#include "core/memory.h"

#include <stdio.h>
#include <string.h>

void record_samples_module(struct record_process *process, struct record_module *module)
{
    module->path[sizeof module->path - 1] = '\0';
    if (module->begin >= module->end || module->load > module->begin)
        return;
    ARRAY_PUSH(process->modules, process->module_count, process->module_capacity,
               (struct record_code){.begin = module->begin,
                                    .end = module->end,
                                    .load = module->load,
                                    .path = memory_copy_string(module->path)});
}

/* Each takes room in the file: a number beyond that is damage. Parents are defined before their children. */
void record_samples_path(struct record_file *file, const struct record_path *path)
{
    if (path->number == 0 || path->number > file->size / sizeof *path || path->parent >= path->number)
        return;
    while (file->path_count <= path->number)
        ARRAY_PUSH(file->paths, file->path_count, file->path_capacity, (struct record_file_path){0});
    file->paths[path->number] = (struct record_file_path){.address = path->address, .parent = path->parent};
}

/* Of the modules that were loaded; a library that was unloaded and replaced may give a wrong one. */
static const struct record_code *code_of(const struct record_process *process, uint64_t address)
{
    for (size_t i = 0; i < process->module_count; i++)
        if (address >= process->modules[i].begin && address < process->modules[i].end)
            return &process->modules[i];
    return NULL;
}

/* Where that is known: the code of Python programs is not in the file of the interpreter. */
static void find_programs(struct record_run *run)
{
    bool *interpreted = memory_new((run->process_count + 1) * sizeof *interpreted);
    for (size_t i = 0; i < run->file_count; i++)
        interpreted[run->process_of[i]] |= run->files[i].function_count > 0;
    for (size_t i = 0; i < run->process_count; i++)
        if (run->processes[i].module_count > 0 && !interpreted[i])
            record_sites_program(run, run->processes[i].modules[0].path);
    free(interpreted);
}

void record_samples_place(struct record_run *run)
{
    find_programs(run);
    for (size_t i = 0; i < run->file_count; i++) {
        struct record_file *file = &run->files[i];
        const struct record_process *process = &run->processes[run->process_of[i]];
        for (size_t n = 1; n < file->path_count; n++) {
            struct record_file_path *path = &file->paths[n];
            const struct record_code *code = path->address ? code_of(process, path->address) : NULL;
            if (path->address & RECORD_PYTHON_ADDRESS)
                path->place = record_sites_line(run, file, path->address);
            else
                /* A place is where a call returns to; a path's address is inside the instruction. */
                path->place = code ? record_sites_place(run, code->path, path->address - code->load + 1) : 0;
            if (path->place)
                run->places[path->place - 1].sampled = true;
        }
    }
}

/* How every thread begins: says nothing of the program. */
static bool is_beginning(const char *function)
{
    static const char *const names[] = {"_start",
                                        "__libc_start_main",
                                        "__libc_start_call_main",
                                        "__libc_start_main_impl",
                                        "__libc_start_main@@GLIBC_2.34",
                                        "start_thread",
                                        "clone",
                                        "clone3",
                                        "__clone3",
                                        "__clone"};
    for (size_t i = 0; function && i < sizeof names / sizeof *names; i++)
        if (strcmp(function, names[i]) == 0)
            return true;
    return false;
}

/* Where nothing is known but the file of code, that is the place: its name in brackets. */
static uint32_t module_site(struct record_run *run, struct defs *defs, uint32_t **sites, uint32_t module)
{
    if (!*sites)
        *sites = memory_new(run->module_count * sizeof **sites);
    if ((*sites)[module] == 0) {
        const char *path = run->modules[module].path, *slash = strrchr(path, '/');
        char name[300];
        snprintf(name, sizeof name, "[%s]", slash ? slash + 1 : path);
        (*sites)[module] =
            1 +
            defs_add_site(defs, &(struct site_def){.function = name,
                                                   .id = (int32_t)defs->site_count + 1,
                                                   .library = record_sites_in_library(&run->modules[module], false)});
    }
    return (*sites)[module];
}

/* index + 1 of the trace's path. */
static uint32_t path_of(struct map *known, struct defs *defs, uint32_t parent, uint32_t site)
{
    if (parent == 0 && site && is_beginning(defs->sites[site - 1].function))
        return 0;
    uint64_t *path = map_put(known, (uint64_t)parent << 32 | site, 0);
    if (*path == 0)
        *path = (uint64_t)defs_add_path(defs, &(struct path_def){parent, PATH_NO_STATE, site}) + 1;
    return (uint32_t)*path;
}

/* Paths are of addresses and of one file; those of the trace are of places in the source and of all files
   together. */
void record_samples_resolve(struct record_run *run, struct defs *defs)
{
    struct map known = {0};
    uint32_t *sites = NULL; /* by module */
    for (size_t i = 0; i < run->file_count; i++) {
        struct record_file *file = &run->files[i];
        for (size_t n = 1; n < file->path_count; n++) {
            struct record_file_path *path = &file->paths[n];
            uint32_t parent = file->paths[path->parent].path;
            uint32_t site = path->place ? run->places[path->place - 1].site : 0;
            /* Several functions without names in a file, one called by the other, are one level. */
            if (path->place && site == 0) {
                site = module_site(run, defs, &sites, run->places[path->place - 1].module);
                if (parent && defs->paths[parent - 1].site == site) {
                    path->path = parent;
                    continue;
                }
            }
            const struct record_place *place = path->place ? &run->places[path->place - 1] : NULL;
            /* Inlined functions are levels of the path, too: the outermost first. */
            for (size_t k = place ? place->outer_count : 0; k > 0; k--)
                parent = path_of(&known, defs, parent, run->outers[place->outer + k - 1]);
            path->path = path->address ? path_of(&known, defs, parent, site) : parent;
        }
    }
    map_clear(&known);
    free(sites);
}

void record_samples_clear(struct record_process *process)
{
    for (size_t i = 0; i < process->module_count; i++)
        free(process->modules[i].path);
    free(process->modules);
}
