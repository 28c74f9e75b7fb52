/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/directory.h"

#include "core/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
    char *name, *place; /* NULL: where it was */
    int copy;           /* -1: none */
    bool in_pieces;
    bool elsewhere;            /* it has no copy yet */
    uint64_t size;             /* of such a file */
    struct ranges here, asked; /* here: of a copy in pieces */
};

struct scattered {
    char *path;
    size_t length; /* without slashes at the end */
    struct file *files;
    size_t count, capacity;
    bool sorted;
    struct directory_source source;
};

static struct scattered *directories;
static size_t directory_count, directory_capacity;
static bool is_alone, has_missed;

static size_t length_of(const char *path, size_t length)
{
    while (length > 1 && path[length - 1] == '/')
        length--;
    return length;
}

static struct scattered *find(const char *path, size_t length)
{
    length = length_of(path, length);
    for (size_t i = 0; i < directory_count; i++)
        if (directories[i].length == length && memcmp(directories[i].path, path, length) == 0)
            return &directories[i];
    return NULL;
}

char *directory_join(const char *path, const char *name)
{
    char *joined;
    if (asprintf(&joined, "%s/%s", path, name) < 0)
        memory_failed();
    return joined;
}

bool directory_is_scattered(const char *path)
{
    return find(path, strlen(path)) != NULL;
}

void directory_scatter(const char *path)
{
    if (directory_is_scattered(path))
        return;
    struct scattered new = {.path = memory_copy_string(path), .length = length_of(path, strlen(path))};
    ARRAY_PUSH(directories, directory_count, directory_capacity, new);
}

/* The copy has no name of its own. */
static void set_copy(struct file *file, int copy)
{
    file->copy = copy;
    if (copy >= 0 && asprintf(&file->place, "/proc/self/fd/%d", copy) < 0)
        memory_failed();
}

void directory_add(const char *path, const char *name, int copy)
{
    struct scattered *directory = find(path, strlen(path));
    struct file file = {.name = memory_copy_string(name)};
    set_copy(&file, copy);
    /* Mostly they come in order. */
    directory->sorted =
        directory->count == 0 || (directory->sorted && strcmp(directory->files[directory->count - 1].name, name) < 0);
    ARRAY_PUSH(directory->files, directory->count, directory->capacity, file);
}

static int compare_files(const void *a, const void *b)
{
    return strcmp(((const struct file *)a)->name, ((const struct file *)b)->name);
}

/* Once, after the last file was added. */
static void sort(struct scattered *directory)
{
    if (!directory->sorted && directory->count > 0)
        qsort(directory->files, directory->count, sizeof *directory->files, compare_files);
    directory->sorted = true;
}

static struct file *find_file(struct scattered *directory, const char *name)
{
    const struct file key = {.name = (char *)(uintptr_t)name};
    if (!directory || directory->count == 0)
        return NULL;
    sort(directory);
    return bsearch(&key, directory->files, directory->count, sizeof key, compare_files);
}

/* The scattered directory that a file is in, or below. */
static struct scattered *find_above(const char *path, const char **name)
{
    for (const char *slash = path; directory_count > 0 && (slash = strchr(slash, '/')); slash++) {
        struct scattered *directory = find(path, (size_t)(slash - path));
        *name = slash + 1;
        if (directory && **name != '/')
            return directory;
    }
    return NULL;
}

static bool can_fetch(const struct scattered *directory)
{
    bool can = directory->source.fetch && !is_alone;
    has_missed |= !can;
    return can;
}

/* STATUS_END: the file is elsewhere, and cannot be had. */
static enum status need_copy(const struct scattered *directory, struct file *file, struct error *err)
{
    if (!file->elsewhere)
        return STATUS_OK;
    if (!can_fetch(directory))
        return STATUS_END;
    int copy = directory->source.copy(directory->source.context, file->name, err);
    if (copy < 0)
        return STATUS_FAILED;
    set_copy(file, copy);
    file->in_pieces = true;
    file->elsewhere = false;
    return STATUS_OK;
}

static const char *place_of(const struct file *file, const char *path)
{
    return file && file->place ? file->place : path;
}

const char *directory_place(const char *path)
{
    struct error err;
    const char *name;
    struct scattered *directory = find_above(path, &name);
    struct file *file = directory ? find_file(directory, name) : NULL;
    if (file && need_copy(directory, file, &err) != STATUS_OK)
        return path; /* where it is not */
    return place_of(file, path);
}

bool directory_size(const char *path, uint64_t *size)
{
    const char *name;
    struct scattered *directory = find_above(path, &name);
    const struct file *file = directory ? find_file(directory, name) : NULL;
    struct stat about;
    *size = file ? file->size : 0;
    if (file && file->elsewhere)
        return true;
    if (stat(place_of(file, path), &about) != 0 || !S_ISREG(about.st_mode))
        return false;
    *size = (uint64_t)about.st_size;
    return true;
}

/* Files in pieces */

void directory_add_in_pieces(const char *path, const char *name, int copy)
{
    directory_add(path, name, copy);
    struct scattered *directory = find(path, strlen(path));
    directory->files[directory->count - 1].in_pieces = true;
}

void directory_add_elsewhere(const char *path, const char *name, uint64_t size)
{
    directory_add(path, name, -1);
    struct scattered *directory = find(path, strlen(path));
    struct file *file = &directory->files[directory->count - 1];
    file->elsewhere = true;
    file->size = size;
}

void directory_fetch_by(const char *path, struct directory_source source)
{
    find(path, strlen(path))->source = source;
}

/* The copy keeps its time, by which traces are known. */
static bool write_piece(struct file *file, const char *data, size_t size, uint64_t at)
{
    struct stat before;
    bool known = fstat(file->copy, &before) == 0;
    size_t done = 0;
    while (done < size) {
        ssize_t some = pwrite(file->copy, data + done, size - done, (off_t)(at + done));
        if (some <= 0)
            break;
        done += (size_t)some;
    }
    ranges_add(&file->here, at, at + done);
    int reason = errno;
    bool kept = known && futimens(file->copy, (struct timespec[2]){before.st_mtim, before.st_mtim}) == 0;
    errno = reason;
    return kept && done == size;
}

bool directory_give(const char *path, const char *name, uint64_t at, const void *data, size_t size)
{
    struct error err;
    struct scattered *directory = find(path, strlen(path));
    struct file *file = find_file(directory, name);
    return file && need_copy(directory, file, &err) == STATUS_OK && file->copy >= 0 &&
           write_piece(file, data, size, at);
}

/* What of [at, at + size) lies in the file. */
static size_t size_within(const struct file *file, uint64_t at, size_t size)
{
    struct stat about;
    if (fstat(file->copy, &about) != 0 || (uint64_t)about.st_size <= at)
        return 0;
    uint64_t room = (uint64_t)about.st_size - at;
    return size < room ? size : (size_t)room;
}

static bool is_whole(const struct file *file)
{
    struct stat about;
    return fstat(file->copy, &about) == 0 && ranges_have(&file->here, 0, (uint64_t)about.st_size);
}

enum status directory_bring(const char *path, struct error *err)
{
    const char *name;
    struct scattered *directory = find_above(path, &name);
    struct file *file = directory ? find_file(directory, name) : NULL;
    if (!file)
        return STATUS_OK;
    enum status status = need_copy(directory, file, err);
    if (status != STATUS_OK || !file->in_pieces || is_whole(file))
        return status;
    if (can_fetch(directory))
        return directory->source.whole(directory->source.context, name, err);
    return STATUS_END;
}

/* From another host; kept, unless the disk is full: then it will be fetched again. */
static size_t read_from_afar(const struct scattered *directory, struct file *file, uint64_t at, void *data, size_t size)
{
    if (!can_fetch(directory))
        return 0;
    size_t got = directory->source.fetch(directory->source.context, file->name, at, data, size);
    (void)write_piece(file, data, got, at);
    return got;
}

/* Opened for each piece: a recording of thousands of processes has more files than a program may have open. */
static size_t read_from_here(const char *path, uint64_t at, void *data, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    size_t done = 0;
    while (done < size) {
        ssize_t got = pread(file, (char *)data + done, size - done, (off_t)(at + done));
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    close(file);
    return done;
}

size_t directory_read(const char *path, uint64_t at, void *data, size_t size)
{
    const char *name;
    struct scattered *directory = find_above(path, &name);
    struct file *file = directory ? find_file(directory, name) : NULL;
    if (file && !is_alone)
        ranges_add(&file->asked, at, at + size);
    struct error err;
    if (file && need_copy(directory, file, &err) != STATUS_OK)
        return 0;
    if (!file || !file->in_pieces)
        return read_from_here(place_of(file, path), at, data, size);
    size = size_within(file, at, size);
    if (ranges_have(&file->here, at, at + size))
        return read_from_here(file->place, at, data, size);
    return read_from_afar(directory, file, at, data, size);
}

struct ranges directory_asked(const char *path, const char *name)
{
    const struct file *file = find_file(find(path, strlen(path)), name);
    return file ? file->asked : (struct ranges){0};
}

void directory_alone(bool alone)
{
    is_alone = alone;
}

bool directory_missed(void)
{
    bool missed = has_missed;
    has_missed = false;
    return missed;
}

/* What a path leads to in a scattered directory: that itself, or a directory below it; *prefix: what the names of files
   there begin with. NULL: nothing of the kind. */
static struct scattered *find_directory(const char *path, const char **prefix)
{
    struct scattered *directory = find(path, strlen(path));
    *prefix = "";
    if (directory)
        return directory;
    directory = find_above(path, prefix);
    if (!directory || find_file(directory, *prefix))
        return NULL;
    size_t length = strlen(*prefix);
    for (size_t i = 0; i < directory->count; i++)
        if (strncmp(directory->files[i].name, *prefix, length) == 0 && directory->files[i].name[length] == '/')
            return directory;
    return NULL;
}

bool directory_is(const char *path)
{
    struct stat about;
    const char *prefix;
    return find_directory(path, &prefix) || (stat(path, &about) == 0 && S_ISDIR(about.st_mode));
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Files below directories are seen as these. */
static char **scattered_names(struct scattered *directory, const char *prefix, size_t *count)
{
    char **names = NULL;
    size_t capacity = 0, length = strlen(prefix);
    *count = 0;
    ARRAY_RESERVE(names, capacity, 1);
    sort(directory);
    for (size_t i = 0; i < directory->count; i++) {
        const char *name = directory->files[i].name;
        if (length > 0 && (strncmp(name, prefix, length) != 0 || name[length] != '/'))
            continue;
        char *part = memory_copy_string(length > 0 ? name + length + 1 : name);
        part[strcspn(part, "/")] = '\0';
        /* Those of a directory follow each other. */
        if (*count > 0 && strcmp(names[*count - 1], part) == 0)
            free(part);
        else
            ARRAY_PUSH(names, *count, capacity, part);
    }
    qsort(names, *count, sizeof *names, compare_names);
    return names;
}

char **directory_names(const char *path, size_t *count)
{
    const char *prefix;
    struct scattered *scattered = find_directory(path, &prefix);
    if (scattered)
        return scattered_names(scattered, prefix, count);
    DIR *open = opendir(path);
    if (!open)
        return NULL;
    char **names = NULL;
    size_t capacity = 0;
    *count = 0;
    ARRAY_RESERVE(names, capacity, 1);
    for (const struct dirent *entry; (entry = readdir(open));)
        if (entry->d_name[0] != '.')
            ARRAY_PUSH(names, *count, capacity, memory_copy_string(entry->d_name));
    closedir(open);
    qsort(names, *count, sizeof *names, compare_names);
    return names;
}

void directory_names_free(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}
