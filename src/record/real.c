/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/real.h"

#include "record/mpi_api.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef OPEN_MPI
static const char *const libraries[] = {"libmpi.so.40"};
#else
static const char *const libraries[] = {"libmpich.so.12", "libmpi.so.12"};
#endif

/* Where MPI was loaded late and for one library only (as Python loads its modules) it is not in the usual search; where
   a program is linked with the recorder, which has all functions, the linker may have left MPI out. */
static void *find_in_library(const char *name, int how)
{
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | how);
        void *found = library ? dlsym(library, name) : NULL;
        if (found)
            return found;
    }
    return NULL;
}

void *real_find(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        found = find_in_library(name, RTLD_NOLOAD);
    if (!found)
        found = find_in_library(name, RTLD_GLOBAL);
    if (!found) {
        fprintf(stderr, "sight: recorder: the MPI library has no %s\n", name);
        abort();
    }
    return found;
}

enum { RANGES_MAX = 16 };
static struct {
    uintptr_t begin[RANGES_MAX], end[RANGES_MAX];
    size_t count;
} fortran;

static bool is_fortran_library(const char *path)
{
    static const char *const names[] = {"libmpichfort", "libmpichf90", "libmpifort", "libmpi_mpifh", "libmpi_usempi"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(path, names[i]))
            return true;
    return false;
}

static int add_ranges(struct dl_phdr_info *library, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    if (!is_fortran_library(library->dlpi_name))
        return 0;
    for (size_t i = 0; i < library->dlpi_phnum && fortran.count < RANGES_MAX; i++) {
        const ElfW(Phdr) *segment = &library->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
            continue;
        fortran.begin[fortran.count] = library->dlpi_addr + segment->p_vaddr;
        fortran.end[fortran.count] = fortran.begin[fortran.count] + segment->p_memsz;
        fortran.count++;
    }
    return 0;
}

__attribute__((constructor)) static void find_fortran(void)
{
    dl_iterate_phdr(add_ranges, NULL);
}

bool real_called_from_fortran(const void *address)
{
    for (size_t i = 0; i < fortran.count; i++)
        if ((uintptr_t)address >= fortran.begin[i] && (uintptr_t)address < fortran.end[i])
            return true;
    return false;
}
