/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/real.h"

#include "record/match.h"
#include "record/mpi_api.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef OPEN_MPI
static const char *const libraries[] = {"libmpi.so.40"};
static const char *const fortran_libraries[] = {"libmpi_mpifh.so.40", "libmpi_usempif08.so.40",
                                                "libmpi_usempi_ignore_tkr.so.40"};
#else
static const char *const libraries[] = {"libmpich.so.12", "libmpi.so.12"};
static const char *const fortran_libraries[] = {"libmpichfort.so.12", "libmpifort.so.12"};
#endif

/* If MPI was loaded late and for one library only (as Python loads its modules), it is not in the usual search; if a
   program is linked with the recorder, which has all functions, the linker may have left MPI out. */
static void *find_in_library(const char *name, int how)
{
    /* RTLD_NOLOAD: first only what is loaded already. Opening one would start a second MPI. */
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | how);
        void *found = library ? dlsym(library, name) : NULL;
        if (found)
            return found;
    }
    return NULL;
}

/* Where the files begin that have functions of MPI. */
enum { FILES_MAX = 16 };
static const void *files[FILES_MAX];

static const void *file_of(const void *address, const char **name)
{
    Dl_info about = {.dli_fname = NULL};
    /* A zero is the answer of dladdr for an address in no file. */
    if (dladdr(address, &about) == 0)
        return NULL;
    if (name)
        *name = about.dli_fname;
    return about.dli_fbase;
}

/* Any thread may do so at any time. */
static void note_file(const void *function)
{
    const void *file = file_of(function, NULL);
    for (size_t i = 0; i < FILES_MAX; i++) {
        const void *there = NULL;
        if (__atomic_compare_exchange_n(&files[i], &there, file, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
            there == file)
            return;
    }
}

bool real_is_mpi(const void *address)
{
    const char *name = NULL;
    const void *file = file_of(address, &name);
    for (size_t i = 0; i < FILES_MAX && file; i++)
        if (__atomic_load_n(&files[i], __ATOMIC_ACQUIRE) == file)
            return true;
    /* Open MPI is in parts that are loaded when they are needed. */
    return !file || strstr(name, "/mca_") || strstr(name, "/libmca_");
}

static void *found_or_abort(void *found, const char *name)
{
    if (!found) {
        fprintf(stderr, "sight: recorder: the MPI library has no %s\n", name);
        abort();
    }
    return found;
}

void *real_find(const char *name)
{
    match_or_exit();
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        found = find_in_library(name, RTLD_NOLOAD);
    if (!found)
        /* Linked with the recorder, and MPI left out by the linker: now it must be loaded. */
        found = find_in_library(name, RTLD_GLOBAL);
    found = found_or_abort(found, name);
    note_file(found);
    return found;
}

void *real_object(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    if (!found)
        found = find_in_library(name, RTLD_NOLOAD);
    if (!found)
        found = find_in_library(name, RTLD_GLOBAL);
    return found_or_abort(found, name);
}

enum { RANGES_MAX = 16 };
struct ranges {
    uintptr_t begin[RANGES_MAX], end[RANGES_MAX];
    size_t count;
};
static struct ranges fortran, program, recorder_itself;
bool real_has_fortran;
__thread const void *real_fortran_caller __attribute__((tls_model("initial-exec")));

static bool is_fortran_library(const char *path)
{
    static const char *const names[] = {"libmpichfort", "libmpichf90", "libmpifort", "libmpi_mpifh", "libmpi_usempi"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(path, names[i]))
            return true;
    return false;
}

struct wanted {
    const char *name;
    void *found;
};

static int find_in_fortran(struct dl_phdr_info *library, size_t size, void *context)
{
    struct wanted *wanted = context;
    (void)size;
    void *handle = NULL;
    if (is_fortran_library(library->dlpi_name))
        handle = dlopen(library->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle)
        wanted->found = dlsym(handle, wanted->name);
    return wanted->found != NULL;
}

static void find_fortran(void);

/* As for the C library: if the linker has left it out. Its calls are recognised by its address range. */
static void *open_fortran(const char *name)
{
    void *found = NULL;
    for (size_t i = 0; i < sizeof fortran_libraries / sizeof *fortran_libraries && !found; i++) {
        void *library = dlopen(fortran_libraries[i], RTLD_LAZY | RTLD_GLOBAL);
        found = library ? dlsym(library, name) : NULL;
    }
    /* The ranges were collected when the recorder was loaded, before this library. */
    find_fortran();
    return found;
}

void *real_find_fortran(const char *name)
{
    struct wanted wanted = {.name = name, .found = dlsym(RTLD_NEXT, name)};
    /* Loaded late and for one library only, as modules of Python are. */
    if (!wanted.found)
        dl_iterate_phdr(find_in_fortran, &wanted);
    if (!wanted.found)
        wanted.found = open_fortran(name);
    return found_or_abort(wanted.found, name);
}

static bool in_ranges(const struct ranges *ranges, const void *address)
{
    for (size_t i = 0; i < ranges->count; i++)
        if ((uintptr_t)address >= ranges->begin[i] && (uintptr_t)address < ranges->end[i])
            return true;
    return false;
}

static void add_range(struct ranges *ranges, const struct dl_phdr_info *library, const ElfW(Phdr) * segment)
{
    if (ranges->count == RANGES_MAX)
        return;
    ranges->begin[ranges->count] = library->dlpi_addr + segment->p_vaddr;
    ranges->end[ranges->count] = ranges->begin[ranges->count] + segment->p_memsz;
    ranges->count++;
}

/* The program's own file comes first. */
static int add_ranges(struct dl_phdr_info *library, size_t size, void *context)
{
    bool *first = context;
    (void)size;
    for (size_t i = 0; i < library->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &library->dlpi_phdr[i];
        /* Only code: return addresses are in nothing else. */
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
            continue;
        struct ranges here = {.count = 0};
        add_range(&here, library, segment);
        if (*first)
            add_range(&program, library, segment);
        else if (is_fortran_library(library->dlpi_name))
            add_range(&fortran, library, segment);
        else if (in_ranges(&here, (const void *)(uintptr_t)real_find))
            add_range(&recorder_itself, library, segment);
    }
    *first = false;
    return 0;
}

__attribute__((constructor)) static void find_fortran(void)
{
    bool first = true;
    fortran.count = program.count = recorder_itself.count = 0;
    dl_iterate_phdr(add_ranges, &first);
    real_has_fortran = fortran.count > 0;
}

bool real_is_recorder(const void *address)
{
    /* Constructors of other libraries, which may call MPI, can be earlier than ours. */
    if (recorder_itself.count == 0)
        find_fortran();
    return in_ranges(&recorder_itself, address);
}

bool real_called_from_fortran(const void *address)
{
    return in_ranges(&fortran, address);
}

bool real_is_program(const void *address)
{
    return in_ranges(&program, address);
}

const void *real_caller_of_fortran(const void *address)
{
    if (!in_ranges(&fortran, address) && !in_ranges(&recorder_itself, address))
        return address;
    /* The library has called its own entry point: then the place in the program is unknown. */
    return in_ranges(&fortran, real_fortran_caller) ? NULL : real_fortran_caller;
}
