/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/outline.h"

#include "convert/otf2/otf2_parts.h"
#include "core/directory.h"
#include "core/memory.h"
#include "engine/gathering.h"

#include <string.h>

/* A file; its name follows, and after all names the ranges of all. */
struct outline_file {
    uint64_t size;
    int64_t time_ns;
    uint64_t ranges;
    bool is_here;   /* the process has the file */
    bool elsewhere; /* the process gets nothing of it */
};

/* A file that the process has is read where it is; the note of the launch is that of rank 0 for all. */
static bool is_here(const struct gathered_file *file, int rank)
{
    return (file->in_pieces || otf2_is_part(file->name)) && gathering_has(file, rank);
}

/* The local files of an archive are read by processes that have them. */
static bool is_elsewhere(const struct gathered_file *file, int rank)
{
    return otf2_part_is_local(file->name) && !gathering_has(file, rank);
}

static struct ranges ranges_of(const char *directory, const struct gathered_file *file, int rank, struct range *whole)
{
    *whole = (struct range){0, file->size};
    if (is_here(file, rank) || is_elsewhere(file, rank))
        return (struct ranges){0};
    if (file->in_pieces)
        return directory_asked(directory, file->name);
    return (struct ranges){.range = whole, .count = 1};
}

static void pack_ranges(struct packing *packing, const char *directory, const struct gathered_file *file,
                        struct ranges ranges)
{
    char *path = directory_join(directory, file->name);
    for (size_t i = 0; i < ranges.count; i++) {
        struct range range = ranges.range[i];
        size_t size = (size_t)(range.to - range.from);
        char *data = memory_new(size);
        /* What cannot be read is missing there as well. */
        range.to = range.from + directory_read(path, range.from, data, size);
        packing_put(packing, &range, sizeof range);
        packing_put(packing, data, (size_t)(range.to - range.from));
        free(data);
    }
    free(path);
}

void outline_pack(struct packing *packing, const char *directory, int rank)
{
    size_t count;
    const struct gathered_file *files = gathering_files(directory, &count);
    struct range whole;
    packing_put(packing, &count, sizeof count);
    for (size_t i = 0; i < count; i++) {
        struct outline_file file = {.size = files[i].size,
                                    .time_ns = files[i].time_ns,
                                    .ranges = ranges_of(directory, &files[i], rank, &whole).count,
                                    .is_here = is_here(&files[i], rank),
                                    .elsewhere = is_elsewhere(&files[i], rank)};
        packing_put(packing, &file, sizeof file);
        packing_put(packing, files[i].name, strlen(files[i].name) + 1);
    }
    directory_alone(true);
    for (size_t i = 0; i < count; i++)
        pack_ranges(packing, directory, &files[i], ranges_of(directory, &files[i], rank, &whole));
    directory_alone(false);
    (void)directory_missed(); /* the process will miss it, too, if it needs it */
}

static const char *take_name(struct unpacking *unpacking)
{
    const char *name = unpacking->data;
    size_t size = strlen(name) + 1;
    unpacking->data += size;
    unpacking->left -= size;
    return name;
}

/* False: there can be no copy. The file has its place all the same. */
static bool add_file(const char *directory, const char *name, const struct outline_file *file)
{
    const struct gathered_file gathered = {.size = file->size, .time_ns = file->time_ns};
    struct error err = {0};
    int copy = -1;
    if (!file->is_here && !file->elsewhere)
        copy = gathering_copy(&gathered, &err);
    if (copy >= 0)
        directory_add_in_pieces(directory, name, copy);
    else if (file->elsewhere)
        directory_add_elsewhere(directory, name, file->size);
    else
        directory_add(directory, name, -1);
    return file->is_here || file->elsewhere || copy >= 0;
}

static bool take_ranges(struct unpacking *unpacking, const char *directory, const char *name, uint64_t count)
{
    bool kept = true;
    for (uint64_t i = 0; i < count; i++) {
        struct range range;
        unpacking_take(unpacking, &range, sizeof range);
        size_t size = (size_t)(range.to - range.from);
        kept = kept && directory_give(directory, name, range.from, unpacking->data, size);
        unpacking->data += size;
        unpacking->left -= size;
    }
    return kept;
}

bool outline_take(struct unpacking *unpacking, const char *directory)
{
    size_t count;
    /* A second time the files are known, and get more ranges. */
    bool new = !directory_is_scattered(directory), kept = true;
    directory_scatter(directory);
    unpacking_take(unpacking, &count, sizeof count);
    struct outline_file *files = memory_new(count * sizeof *files);
    const char **names = memory_new(count * sizeof *names);
    for (size_t i = 0; i < count; i++) {
        unpacking_take(unpacking, &files[i], sizeof files[i]);
        names[i] = take_name(unpacking);
        if (new)
            kept = add_file(directory, names[i], &files[i]) && kept;
    }
    for (size_t i = 0; i < count; i++)
        kept = take_ranges(unpacking, directory, names[i], files[i].ranges) && kept;
    free(files);
    free(names);
    return kept;
}
