/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into sight by faults.py: the n-th call of one kind fails, once or from then on.
     FAULT_CALL   malloc, open, read, write, mmap, close, rename or fallocate, with all variants of it
     FAULT_AT     which one, from 1; 0: none, they are counted
     FAULT_STAYS  1: all after it fail, too
     FAULT_COUNT  a file that gets the number of calls
   Memory is refused to libraries as well; of the other calls only sight's own count, since libraries may do without the
   file that they look for. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind { MALLOC, OPEN, READ, WRITE, MMAP, CLOSE, RENAME, FALLOCATE, KINDS };
static const char *const kinds[KINDS] = {"malloc", "open", "read", "write", "mmap", "close", "rename", "fallocate"};
static const int faults[KINDS] = {ENOMEM, EMFILE, EIO, ENOSPC, ENOMEM, EIO, EACCES, ENOSPC};

static int wanted = -1;
static long at, calls;
static int stays;
static uintptr_t begin, end; /* sight's own code */

static int look(struct dl_phdr_info *object, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_LOAD && object->dlpi_phdr[i].p_flags & PF_X) {
            begin = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
            end = begin + object->dlpi_phdr[i].p_memsz;
        }
    return 1; /* the first object is the program */
}

__attribute__((constructor)) static void start(void)
{
    const char *call = getenv("FAULT_CALL"), *number = getenv("FAULT_AT"), *more = getenv("FAULT_STAYS");
    dl_iterate_phdr(look, NULL);
    at = number ? atol(number) : 0;
    stays = more && *more == '1';
    for (int kind = 0; call && kind < KINDS; kind++)
        if (strcmp(call, kinds[kind]) == 0)
            wanted = kind;
}

__attribute__((destructor)) static void finish(void)
{
    const char *path = getenv("FAULT_COUNT");
    char text[32];
    int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    int length = snprintf(text, sizeof text, "%ld\n", calls);
    if (fd >= 0 && syscall(SYS_write, fd, text, length) == length)
        syscall(SYS_close, fd);
}

static int fails(enum kind kind, const void *caller)
{
    if ((int)kind != wanted || (kind != MALLOC && !((uintptr_t)caller >= begin && (uintptr_t)caller < end)))
        return 0;
    long number = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    if (at == 0 || (stays ? number < at : number != at))
        return 0;
    errno = faults[kind];
    return 1;
}

#define CALLER __builtin_return_address(0)
#define REAL(type, name) ((type)real(name))

static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

void *malloc(size_t size)
{
    return fails(MALLOC, CALLER) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(MALLOC, CALLER) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return fails(MALLOC, CALLER) ? NULL : __libc_realloc(block, size);
}

/* The mode is passed on whether there is one or not, as the system call takes it. */
#define OPENS(name, ...)                                                                                               \
    {                                                                                                                  \
        va_list args;                                                                                                  \
        va_start(args, flags);                                                                                         \
        mode_t mode = va_arg(args, mode_t);                                                                            \
        va_end(args);                                                                                                  \
        return fails(OPEN, CALLER) ? -1 : (int)syscall(SYS_openat, __VA_ARGS__, flags, mode);                          \
    }
int open(const char *path, int flags, ...) OPENS(open, AT_FDCWD, path) int open64(const char *path, int flags, ...)
    OPENS(open64, AT_FDCWD, path) int openat(int directory, const char *path, int flags, ...)
        OPENS(openat, directory, path)

#define MAKES(type, name, parameters, arguments)                                                                       \
    type name parameters                                                                                               \
    {                                                                                                                  \
        return fails(OPEN, CALLER) ? (type)-1 : REAL(type(*) parameters, #name) arguments;                             \
    }
            MAKES(int, mkostemp, (char *path, int flags), (path, flags))
                MAKES(int, mkostemp64, (char *path, int flags), (path, flags))

                    FILE *fopen(const char *path, const char *mode)
{
    return fails(OPEN, CALLER) ? NULL : REAL(FILE * (*)(const char *, const char *), "fopen")(path, mode);
}

char *mkdtemp(char *path)
{
    return fails(OPEN, CALLER) ? NULL : REAL(char *(*)(char *), "mkdtemp")(path);
}

ssize_t read(int fd, void *buffer, size_t size)
{
    return fails(READ, CALLER) ? -1 : syscall(SYS_read, fd, buffer, size);
}

ssize_t pread(int fd, void *buffer, size_t size, off_t offset)
{
    return fails(READ, CALLER) ? -1 : syscall(SYS_pread64, fd, buffer, size, offset);
}

ssize_t write(int fd, const void *buffer, size_t size)
{
    /* What is to be said must get through. */
    return fd != STDERR_FILENO && fails(WRITE, CALLER) ? -1 : syscall(SYS_write, fd, buffer, size);
}

ssize_t pwrite(int fd, const void *buffer, size_t size, off_t offset)
{
    return fails(WRITE, CALLER) ? -1 : syscall(SYS_pwrite64, fd, buffer, size, offset);
}

ssize_t pread64(int fd, void *buffer, size_t size, off64_t offset)
{
    return fails(READ, CALLER) ? -1 : syscall(SYS_pread64, fd, buffer, size, offset);
}

ssize_t pwrite64(int fd, const void *buffer, size_t size, off64_t offset)
{
    return fails(WRITE, CALLER) ? -1 : syscall(SYS_pwrite64, fd, buffer, size, offset);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    return fails(MMAP, CALLER) ? MAP_FAILED : (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
}

void *mmap64(void *address, size_t size, int protection, int flags, int fd, off64_t offset)
{
    return fails(MMAP, CALLER) ? MAP_FAILED : (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
}

/* As the kernel does, the file is closed all the same. */
int close(int fd)
{
    int failed = fails(CLOSE, CALLER), result = (int)syscall(SYS_close, fd);
    if (!failed)
        return result;
    errno = faults[CLOSE];
    return -1;
}

#define MOVES(name, parameters, arguments)                                                                             \
    int name parameters                                                                                                \
    {                                                                                                                  \
        return fails(RENAME, CALLER) ? -1 : REAL(int(*) parameters, #name) arguments;                                  \
    }
MOVES(rename, (const char *from, const char *to), (from, to))
MOVES(renameat, (int from_in, const char *from, int to_in, const char *to), (from_in, from, to_in, to))
MOVES(renameat2, (int from_in, const char *from, int to_in, const char *to, unsigned flags),
      (from_in, from, to_in, to, flags))
MOVES(link, (const char *from, const char *to), (from, to))

/* It returns the error. */
int posix_fallocate(int fd, off_t offset, off_t size)
{
    return fails(FALLOCATE, CALLER) ? errno : REAL(int (*)(int, off_t, off_t), "posix_fallocate")(fd, offset, size);
}

int posix_fallocate64(int fd, off64_t offset, off64_t size)
{
    return fails(FALLOCATE, CALLER) ? errno
                                    : REAL(int (*)(int, off64_t, off64_t), "posix_fallocate64")(fd, offset, size);
}
