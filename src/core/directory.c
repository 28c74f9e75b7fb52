/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/directory.h"

#include "core/memory.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct file {
    char *name, *place; /* NULL: where it was */
};

struct scattered {
    char *path;
    size_t length; /* without slashes at the end */
    struct file *files;
    size_t count, capacity;
    bool sorted;
};

static struct scattered *directories;
static size_t directory_count, directory_capacity;

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

void directory_add(const char *path, const char *name, int copy)
{
    struct scattered *directory = find(path, strlen(path));
    struct file file = {.name = memory_copy_string(name)};
    /* The copy has no name of its own. */
    if (copy >= 0 && asprintf(&file.place, "/proc/self/fd/%d", copy) < 0)
        memory_failed();
    ARRAY_PUSH(directory->files, directory->count, directory->capacity, file);
    directory->sorted = false;
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

const char *directory_place(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct scattered *directory = slash && directory_count > 0 ? find(path, (size_t)(slash - path)) : NULL;
    if (!directory || directory->count == 0)
        return path;
    sort(directory);
    const struct file key = {.name = (char *)(uintptr_t)(slash + 1)};
    const struct file *file = bsearch(&key, directory->files, directory->count, sizeof key, compare_files);
    return file && file->place ? file->place : path;
}

bool directory_is(const char *path)
{
    struct stat about;
    return directory_is_scattered(path) || (stat(path, &about) == 0 && S_ISDIR(about.st_mode));
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char **scattered_names(struct scattered *directory, size_t *count)
{
    char **names = memory_new((directory->count + 1) * sizeof *names);
    sort(directory);
    for (size_t i = 0; i < directory->count; i++)
        names[i] = memory_copy_string(directory->files[i].name);
    *count = directory->count;
    return names;
}

char **directory_names(const char *path, size_t *count)
{
    struct scattered *scattered = find(path, strlen(path));
    if (scattered)
        return scattered_names(scattered, count);
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
