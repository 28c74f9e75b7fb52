/* SPDX-License-Identifier: BSD-3-Clause */
/* The size limit of the cache, and what is removed first. */
#include "core/input.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "timeline/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Without SIGHT_CACHE_SIZE: this size, or this part of the file system if that is less, so that a small home directory
   is not filled without being asked. */
static const uint64_t SIZE_USUAL = UINT64_C(10000000000);
enum { PART_OF_DISK = 10 };

enum { STEM = 16 }; /* digits of a name */

/* The files derived from one trace. */
struct kept {
    char stem[STEM + 1];
    uint64_t size;
    int64_t used_ns; /* when it was used last */
};

struct kept_list {
    struct kept *item;
    size_t count, capacity;
    uint64_t size;
};

static bool limit_of(const char *directory, uint64_t *limit)
{
    const char *wanted = getenv("SIGHT_CACHE_SIZE");
    struct statvfs disk;
    *limit = SIZE_USUAL;
    if (wanted && *wanted) {
        double bytes;
        if (!text_parse_bytes(wanted, &bytes))
            return false;
        *limit = (uint64_t)bytes;
        return true;
    }
    if (statvfs(directory, &disk) == 0 && (uint64_t)disk.f_blocks * disk.f_frsize / PART_OF_DISK < *limit)
        *limit = (uint64_t)disk.f_blocks * disk.f_frsize / PART_OF_DISK;
    return true;
}

/* In older versions copies were CLOG-2, not event files. */
static bool is_ours(const char *name)
{
    return strspn(name, "0123456789abcdef") == STEM &&
           (strcmp(name + STEM, ".index") == 0 || strcmp(name + STEM, ".events") == 0 ||
            strcmp(name + STEM, ".clog2") == 0);
}

static void note_file(struct kept_list *list, const char *name, const struct stat *about)
{
    struct kept *found = NULL;
    for (size_t i = 0; i < list->count && !found; i++)
        if (strncmp(list->item[i].stem, name, STEM) == 0)
            found = &list->item[i];
    if (!found) {
        ARRAY_PUSH(list->item, list->count, list->capacity, (struct kept){.size = 0});
        found = &list->item[list->count - 1];
        memcpy(found->stem, name, STEM);
    }
    /* The time of change is the time of use: cache_use sets it. Blocks, not bytes: they are what the disk lacks. */
    int64_t used_ns = (int64_t)about->st_mtim.tv_sec * 1000000000 + about->st_mtim.tv_nsec;
    uint64_t size = (uint64_t)about->st_blocks * 512;
    found->size += size;
    found->used_ns = larger(used_ns, found->used_ns);
    list->size += size;
}

static struct kept_list list_files(const char *directory)
{
    struct kept_list list = {0};
    DIR *open = opendir(directory);
    for (struct dirent *entry; open && (entry = readdir(open));) {
        struct stat about;
        if (is_ours(entry->d_name) && fstatat(dirfd(open), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(about.st_mode))
            note_file(&list, entry->d_name, &about);
    }
    if (open)
        closedir(open);
    return list;
}

static int by_use(const void *a, const void *b)
{
    const struct kept *left = a, *right = b;
    return (left->used_ns > right->used_ns) - (left->used_ns < right->used_ns);
}

/* False if it is in use: a timeline holds a shared lock on its index (cache_use). Between this test and the removal
   another process may open it; it then keeps reading the removed files, which exist until it closes them. */
static bool remove_kept(const char *directory, const struct kept *kept)
{
    char index[PATH_MAX + STEM + 16], trace[PATH_MAX + STEM + 16], old[PATH_MAX + STEM + 16];
    snprintf(index, sizeof index, "%s/%s.index", directory, kept->stem);
    snprintf(trace, sizeof trace, "%s/%s.events", directory, kept->stem);
    snprintf(old, sizeof old, "%s/%s.clog2", directory, kept->stem);
    int lock = open(index, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool used = lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) != 0;
    if (!used) {
        unlink(index);
        unlink(trace);
        unlink(old);
    }
    if (lock >= 0)
        close(lock);
    return !used;
}

void cache_use(struct cache *cache)
{
    int lock = private_open(cache->index);
    if (lock < 0)
        return;
    /* Both may fail, on a file system without locks or one that is mounted read-only: then the entry may be removed
       early, which costs time but no result. The lock ends with the descriptor, however the process ends. */
    (void)flock(lock, LOCK_SH | LOCK_NB);
    (void)futimens(lock, NULL);
    if (cache->lock > 0)
        close(cache->lock);
    cache->lock = lock;
}

enum status cache_limit_check(struct error *err)
{
    uint64_t limit;
    if (limit_of("/", &limit))
        return STATUS_OK;
    return error_set(err, ERROR_USAGE, "SIGHT_CACHE_SIZE: '%s' is not a number of bytes (such as 500M, 20G)",
                     getenv("SIGHT_CACHE_SIZE"));
}

void cache_limit(const struct cache *cache)
{
    char directory[PATH_MAX];
    uint64_t limit;
    const char *slash = strrchr(cache->index, '/');
    if (cache->directory || !slash)
        return;
    snprintf(directory, sizeof directory, "%.*s", (int)(slash - cache->index), cache->index);
    if (!limit_of(directory, &limit))
        return;
    /* The least recently used first, never the one just opened: alone it may exceed the limit. */
    struct kept_list list = list_files(directory);
    if (list.count > 0)
        qsort(list.item, list.count, sizeof *list.item, by_use);
    for (size_t i = 0; i < list.count && list.size > limit; i++)
        if (strncmp(list.item[i].stem, slash + 1, STEM) != 0 && remove_kept(directory, &list.item[i]))
            list.size -= list.item[i].size;
    free(list.item);
}
