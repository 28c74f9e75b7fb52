/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* More places than files are ever written at once; and a directory of ours is never nested this deep. */
enum { UNFINISHED_MAX = 32, DEPTH_MAX = 8 };

/* A place is taken first and only then has a length, so that the handler never sees half a name. */
static struct {
    atomic_bool taken;
    _Atomic size_t length;
    bool directory;
    char path[PATH_MAX];
} unfinished[UNFINISHED_MAX];

int unfinished_add(const char *path, bool directory)
{
    size_t length = strlen(path);
    for (int i = 0; i < UNFINISHED_MAX && length < PATH_MAX; i++) {
        /* Lock-free, as a signal handler may look at the list at any time. */
        if (atomic_exchange(&unfinished[i].taken, true))
            continue;
        memcpy(unfinished[i].path, path, length + 1);
        unfinished[i].directory = directory;
        atomic_store(&unfinished[i].length, length);
        return i;
    }
    /* The file is still made; it would stay behind if sight were killed. */
    return -1;
}

/* A signal between making and noting would leave what was made. */
static sigset_t hold_signals(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    return before;
}

static void let_signals(const sigset_t *before)
{
    int saved = errno;
    pthread_sigmask(SIG_SETMASK, before, NULL);
    errno = saved;
}

bool unfinished_make_directory(char *path, int *place)
{
    sigset_t before = hold_signals();
    bool made = mkdtemp(path) != NULL;
    if (made)
        *place = unfinished_add(path, true);
    let_signals(&before);
    return made;
}

/* Without a name, in the directory that `path` is in; -1: this cannot be had, or no name could be given later. */
static int make_nameless(const char *path)
{
#ifdef O_TMPFILE
    const char *slash = strrchr(path, '/');
    char directory[PATH_MAX] = ".";
    if (slash && slash - path + 1 < PATH_MAX) {
        memcpy(directory, path, (size_t)(slash - path) + 1);
        directory[slash - path + 1] = '\0';
    }
    if (access("/proc/self/fd", X_OK) == 0)
        return open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#endif
    return -1;
}

int unfinished_make_file(char *path, int *place, bool *named)
{
    int nameless = make_nameless(path);
    *named = nameless < 0;
    if (nameless >= 0)
        return nameless;
    sigset_t before = hold_signals();
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        *place = unfinished_add(path, false);
    let_signals(&before);
    return fd;
}

bool unfinished_name_file(int fd, char *path, int *place)
{
    enum { LETTERS = 6, TRIES = 1000 };
    char from[32], *letters = path + strlen(path) - LETTERS;
    bool made = false;
    snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
    sigset_t before = hold_signals();
    for (unsigned i = 0; i < TRIES && !made; i++) {
        char number[LETTERS + 1];
        snprintf(number, sizeof number, "%06u", ((unsigned)getpid() + i) % 1000000);
        memcpy(letters, number, LETTERS);
        made = linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
        if (!made && errno != EEXIST)
            break;
    }
    if (made)
        *place = unfinished_add(path, false);
    let_signals(&before);
    return made;
}

void unfinished_drop(int place)
{
    if (place < 0)
        return;
    /* In this order: once `taken` is false another thread may write a new name, which needs the length to be 0. */
    atomic_store(&unfinished[place].length, 0);
    atomic_store(&unfinished[place].taken, false);
}

#ifdef SYS_getdents64

/* As the kernel gives it; readdir() needs memory, which a signal handler must not ask for. */
struct entry {
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

static bool is_self_or_parent(const char *name)
{
    return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

static void empty_directory(int parent, const char *name, unsigned depth)
{
    _Alignas(struct entry) char buffer[2048];
    long got = 0;
    int fd = depth < DEPTH_MAX ? openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    while (fd >= 0 && (got = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0)
        for (long at = 0; at < got;) {
            const struct entry *entry = (const struct entry *)(const void *)(buffer + at);
            at += entry->length;
            if (is_self_or_parent(entry->name) || unlinkat(fd, entry->name, 0) == 0)
                continue;
            empty_directory(fd, entry->name, depth + 1);
            unlinkat(fd, entry->name, AT_REMOVEDIR);
        }
    if (fd >= 0)
        close(fd);
}

#else

static void empty_directory(int parent, const char *name, unsigned depth)
{
    (void)parent, (void)name, (void)depth;
}

#endif

void unfinished_remove(void)
{
    for (int i = 0; i < UNFINISHED_MAX; i++) {
        if (!atomic_load(&unfinished[i].length))
            continue;
        if (unfinished[i].directory) {
            empty_directory(AT_FDCWD, unfinished[i].path, 0);
            rmdir(unfinished[i].path);
        } else {
            unlink(unfinished[i].path);
        }
    }
}
