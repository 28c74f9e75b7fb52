/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/own_file.h"

#include "core/record_format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OUT_OF_THE_WAY = 960 }; /* the lowest number that is taken, where so many are allowed */

static uint64_t bytes;

static void count(uint64_t size)
{
    enum { PAGE = 4096 };
    __atomic_fetch_add(&bytes, size + 2 * PAGE, __ATOMIC_RELAXED);
}

uint64_t own_file_bytes(void)
{
    return __atomic_load_n(&bytes, __ATOMIC_RELAXED);
}

/* Programs close descriptors that are not theirs (daemons close all), and the number may be another file by now: device
   and inode decide. */
static bool is_this(const struct own_file *file, int descriptor)
{
    struct stat about;
    return descriptor >= 0 && fstat(descriptor, &about) == 0 && about.st_dev == file->device &&
           about.st_ino == file->inode;
}

/* The same where the program may have fewer descriptors: one that is beyond its limit takes none of them, and stays
   open when the limit is what it was. -1: the limit cannot be raised. */
static int move_beyond_limit(int descriptor)
{
    struct rlimit before, raised, now;
    if (getrlimit(RLIMIT_NOFILE, &before) != 0 || before.rlim_max <= OUT_OF_THE_WAY)
        return -1;
    raised = before;
    raised.rlim_cur = before.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &raised) != 0)
        return -1;
    int high = fcntl(descriptor, F_DUPFD_CLOEXEC, OUT_OF_THE_WAY);
    /* Another thread may have set a limit of its own meanwhile: that one stays. */
    if (getrlimit(RLIMIT_NOFILE, &now) == 0 && now.rlim_cur == raised.rlim_cur && now.rlim_max == raised.rlim_max)
        setrlimit(RLIMIT_NOFILE, &before);
    return high;
}

/* The descriptor under a high number: programs expect the low ones in order, and select() allows 1,024. */
int own_file_move_away(int descriptor)
{
    int error = errno, high = fcntl(descriptor, F_DUPFD_CLOEXEC, OUT_OF_THE_WAY);
    if (high < 0)
        high = move_beyond_limit(descriptor);
    errno = error;
    if (high < 0)
        return descriptor;
    close(descriptor);
    return high;
}

/* A descriptor of this file; -1 and errno if there is none any more. */
static int descriptor_of(struct own_file *file)
{
    int error = errno;
    if (is_this(file, file->descriptor)) {
        errno = error;
        return file->descriptor;
    }
    int again = open(file->path, O_RDWR | O_CLOEXEC);
    /* Somebody has put another file in its place: not to be written to. */
    if (again >= 0 && !is_this(file, again)) {
        close(again);
        errno = EBADF;
        again = -1;
    }
    if (again < 0)
        return file->descriptor = -1;
    errno = error;
    return file->descriptor = own_file_move_away(again);
}

bool own_file_create(struct own_file *file, const char *path)
{
    struct stat about;
    /* O_EXCL: a file that is there belongs to somebody else. 0600: a trace may show what a program does. */
    *file = (struct own_file){.descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
    if (file->descriptor < 0)
        return false;
    file->descriptor = own_file_move_away(file->descriptor);
    file->path = strdup(path);
    if (file->path && fstat(file->descriptor, &about) == 0) {
        file->device = about.st_dev;
        file->inode = about.st_ino;
        return true;
    }
    close(file->descriptor);
    free(file->path);
    *file = (struct own_file){.descriptor = -1};
    return false;
}

/* A file that grows beyond what a process may write would kill it (SIGXFSZ). */
static bool may_have(uint64_t size)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur)
        return true;
    errno = EFBIG;
    return false;
}

bool own_file_extend(struct own_file *file, uint64_t at, uint64_t size)
{
    int descriptor = may_have(at + size) ? descriptor_of(file) : -1, error = EINTR;
    /* The program's own signals may interrupt it. */
    while (descriptor >= 0 && error == EINTR)
        error = posix_fallocate(descriptor, (off_t)at, (off_t)size);
    if (descriptor >= 0 && error != 0)
        errno = error;
    return descriptor >= 0 && error == 0;
}

void *own_file_map(struct own_file *file, uint64_t at, size_t size)
{
    int descriptor = descriptor_of(file);
    if (descriptor < 0)
        return NULL;
    count(size);
    void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, (off_t)at);
    return mapped == MAP_FAILED ? NULL : mapped;
}

void own_file_populate(void *mapped, size_t size)
{
#ifdef MADV_POPULATE_WRITE
    int error = errno;
    madvise(mapped, size, MADV_POPULATE_WRITE); /* if not, each page comes when it is needed */
    errno = error;
#else
    (void)mapped;
    (void)size;
#endif
}

bool own_file_write(struct own_file *file, const void *data, size_t size, uint64_t at)
{
    const char *from = data;
    int error = errno, descriptor = may_have(at + size) ? descriptor_of(file) : -1;
    /* Twice: a full block is written, and filled again. */
    count(2 * (uint64_t)size);
    while (descriptor >= 0 && size > 0) {
        /* pwrite, not write: other threads write elsewhere in the same file. */
        ssize_t done = pwrite(descriptor, from, size, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        from += done;
        at += (uint64_t)done;
        size -= (size_t)done;
    }
    if (descriptor >= 0)
        errno = error;
    return descriptor >= 0;
}

bool own_file_read(struct own_file *file, void *data, size_t size, uint64_t at)
{
    int descriptor = descriptor_of(file);
    return descriptor >= 0 && pread(descriptor, data, size, (off_t)at) == (ssize_t)size;
}

bool own_file_truncate(struct own_file *file, uint64_t size)
{
    int descriptor = descriptor_of(file);
    return descriptor >= 0 && ftruncate(descriptor, (off_t)size) == 0;
}

void own_file_rest(struct own_file *file)
{
    int error = errno;
    if (is_this(file, file->descriptor))
        close(file->descriptor);
    file->descriptor = -1;
    errno = error;
}

void own_file_close(struct own_file *file)
{
    int error = errno;
    own_file_rest(file);
    free(file->path);
    *file = (struct own_file){.descriptor = -1};
    errno = error;
}

void own_file_fail(struct own_file *file, int reason)
{
    char *name;
    /* The reason is in the name, for `sight record` to report: the file itself has no room for it. */
    if (own_file_truncate(file, 0) && asprintf(&name, "%s" RECORD_FAILED_SUFFIX "%d", file->path, reason) >= 0) {
        rename(file->path, name);
        free(name);
    }
    own_file_close(file);
    errno = reason;
}
