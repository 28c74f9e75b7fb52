/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/cache.h"

#include "core/checksum.h"
#include "core/directory.h"
#include "core/input.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/unfinished.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* This many pieces of each file are examined, evenly spread, including the first and the last: 256 kB, read in
   milliseconds, where a checksum of a trace of 100 GB would take longer than most looks at it. Size and time of change
   are in the identity, too; the pieces find a file that was replaced by one with the same. */
enum { PIECES = 64, PIECE = 4096 };

bool identity_equal(const struct trace_identity *a, const struct trace_identity *b)
{
    return a->size == b->size && a->mtime_ns == b->mtime_ns && a->hash == b->hash;
}

static void identity_add_pieces(struct trace_identity *identity, const char *path, uint64_t size)
{
    unsigned char piece[PIECE];
    for (uint64_t i = 0; i < PIECES; i++) {
        /* A small file is read as a whole. */
        uint64_t at = i * PIECE;
        if (size > (uint64_t)PIECES * PIECE)
            at = (size - PIECE) / (PIECES - 1) * i;
        /* The quotient was rounded down: the last piece must end with the file. */
        if (size > (uint64_t)PIECES * PIECE && i == PIECES - 1)
            at = size - PIECE;
        if (at >= size)
            break;
        identity->hash = checksum_add(identity->hash, piece, directory_read(path, at, piece, sizeof piece));
    }
}

static enum status identity_add_file(struct trace_identity *identity, const char *path, struct error *err)
{
    struct stat about;
    /* Not blocking: opening a pipe that nobody writes to would hang. */
    int fd = open(directory_place(path), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &about) < 0) {
        char *shown = input_escape_name(path);
        error_set_errno(err, ERROR_INPUT, "%s: cannot open", shown);
        free(shown);
        if (fd >= 0)
            close(fd);
        return STATUS_FAILED;
    }
    int64_t mtime_ns = (int64_t)about.st_mtim.tv_sec * 1000000000 + about.st_mtim.tv_nsec;
    uint64_t numbers[2] = {(uint64_t)about.st_size, (uint64_t)mtime_ns};
    identity->mtime_ns = larger(mtime_ns, identity->mtime_ns);
    identity->hash = checksum_add(identity->hash, numbers, sizeof numbers);
    if (S_ISREG(about.st_mode)) {
        identity->size += (uint64_t)about.st_size;
        identity_add_pieces(identity, path, (uint64_t)about.st_size);
    }
    close(fd);
    return STATUS_OK;
}

static int name_compare(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* The maximum depth of a trace's directories. It also ends a walk through links that lead back up. */
enum { DEPTH = 3 };

static enum status identity_add(struct trace_identity *identity, const char *path, unsigned depth, struct error *err);

static enum status identity_add_directory(struct trace_identity *identity, const char *path, unsigned depth,
                                          struct error *err)
{
    /* Sorted, so that the identity does not depend on the order in which the file system has the names. */
    size_t count = 0;
    char **names = directory_names(path, &count);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        char file[PATH_MAX];
        snprintf(file, sizeof file, "%s/%s", path, names[i]);
        status = identity_add(identity, file, depth + 1, err);
    }
    if (names)
        directory_names_free(names, count);
    return status;
}

static enum status identity_add(struct trace_identity *identity, const char *path, unsigned depth, struct error *err)
{
    if (!directory_is(path))
        return identity_add_file(identity, path, err);
    if (depth >= DEPTH)
        return STATUS_OK;
    return identity_add_directory(identity, path, depth, err);
}

/* Traces of several files, by the ending of the one that the user named: endings of the others with the same stem.
   OTF2's anchor has a directory next to it. */
static const struct family {
    const char *of, *others[2];
} families[] = {{".otf2", {""}},
                {".prv", {".pcf", ".row"}},
                {".prv.gz", {".pcf", ".row"}},
                {".prv.zst", {".pcf", ".row"}},
                {".meta", {"-[0-9]*.bin"}},
                {"-[0-9]*.bin", {".meta", "-[0-9]*.bin"}},
                {".[0-9]*.[0-9]*.[0-9]*.trc", {".[0-9]*.trc"}}};

/* The family of a file, and the length of its stem; NULL: it is a trace of its own. */
static const struct family *family_of(const char *named, size_t *stem)
{
    /* The last ending that fits: "a.b.prv" has the stem "a.b". */
    const struct family *found = NULL;
    for (const char *end = strpbrk(named, ".-"); end; end = strpbrk(end + 1, ".-"))
        for (size_t i = 0; i < sizeof families / sizeof *families; i++)
            if (fnmatch(families[i].of, end, 0) == 0) {
                *stem = (size_t)(end - named);
                found = &families[i];
            }
    return found;
}

static bool belongs(const struct family *family, const char *named, size_t stem, const char *name)
{
    if (strncmp(name, named, stem) != 0 || strcmp(name, named) == 0)
        return false;
    for (size_t i = 0; i < sizeof family->others / sizeof *family->others && family->others[i]; i++)
        if (fnmatch(family->others[i], name + stem, 0) == 0)
            return true;
    return false;
}

/* The file that the user named, and those in its directory that belong to it. */
static enum status identity_add_named(struct trace_identity *identity, const char *path, struct error *err)
{
    char file[PATH_MAX];
    const char *slash = strrchr(path, '/'), *named = slash ? slash + 1 : path;
    int directory = (int)(named - path);
    size_t stem = 0;
    const struct family *family = NULL;
    if (!directory_is(path))
        family = family_of(named, &stem);
    enum status status = identity_add(identity, path, 0, err);
    if (status != STATUS_OK || !family)
        return status;
    struct dirent **names;
    snprintf(file, sizeof file, "%.*s", directory, path);
    int count = scandir(directory > 0 ? file : ".", &names, NULL, name_compare);
    for (int i = 0; i < count; i++) {
        snprintf(file, sizeof file, "%.*s%s", directory, path, names[i]->d_name);
        if (status == STATUS_OK && belongs(family, named, stem, names[i]->d_name))
            status = identity_add(identity, file, 1, err);
        free(names[i]);
    }
    if (count >= 0)
        free(names);
    return status;
}

/* Makes the directory and its parents; false if that fails, or nothing can be written there. */
static bool make_directory(char *path)
{
    for (char *at = path + 1; *at; at++)
        if (*at == '/') {
            *at = '\0';
            /* Traces may be secret: nobody else reads the copies. */
            bool there = mkdir(path, 0700) == 0 || errno == EEXIST;
            *at = '/';
            if (!there)
                return false;
        }
    return (mkdir(path, 0700) == 0 || errno == EEXIST) && access(path, W_OK | X_OK) == 0;
}

static bool cache_directory(char *path, size_t size)
{
    static const struct {
        const char *variable, *below;
    } places[] = {{"SIGHT_CACHE", ""}, {"XDG_CACHE_HOME", "/sight"}, {"HOME", "/.cache/sight"}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *value = getenv(places[i].variable);
        if (!value || !*value)
            continue;
        /* The first variable that is set decides, even if nothing can be written there: then the copy is temporary, not
           in a place that the user did not ask for. */
        int length = snprintf(path, size, "%s%s", value, places[i].below);
        return length > 0 && (size_t)length < size && make_directory(path);
    }
    return false;
}

static enum status cache_temporary(struct cache *cache, char *path, size_t size, struct error *err)
{
    snprintf(path, size, "%s/sight-view.XXXXXX", temporary_directory());
    if (!unfinished_make_directory(path, &cache->unfinished))
        return error_set_errno(err, ERROR_OUTPUT, "cannot create a directory in %s", temporary_directory());
    cache->directory = memory_copy_string(path);
    return STATUS_OK;
}

/* A number from the paths, the same from any working directory. */
static uint64_t name_of(char *const *paths, size_t count, const char *kind)
{
    uint64_t name = checksum_add(CHECKSUM_START, kind, strlen(kind));
    for (size_t i = 0; i < count; i++) {
        char *real = realpath(paths[i], NULL);
        const char *path = real ? real : paths[i];
        name = checksum_add(name, path, strlen(path));
        free(real);
    }
    return name;
}

enum status cache_open(struct cache *cache, char *const *paths, size_t count, const char *kind, struct error *err)
{
    char path[PATH_MAX];
    *cache = (struct cache){.identity = {.hash = CHECKSUM_START}};
    bool standard = false;
    /* A wrong SIGHT_CACHE_SIZE is reported now, not after an hour of reading. */
    if (cache_limit_check(err) != STATUS_OK)
        return STATUS_FAILED;
    for (size_t i = 0; i < count; i++) {
        standard = standard || strcmp(paths[i], "-") == 0;
        if (!standard && identity_add_named(&cache->identity, paths[i], err) != STATUS_OK)
            return STATUS_FAILED;
    }
    if ((standard || !cache_directory(path, sizeof path)) &&
        cache_temporary(cache, path, sizeof path, err) != STATUS_OK)
        return STATUS_FAILED;
    size_t size = strlen(path) + sizeof "/0123456789abcdef.events";
    unsigned long long name = name_of(paths, count, kind);
    cache->index = memory_new(size);
    cache->trace = memory_new(size);
    snprintf(cache->index, size, "%s/%016llx.index", path, name);
    snprintf(cache->trace, size, "%s/%016llx.events", path, name);
    return STATUS_OK;
}

void cache_close(struct cache *cache)
{
    /* A temporary copy goes with the timeline; until here a signal would remove it (unfinished.h). */
    if (cache->directory) {
        if (cache->index)
            unlink(cache->index);
        if (cache->trace)
            unlink(cache->trace);
        rmdir(cache->directory);
        unfinished_drop(cache->unfinished);
    }
    if (cache->lock > 0)
        close(cache->lock);
    free(cache->directory);
    free(cache->index);
    free(cache->trace);
    *cache = (struct cache){0};
}
