/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/program.h"

#include "core/record_format.h"
#include "core/text.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

const char *mpi_kind_name(enum mpi_kind kind)
{
    return kind == MPI_KIND_OPENMPI ? "openmpi" : "mpich";
}

const char *mpi_kind_title(enum mpi_kind kind)
{
    return kind == MPI_KIND_OPENMPI ? "Open MPI" : "MPICH";
}

static bool is_executable(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

/* The file that the system would run for a word. */
static bool find_file(const char *word, char *path, size_t size)
{
    /* A word with a slash is a path, as in a shell. */
    if (strchr(word, '/'))
        return (size_t)snprintf(path, size, "%s", word) < size && is_executable(path);
    const char *at = getenv("PATH");
    while (at && *at) {
        size_t length = strcspn(at, ":");
        if ((size_t)snprintf(path, size, "%.*s/%s", (int)length, at, word) < size && is_executable(path))
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

enum elf_kind { ELF_NONE, ELF_STATIC, ELF_DYNAMIC };

/* True for a dynamic segment that names libraries: static programs may have one too, but need none. */
static bool needs_libraries(const unsigned char *file, size_t size, const Elf64_Phdr *segment)
{
    Elf64_Dyn entry = {.d_tag = DT_NULL};
    for (uint64_t i = 0; i < segment->p_filesz / sizeof entry; i++) {
        uint64_t at = segment->p_offset + i * sizeof entry;
        if (at > size || size - at < sizeof entry)
            return false;
        memcpy(&entry, file + at, sizeof entry);
        if (entry.d_tag == DT_NEEDED || entry.d_tag == DT_NULL)
            break;
    }
    return entry.d_tag == DT_NEEDED;
}

/* A program that needs the loader has a segment with its name (PT_INTERP, elf(5)). Code that needs libraries without it
   is a library itself, such as a plugin that a program is given, and no program. A damaged table of segments makes it
   none either: nothing beyond the file is read. */
static enum elf_kind elf_kind_of(const unsigned char *file, size_t size)
{
    Elf64_Ehdr header;
    /* Only 64-bit programs: the recorders are built for this machine. */
    if (size < sizeof header || memcmp(file, ELFMAG, SELFMAG) != 0 || file[EI_CLASS] != ELFCLASS64)
        return ELF_NONE;
    memcpy(&header, file, sizeof header);
    enum elf_kind without_loader = ELF_STATIC;
    for (size_t i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        uint64_t at = header.e_phoff + i * sizeof segment;
        if (at > size || size - at < sizeof segment)
            return ELF_NONE;
        memcpy(&segment, file + at, sizeof segment);
        if (segment.p_type == PT_INTERP)
            return ELF_DYNAMIC;
        if (segment.p_type == PT_DYNAMIC && needs_libraries(file, size, &segment))
            without_loader = ELF_NONE;
    }
    return without_loader;
}

/* The loader itself lists the libraries of a program, also indirect ones, without running it. */
static enum mpi_kind kind_of_libraries(const char *path)
{
    int ends[2];
    /* Closed on exec, so that the end of the list is seen when the child ends. */
    if (pipe2(ends, O_CLOEXEC) != 0)
        return MPI_KIND_NONE;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        /* Set in the child alone: it would keep the launcher from running. */
        setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
        execl(path, path, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    enum mpi_kind kind = MPI_KIND_NONE;
    FILE *list = fdopen(ends[0], "r");
    char line[PATH_MAX + 128];
    while (list && fgets(line, sizeof line, list)) {
        /* libmpi.so.12 is MPICH's too (the ABI that MPICH's relatives share); Open MPI's has other numbers */
        if (strstr(line, "libmpich") || strstr(line, "libsight-record-mpich") || strstr(line, "libmpi.so.12") ||
            strstr(line, "libmpifort.so.12"))
            kind = MPI_KIND_MPICH;
        else if (strstr(line, "libmpi.so") || strstr(line, "libmpi_mpifh") || strstr(line, "libsight-record-openmpi"))
            kind = MPI_KIND_OPENMPI;
    }
    if (list)
        fclose(list);
    waitpid(child, NULL, 0);
    return kind;
}

/* Of programs without symbols MPI's texts remain; those that can load MPI late may name its functions too. */
static bool has_text(const unsigned char *code, size_t size, const char *text)
{
    return memmem(code, size, text, strlen(text)) != NULL;
}

/* False: the word is not a file of code. */
static bool program_look(struct program *program, const char *word)
{
    char path[PATH_MAX];
    struct stat about;
    if (!find_file(word, path, sizeof path))
        return false;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &about) != 0 || about.st_size == 0) {
        if (file >= 0)
            close(file);
        return false;
    }
    size_t size = (size_t)about.st_size;
    /* mapped, not read: of a large program only the pages that are searched are fetched */
    unsigned char *code = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (code == MAP_FAILED)
        return false;
    enum elf_kind elf = elf_kind_of(code, size);
    *program = (struct program){.name = word};
    if (elf == ELF_DYNAMIC)
        program->kind = kind_of_libraries(path);
    if (elf != ELF_NONE && program->kind == MPI_KIND_NONE)
        program->is_static = has_text(code, size, elf == ELF_STATIC ? "MPI_Init" : "PMPI_Init");
    if (elf != ELF_NONE)
        program->has_recorder = has_text(code, size, RECORD_LINKED);
    /* Without any of these names it can neither load an MPI late, as Python does (whose program may be all in
       libpython), nor start a program that has one. */
    program->is_alone = elf == ELF_DYNAMIC && program->kind == MPI_KIND_NONE && !program->is_static &&
                        !has_text(code, size, "MPI_Init") && !has_text(code, size, "dlopen") &&
                        !has_text(code, size, "libpython") && !has_text(code, size, "exec") &&
                        !has_text(code, size, "spawn");
    munmap(code, size);
    return elf != ELF_NONE;
}

bool program_exists(const char *word)
{
    char path[PATH_MAX];
    return find_file(word, path, sizeof path);
}

struct program program_find(char *const *words, size_t count)
{
    struct program last = {0}, program;
    for (size_t i = 0; i < count; i++) {
        /* Options are no programs, even if a file has such a name. */
        if (words[i][0] == '-' || !program_look(&program, words[i]))
            continue;
        last = program;
        if (program.kind != MPI_KIND_NONE || program.is_static)
            return program;
    }
    return last;
}

/* By the file that the name's symbolic links lead to: Debian's alternatives make mpiexec one of mpiexec.openmpi and
   mpiexec.hydra. */
enum mpi_kind program_launcher_kind(const char *name)
{
    char path[PATH_MAX], real[PATH_MAX];
    if (!find_file(name, path, sizeof path) || !realpath(path, real))
        return MPI_KIND_NONE;
    if (strstr(real, "openmpi") || strstr(real, "orterun") || strstr(real, "prterun") || strstr(real, "opal_wrapper"))
        return MPI_KIND_OPENMPI;
    if (strstr(real, "hydra") || strstr(real, "mpich"))
        return MPI_KIND_MPICH;
    return MPI_KIND_NONE;
}

bool program_launcher_is_system(const char *name)
{
    static const char system[] = "/usr/bin/";
    char path[PATH_MAX], real[PATH_MAX];
    return find_file(name, path, sizeof path) && realpath(path, real) && strncmp(real, system, sizeof system - 1) == 0;
}

bool program_is_launcher(const char *name)
{
    static const char *const names[] = {"mpiexec", "mpirun", "orterun", "prterun", "srun", "aprun", "jsrun"};
    name = text_file_name(name);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        /* mpiexec.hydra is one, mpiexecutor is not */
        if (strncmp(name, names[i], length) == 0 && (name[length] == '\0' || name[length] == '.'))
            return true;
    }
    return false;
}

const char *program_launcher_of(enum mpi_kind kind)
{
    const char *own = kind == MPI_KIND_OPENMPI ? "mpiexec.openmpi" : "mpiexec.mpich";
    return program_launcher_kind(own) == kind ? own : "mpiexec";
}
