/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/clog2/clog2_parts.h"

#include "convert/clog2/clog2_file.h"
#include "convert/reader.h"
#include "core/directory.h"
#include "core/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* What the start of a file shows. */
struct part {
    char *path;
    bool clog2, finalized;
    int32_t world_rank; /* INT32_MAX if the first records do not have it */
    unsigned char world[CLOG2_UUID_SIZE];
};

/* MPE writes it after the clock shift and a few definitions. */
enum { RECORDS_BEFORE_WORLD = 16 };

void path_list_clear(struct path_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->paths[i]);
    free(list->paths);
    *list = (struct path_list){0};
}

static void path_list_add(struct path_list *list, const char *path)
{
    ARRAY_PUSH(list->paths, list->count, list->capacity, memory_copy_string(path));
}

/* World rank and identity of the run: from the record that makes the world, one of a local file's first. */
static void part_find_world(struct part *part, struct clog2_file *file, struct error *err)
{
    uint32_t kind;
    for (int i = 0; i < RECORDS_BEFORE_WORLD && clog2_file_next(file, &kind, err) == STATUS_OK; i++) {
        const unsigned char *body = file->input->at + file->header_size;
        bool big_endian = file->preamble.big_endian;
        if (kind == CLOG2_COMM && file->header_size == CLOG2_HEADER_SIZE && bytes_i32(body, big_endian) == 0) {
            part->world_rank = bytes_i32(body + 12, big_endian);
            memcpy(part->world, body + 16, CLOG2_UUID_SIZE);
            return;
        }
        clog2_file_take(file, kind);
    }
}

static enum status part_look(struct part *part, struct error *err)
{
    part->world_rank = INT32_MAX;
    struct input *input = input_open(part->path, err);
    if (!input)
        return STATUS_FAILED;
    enum status status = input_need(input, CLOG2_PREAMBLE_SIZE, err);
    if (status == STATUS_OK && clog2_is_file(input->at, input_available(input))) {
        struct reader reader = {.input = input}; /* collects damage that the real reading will note again */
        struct clog2_file file = {.quiet = true};
        struct error ignored = {0};
        part->clog2 = clog2_file_open(&file, &reader, input, &ignored) == STATUS_OK;
        part->finalized = part->clog2 && file.preamble.finalized;
        if (part->clog2 && !part->finalized)
            part_find_world(part, &file, &ignored);
    }
    input_close(input);
    if (status == STATUS_FAILED)
        return status;
    return STATUS_OK;
}

bool clog2_is_part(const char *path)
{
    struct part part = {.path = (char *)(uintptr_t)path};
    struct error ignored = {0};
    struct stat about;
    /* A pipe would wait for whoever writes to it. */
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && part_look(&part, &ignored) == STATUS_OK && part.clog2 &&
           !part.finalized;
}

/* By rank, whatever the files are called: MPE's names are random but for the end. */
static int part_compare(const void *a, const void *b)
{
    const struct part *left = a, *right = b;
    if (left->world_rank != right->world_rank)
        return left->world_rank < right->world_rank ? -1 : 1;
    return strcmp(left->path, right->path);
}

/* All regular files of a directory, by name. */
static enum status list_directory(struct path_list *files, const char *path, struct error *err)
{
    size_t count;
    /* Hidden files are temporary ones of converters and editors. */
    char **names = directory_names(path, &count);
    if (!names)
        return error_set_errno(err, ERROR_INPUT, "%s: cannot open", path);
    for (size_t i = 0; i < count; i++) {
        char *name;
        struct stat about;
        if (asprintf(&name, "%s/%s", path, names[i]) < 0)
            continue;
        if (stat(directory_place(name), &about) == 0 && S_ISREG(about.st_mode))
            path_list_add(files, name);
        free(name);
    }
    directory_names_free(names, count);
    return STATUS_OK;
}

/* Joined by mistake, two runs would give a trace that looks whole: every file must be of the same run and another
   process. */
static enum status parts_check(const struct part *parts, size_t count, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!parts[i].clog2 || parts[i].finalized)
            return error_set(err, ERROR_USAGE,
                             "%s: is a trace of its own: give one trace, or the local files of one run", parts[i].path);
        if (parts[i].world_rank == INT32_MAX)
            return error_set(err, ERROR_INPUT, "%s: does not say which process wrote it", parts[i].path);
        if (memcmp(parts[i].world, parts[0].world, CLOG2_UUID_SIZE) != 0)
            return error_set(err, ERROR_USAGE, "%s and %s belong to different runs", parts[0].path, parts[i].path);
        if (i > 0 && parts[i].world_rank == parts[i - 1].world_rank)
            return error_set(err, ERROR_USAGE, "%s and %s both belong to process %d", parts[i - 1].path, parts[i].path,
                             (int)parts[i].world_rank);
    }
    return STATUS_OK;
}

/* Of a directory's files: the local ones if there are any, else the one trace. */
static size_t directory_parts(struct part *parts, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].clog2 && !parts[i].finalized)
            parts[kept++] = parts[i];
        else
            free(parts[i].path);
    }
    return kept;
}

/* Every file is opened once for its first records: which process it is of stands nowhere else. */
static enum status list_parts(struct path_list *list, struct path_list *files, bool directory, struct error *err)
{
    size_t count = files->count;
    struct part *parts = memory_new(count * sizeof *parts);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        parts[i].path = memory_copy_string(files->paths[i]);
        status = part_look(&parts[i], err);
    }
    if (status == STATUS_OK && directory)
        count = directory_parts(parts, count);
    if (status == STATUS_OK && count > 0) {
        qsort(parts, count, sizeof *parts, part_compare);
        status = parts_check(parts, count, err);
    }
    for (size_t i = 0; i < count; i++) {
        if (status == STATUS_OK)
            path_list_add(list, parts[i].path);
        free(parts[i].path);
    }
    free(parts);
    list->parts = true;
    return status;
}

/* A pipe, once closed, would wait for another writer. */
static enum status list_paths(struct path_list *files, char *const *paths, size_t count, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (input_is_once(paths[i]))
            return error_set(err, ERROR_USAGE, "%s: the local files of a run are read twice: give regular files",
                             paths[i]);
        path_list_add(files, paths[i]);
    }
    return STATUS_OK;
}

/* One path that is a file is opened as it is, whatever its format; several must be the parts of one run. */
enum status clog2_parts_list(struct path_list *list, char *const *paths, size_t count, struct error *err)
{
    bool directory = count == 1 && directory_is(paths[0]);
    if (count == 1 && !directory) {
        path_list_add(list, paths[0]);
        return STATUS_OK;
    }
    struct path_list files = {0};
    enum status status = STATUS_OK;
    if (directory)
        status = list_directory(&files, paths[0], err);
    else
        status = list_paths(&files, paths, count, err);
    if (status == STATUS_OK && files.count != 1)
        status = list_parts(list, &files, directory, err);
    else if (status == STATUS_OK)
        path_list_add(list, files.paths[0]);
    path_list_clear(&files);
    if (status == STATUS_OK && list->count == 0)
        status = error_set(err, ERROR_INPUT,
                           "%s: a directory that does not hold the files of one run: give the trace itself", paths[0]);
    return status;
}
