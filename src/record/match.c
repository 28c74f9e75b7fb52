/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder of one MPI would break a program of another: their handles differ. Scripts hide from `sight record`
   which MPI their programs have, so it is checked here, before the program begins: if it is the other MPI, the process
   starts itself again with the recorder of that one. */
#include "record/match.h"

#include "record/mpi_api.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef OPEN_MPI
static const char own[] = "openmpi", other[] = "mpich", own_library[] = "libmpi.so.40";
#else
static const char own[] = "mpich", other[] = "openmpi", own_library[] = "libmpich.so";
#endif
#define PREFIX "libsight-record-"
#define ONCE "SIGHT_RECORD_SWITCHED" /* the process that did this, so that it does it once */

struct loaded {
    bool mpich, openmpi;
};

/* The versions of these libraries are part of their names: libmpi.so.12 is MPICH's ABI, .20 and .40 are Open MPI's. */
static void note_name(struct loaded *loaded, const char *name)
{
    loaded->openmpi |= strncmp(name, "libmpi.so.40", 12) == 0 || strncmp(name, "libmpi.so.20", 12) == 0;
    loaded->mpich |= strncmp(name, "libmpich.so", 11) == 0 || strncmp(name, "libmpi.so.12", 12) == 0;
}

static const char *name_of(const struct dl_phdr_info *library)
{
    const char *slash = strrchr(library->dlpi_name, '/');
    return slash ? slash + 1 : library->dlpi_name;
}

static int look(struct dl_phdr_info *library, size_t size, void *context)
{
    (void)size;
    note_name(context, name_of(library));
    return 0;
}

/* What the libraries of the program, not those of an MPI, were linked with. */
static int look_at_needs(struct dl_phdr_info *library, size_t size, void *context)
{
    static const char *const parts_of_mpi[] = {"libmpi", "libopen-", "mca_", PREFIX};
    const ElfW(Dyn) *dynamic = NULL;
    const char *strings = NULL;
    (void)size;
    for (size_t i = 0; i < sizeof parts_of_mpi / sizeof *parts_of_mpi; i++)
        if (strncmp(name_of(library), parts_of_mpi[i], strlen(parts_of_mpi[i])) == 0)
            return 0;
    for (size_t i = 0; i < library->dlpi_phnum; i++)
        if (library->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *)(library->dlpi_addr + library->dlpi_phdr[i].p_vaddr);
    for (const ElfW(Dyn) *at = dynamic; at && at->d_tag != DT_NULL; at++)
        if (at->d_tag == DT_STRTAB)
            strings = (const char *)at->d_un.d_ptr;
    /* The kernel's own library keeps it relative to its begin. */
    if (strings && (ElfW(Addr))strings < library->dlpi_addr)
        strings += library->dlpi_addr;
    for (const ElfW(Dyn) *at = dynamic; strings && at->d_tag != DT_NULL; at++)
        if (at->d_tag == DT_NEEDED)
            note_name(context, strings + at->d_un.d_val);
    return 0;
}

/* Which MPI the process has now: of the recorder, and the other one. */
static void look_now(int (*looks)(struct dl_phdr_info *, size_t, void *), bool *has_own, bool *has_other)
{
    struct loaded loaded = {.mpich = false};
    dl_iterate_phdr(looks, &loaded);
    bool is_mpich = strcmp(own, "mpich") == 0;
    *has_own = is_mpich ? loaded.mpich : loaded.openmpi;
    *has_other = is_mpich ? loaded.openmpi : loaded.mpich;
}

/* The program began without an MPI of its own: `sight record` preloads one for Python. */
static bool open_at_start;

void match_or_exit(void)
{
    static bool matched;
    bool has_own, has_other;
    if (matched || !open_at_start)
        return;
    matched = true;
    look_now(look_at_needs, &has_own, &has_other);
    /* One that was linked with both may use the right one. */
    if (!has_other || has_own)
        return;
    /* Its calls are bound to this recorder by now, which cannot pass them on: handles have another type. */
    fprintf(stderr,
            "sight: cannot record: the program has loaded another MPI (%s) than its launcher's (%s); start it with "
            "mpiexec.%s\n",
            other, own, other);
    exit(EXIT_FAILURE);
}

/* LD_PRELOAD with the other recorder instead of this one, or without any if there is none. */
static void preload_switch(const char *preload)
{
    const char *at = strstr(preload, PREFIX), *from = at;
    while (from && from > preload && from[-1] != ':' && from[-1] != ' ')
        from--;
    /* Somebody else's LD_PRELOAD, or one already switched. */
    if (!at || strncmp(at + strlen(PREFIX), own, strlen(own)) != 0)
        return;
    const char *to = at + strlen(PREFIX) + strlen(own) + strlen(".so");
    char library[4096], all[8192];
    int length = snprintf(library, sizeof library, "%.*s" PREFIX "%s.so", (int)(at - from), from, other);
    if (length < 0 || (size_t)length >= sizeof library || access(library, R_OK) != 0) {
        fprintf(stderr, "sight: not recorded: there is no recorder for the MPI of this program (%s)\n", other);
        library[0] = '\0';
    }
    snprintf(all, sizeof all, "%.*s%s%s", (int)(from - preload), preload, library, to);
    setenv("LD_PRELOAD", all, 1);
}

/* A constructor: no code of the program has run yet, so that starting again has no effect that anybody sees. */
__attribute__((constructor)) static void match(int argc, char **argv)
{
    const char *preload = getenv("LD_PRELOAD");
    char path[4096], pid[16];
    const char *before = getenv(ONCE);
    bool has_own, has_other;
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    look_now(look, &has_own, &has_other);
    bool wrong = has_other && !has_own;
    open_at_start = !has_other && (!has_own || (preload && strstr(preload, own_library)));
    /* A program with both, or with none, is left alone. The same process does not start again twice, or it might do so
       for ever. */
    if (!wrong || argc < 1 || !preload || (before && strcmp(before, pid) == 0))
        return;
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        return;
    path[length] = '\0';
    setenv(ONCE, pid, 1);
    preload_switch(preload);
    /* Returns only if it fails: then the program runs with the wrong recorder, which finds out by itself. */
    execv(path, argv);
}
