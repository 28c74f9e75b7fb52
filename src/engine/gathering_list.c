/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/gathering_list.h"

#include "convert/otf2/otf2_parts.h"
#include "convert/reader.h"
#include "convert/record/launch_note.h"
#include "core/directory.h"
#include "core/memory.h"
#include "engine/serving.h"
#include "metrics/packing.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What tells a directory from those of the same name on other hosts: thousands of local files on a shared file system
   need not be listed by each process. Copies may have the same number, and the same time of modification, but are not
   made at the same time. */
struct place {
    uint64_t inode; /* 0: there is none */
    int64_t changed_ns;
};

struct list_job {
    enum job_kind kind;  /* JOB_LIST; the path follows */
    struct place locals; /* of the archive's local files */
};

void gathered_files_clear(struct gathered_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free(files->file[i].name);
        free(files->file[i].ranks);
    }
    free(files->file);
    *files = (struct gathered_files){0};
}

static void add_rank(struct gathered_file *file, int rank)
{
    ARRAY_PUSH(file->ranks, file->rank_count, file->rank_capacity, rank);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct gathered_file *)a)->name, ((const struct gathered_file *)b)->name);
}

static int64_t time_of(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void list_file(struct gathered_files *files, const char *directory, const char *name, int rank)
{
    struct stat about;
    char *path = directory_join(directory, name);
    if (stat(path, &about) == 0 && S_ISREG(about.st_mode)) {
        struct gathered_file file = {.name = memory_copy_string(name),
                                     .size = (uint64_t)about.st_size,
                                     .inode = (uint64_t)about.st_ino,
                                     .time_ns = time_of(about.st_mtim)};
        add_rank(&file, rank);
        ARRAY_PUSH(files->file, files->count, files->capacity, file);
    }
    free(path);
}

/* The files that a trace may consist of, by name; none where there is no such directory. */
static void list(struct gathered_files *files, const char *directory, int rank)
{
    size_t count = 0, part_count = 0;
    char **names = directory_names(directory, &count), **parts = otf2_part_names(directory, &part_count);
    for (size_t i = 0; names && i < count; i++)
        if (reader_is_part(directory, names[i]))
            list_file(files, directory, names[i], rank);
    for (size_t i = 0; i < part_count; i++)
        list_file(files, directory, parts[i], rank);
    if (names)
        directory_names_free(names, count);
    directory_names_free(parts, part_count);
    if (files->count > 0)
        qsort(files->file, files->count, sizeof *files->file, compare_names);
}

static struct place place_of_locals(const char *directory)
{
    struct place place = {0};
    struct stat about;
    char *path = otf2_local_directory(directory);
    if (path && stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        place = (struct place){(uint64_t)about.st_ino, time_of(about.st_ctim)};
    free(path);
    return place;
}

static bool is_same_place(struct place one, struct place other)
{
    return one.inode > 0 && one.inode == other.inode && one.changed_ns == other.changed_ns;
}

/* The other processes */

void gathering_list(struct team *team, const char *data)
{
    struct list_job job;
    struct gathered_files files = {0};
    memcpy(&job, data, sizeof job);
    if (is_same_place(job.locals, place_of_locals(data + sizeof job))) {
        team_send(team, 0, NULL, 0); /* the same files */
        return;
    }
    char *reply = NULL;
    size_t size = 0, capacity = 0;
    struct packing packing = {&reply, &size, &capacity};
    list(&files, data + sizeof job, team_rank(team));
    packing_put(&packing, &files.count, sizeof files.count);
    for (size_t i = 0; i < files.count; i++) {
        packing_put(&packing, &files.file[i], sizeof files.file[i]);
        packing_put(&packing, files.file[i].name, strlen(files.file[i].name) + 1);
    }
    team_send(team, 0, reply, size);
    free(reply);
    gathered_files_clear(&files);
}

/* Rank 0 */

void gathering_send(struct team *team, int rank, const void *job, size_t size, const char *path)
{
    size_t length = strlen(path) + 1;
    char *data = memory_new(size + length);
    memcpy(data, job, size);
    memcpy(data + size, path, length);
    team_send(team, rank, data, size + length);
    free(data);
}

/* A shared file system gives a file the same number on all hosts, or at least the same time. Not more is asked: the
   file may be growing, and seen later on one host than on another. */
static bool is_same(const struct gathered_file *one, const struct gathered_file *other)
{
    return one->inode == other->inode || (one->size == other->size && one->time_ns == other->time_ns);
}

/* Adds what a process has that nobody before it had. Names ascend on both sides. */
static void merge(struct gathered_files *ours, struct gathered_files *theirs)
{
    struct gathered_files all = {0};
    size_t at = 0;
    for (size_t i = 0; i < theirs->count; i++) {
        struct gathered_file *file = &theirs->file[i];
        int order = 1;
        while (at < ours->count && (order = strcmp(ours->file[at].name, file->name)) < 0)
            ARRAY_PUSH(all.file, all.count, all.capacity, ours->file[at++]);
        if (at == ours->count || order > 0) {
            ARRAY_PUSH(all.file, all.count, all.capacity, *file);
            file->name = NULL;
            file->ranks = NULL;
            continue;
        }
        add_rank(&ours->file[at], file->ranks[0]);
        ours->file[at].differs |= !is_same(&ours->file[at], file) && strcmp(file->name, LAUNCH_NOTE_NAME) != 0;
    }
    for (; at < ours->count; at++)
        ARRAY_PUSH(all.file, all.count, all.capacity, ours->file[at]);
    free(ours->file);
    *ours = all;
}

/* The process sees what rank 0 sees. */
static void merge_alike(struct gathered_files *ours, int rank)
{
    for (size_t i = 0; i < ours->count; i++)
        if (ours->file[i].ranks[0] == 0)
            add_rank(&ours->file[i], rank);
}

/* *alike: the process sees what rank 0 sees, and has sent no list. */
static struct gathered_files receive_list(struct team *team, int rank, bool *alike)
{
    struct gathered_files files = {0};
    size_t size, count = 0;
    char *data = team_receive(team, rank, &size);
    *alike = size == 0;
    if (*alike) {
        free(data);
        return files;
    }
    struct unpacking unpacking = {.data = data, .left = size};
    unpacking_take(&unpacking, &count, sizeof count);
    for (size_t i = 0; i < count; i++) {
        struct gathered_file file;
        unpacking_take(&unpacking, &file, sizeof file);
        file.name = memory_copy_string(unpacking.data);
        file.ranks = NULL;
        file.rank_count = file.rank_capacity = 0;
        add_rank(&file, rank);
        unpacking.data += strlen(file.name) + 1;
        unpacking.left -= strlen(file.name) + 1;
        ARRAY_PUSH(files.file, files.count, files.capacity, file);
    }
    free(data);
    return files;
}

/* The anchor, if there is an archive; NULL otherwise. */
static const char *anchor_of(const struct gathered_files *files)
{
    const char *anchor = NULL;
    for (size_t i = 0; i < files->count; i++)
        if (otf2_part_is_anchor(files->file[i].name)) {
            if (anchor)
                return NULL;
            anchor = files->file[i].name;
        }
    return anchor;
}

/* Leaves what belongs to the trace: an archive comes before recordings, as for the readers. */
static void keep_parts(struct gathered_files *files)
{
    const char *anchor = anchor_of(files);
    size_t kept = 0;
    for (size_t i = 0; i < files->count; i++) {
        struct gathered_file *file = &files->file[i];
        bool keep = anchor ? otf2_part_belongs(file->name, anchor) : !otf2_is_part(file->name);
        if (keep) {
            files->file[kept++] = *file;
        } else {
            free(file->name);
            free(file->ranks);
        }
    }
    files->count = kept;
}

/* Everybody looks at the same time; for an archive rank 0 only where another one sees something else. */
struct gathered_files gathering_list_all(struct team *team, const char *directory)
{
    struct gathered_files ours = {0};
    const struct list_job job = {JOB_LIST, place_of_locals(directory)};
    bool alike, listed = job.locals.inode == 0;
    for (int rank = 1; rank < team_size(team); rank++)
        gathering_send(team, rank, &job, sizeof job, directory);
    if (listed)
        list(&ours, directory, 0);
    for (int rank = 1; rank < team_size(team); rank++) {
        struct gathered_files theirs = receive_list(team, rank, &alike);
        if (!alike && !listed) {
            list(&ours, directory, 0);
            for (int before = 1; before < rank; before++)
                merge_alike(&ours, before);
            listed = true;
        }
        if (!alike)
            merge(&ours, &theirs);
        else if (listed)
            merge_alike(&ours, rank);
        gathered_files_clear(&theirs);
    }
    keep_parts(&ours);
    return ours;
}

struct gathered_file *gathered_files_find(const struct gathered_files *files, const char *name)
{
    const struct gathered_file key = {.name = (char *)(uintptr_t)name};
    return bsearch(&key, files->file, files->count, sizeof key, compare_names);
}
