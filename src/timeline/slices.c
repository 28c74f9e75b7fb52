/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/slices.h"

#include "convert/clog2/read_clog2.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/parallel.h"

#include <string.h>

enum {
    SLICE_LEAST = 4 << 20,      /* bytes that are worth a thread */
    SUMS_MOST = 1 << 14,        /* processes of all slices: each has sums of every process, some kB */
    DEFINITIONS_SHARE = 1 << 6, /* of the file, that may be definitions: every slice reads them */
};

static bool definitions_are_few(const struct clog2_known *known, uint64_t size)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < known->count; i++)
        bytes += known->ranges[i].to - known->ranges[i].from;
    return bytes < size / DEFINITIONS_SHARE;
}

/* Corrected clocks and damage depend on everything before them. */
bool slices_add_up(const struct reader *reader, char *const *paths, size_t count)
{
    return count == 1 && strcmp(paths[0], "-") != 0 && !reader->correction.apply && reader->damage.count == 0;
}

unsigned slices_worth(const struct reader *reader, char *const *paths, size_t count, unsigned slices)
{
    if (slices < 2 || !slices_add_up(reader, paths, count) || !reader_can_seek(reader))
        return 1;
    struct clog2_known known = clog2_known(reader);
    uint64_t size = reader_last_place(reader), most = size / SLICE_LEAST;
    uint32_t processes = larger(reader->defs->processes, 1U);
    if (!known.end_of_log || !definitions_are_few(&known, size))
        return 1;
    most = smaller(most, SUMS_MOST / processes);
    return (unsigned)smaller(most, (uint64_t)slices);
}

struct slice {
    struct reader *reader;
    struct accumulator *accumulator;
    stream_watch *watch; /* NULL: another slice is watched */
    void *context;
    bool exact;
};

/* Reads and adds up one slice. */
static void slice_read(void *context, size_t index)
{
    struct slice *slice = (struct slice *)context + index;
    struct sink *sinks[] = {accumulator_sink(slice->accumulator)};
    input_unpack_alone(slice->reader->input);
    slice->exact = stream_exactly(slice->reader, sinks, 1, slice->watch, slice->context);
}

void slices_range(const struct reader *reader, unsigned count, unsigned index, uint64_t *from, uint64_t *to)
{
    /* A slice ends where the next one begins, by the same computation: no event is read twice or left out. */
    uint64_t end = reader_last_place(reader);
    *from = clog2_block_of(reader, end / count * index);
    *to = UINT64_MAX;
    if (index + 1 < count)
        *to = clog2_block_of(reader, end / count * (index + 1));
}

/* Gives the slice its blocks. The last one has the reader that the trace was opened with, which then knows how the
   trace ends. */
static bool slice_open(struct slice *slices, unsigned count, unsigned index, struct reader *whole, const char *path)
{
    struct slice *slice = &slices[index];
    struct error err = {0};
    struct clog2_known known = clog2_known(whole);
    uint64_t from, to;
    slices_range(whole, count, index, &from, &to);
    if (index + 1 == count)
        slice->reader = whole;
    else
        slice->reader = clog2_open_known(path, &known, &err);
    return slice->reader && input_is_same_file(whole->input, slice->reader->input) &&
           reader_seek(slice->reader, from, to, &err) == STATUS_OK;
}

struct accumulator *slices_read(struct reader *reader, struct accumulator_options what, stream_watch *watch,
                                void *context)
{
    struct slice slice = {reader, accumulator_new(what), watch, context, false};
    slice_read(&slice, 0);
    if (slice.exact)
        return slice.accumulator;
    accumulator_free(slice.accumulator);
    return NULL;
}

/* One thread would drop states nested deeper than DEPTH_LIMIT; slices add up to that without noticing. */
static bool slices_are_exact(const struct slice *slices, size_t count)
{
    size_t depth = 0;
    for (size_t i = 0; i < count; i++) {
        if (!slices[i].exact)
            return false;
        depth += accumulator_depth_bound(slices[i].accumulator);
    }
    return depth <= DEPTH_LIMIT;
}

/* The first slice has all of it afterwards, and the definitions of the reader that stays. */
static bool slices_merge(struct slice *slices, size_t count)
{
    struct error err = {0};
    for (size_t i = 1; i < count; i++)
        if (accumulator_merge(slices[0].accumulator, slices[i].accumulator, &err) != STATUS_OK)
            return false;
    struct sink *sink = accumulator_sink(slices[0].accumulator);
    return sink->begin(sink, slices[count - 1].reader->defs, &err) == STATUS_OK;
}

struct accumulator *slices_accumulate(struct reader *reader, const char *path, unsigned slices,
                                      struct accumulator_options what, stream_watch *watch, void *context)
{
    struct slice *slice = memory_new(slices * sizeof *slice);
    bool exact = true;
    for (unsigned i = 0; i < slices && exact; i++) {
        what.later_slice = i > 0;
        slice[i].accumulator = accumulator_new(what);
        exact = slice_open(slice, slices, i, reader, path);
    }
    /* All slices are about as long: the progress of one is that of all. */
    slice[0].watch = watch;
    slice[0].context = context;
    if (exact)
        parallel_run(slices, slices, slice_read, slice);
    /* If anything is not exact, nothing is used: the caller reads all in one thread, and reports what it finds. */
    exact = exact && slices_are_exact(slice, slices) && slices_merge(slice, slices);
    struct accumulator *all = NULL;
    if (exact)
        all = slice[0].accumulator;
    for (unsigned i = 0; i < slices; i++) {
        if (slice[i].accumulator != all)
            accumulator_free(slice[i].accumulator);
        if (slice[i].reader != reader)
            reader_close(slice[i].reader);
    }
    free(slice);
    return all;
}

struct reader *slices_second_reader(const struct reader *reader, char *const *paths, size_t count)
{
    struct error err = {0};
    if (!slices_add_up(reader, paths, count) || !reader_can_seek(reader))
        return NULL;
    struct clog2_known known = clog2_known(reader);
    uint64_t size = reader_last_place(reader);
    /* What is packed is unpacked by the other threads, once. */
    if (!known.end_of_log || size < SLICE_LEAST || !definitions_are_few(&known, size) ||
        input_threads(reader->input) > 1)
        return NULL;
    struct reader *second = clog2_open_known(paths[0], &known, &err);
    if (second && input_is_same_file(reader->input, second->input) &&
        reader_seek(second, clog2_block_of(reader, 0), UINT64_MAX, &err) == STATUS_OK)
        return second;
    reader_close(second);
    return NULL;
}
