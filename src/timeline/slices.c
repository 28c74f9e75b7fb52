/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/slices.h"

#include "convert/clog2/read_clog2.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/parallel.h"

#include <math.h>
#include <string.h>

enum {
    SLICE_LEAST = 4 << 20,     /* bytes that are worth a thread */
    SUMS_MOST = 1 << 14,       /* processes of all slices: each has sums of every process, some kB */
    PROCESSES_LEAST = 1 << 10, /* whose events are worth a thread that reads those of all */
    RECORD_BYTES = 37,         /* of a record, on average */
    /* Of the file, this part may be definitions: every slice reads them, */
    DEFINITIONS_SHARE = 1 << 6,
    DEFINITIONS_SHARE_OF_WHOLE = 1 << 3, /* even one that reads all events, too */
};

static bool definitions_are_few(const struct clog2_known *known, uint64_t size, unsigned share)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < known->count; i++)
        bytes += known->ranges[i].to - known->ranges[i].from;
    return bytes < size / share;
}

/* Corrected clocks and damage depend on everything before them. */
bool slices_add_up(const struct reader *reader, char *const *paths, size_t count)
{
    return count == 1 && strcmp(paths[0], "-") != 0 && !reader->correction.apply && reader->damage.count == 0;
}

/* How many of so many readers, each with its own definitions, a trace is long enough for; 1: it needs one pass. */
static unsigned readers_worth(const struct reader *reader, char *const *paths, size_t count, unsigned readers,
                              unsigned share)
{
    if (readers < 2 || !slices_add_up(reader, paths, count) || !reader_can_seek(reader))
        return 1;
    struct clog2_known known = clog2_known(reader);
    uint64_t size = reader_last_place(reader);
    if (!known.end_of_log || !definitions_are_few(&known, size, share))
        return 1;
    return (unsigned)smaller(size / SLICE_LEAST, (uint64_t)readers);
}

static unsigned by_time_most(const struct reader *reader)
{
    return SUMS_MOST / larger(reader->defs->processes, 1U);
}

unsigned slices_worth(const struct reader *reader, char *const *paths, size_t count, unsigned slices)
{
    return smaller(readers_worth(reader, paths, count, slices, DEFINITIONS_SHARE), by_time_most(reader));
}

unsigned slices_worth_by_process(const struct reader *reader, char *const *paths, size_t count, unsigned slices)
{
    if (by_time_most(reader) > 1)
        return 1;
    return smaller(readers_worth(reader, paths, count, slices, DEFINITIONS_SHARE_OF_WHOLE),
                   reader->defs->processes / PROCESSES_LEAST);
}

/* docs/scale.md, "A model": reading all records of a slice, adding up those of some processes, and merging slices of
   the same processes in a tree. All of it in ns; gathering the sums costs the same whatever the division. */
static double plan_cost(double records, double processes, struct slicing plan)
{
    const double skip = 8, add = 12, merge = 3360; /* a record, a record, a process with 1 GB/s */
    return records / plan.slices * (skip + add / plan.groups) +
           ceil(log2(plan.slices)) * processes / plan.groups * merge;
}

struct slicing slices_plan(const struct reader *reader, char *const *paths, size_t count, unsigned readers)
{
    struct slicing best = {1, 1};
    unsigned whole = readers_worth(reader, paths, count, readers, DEFINITIONS_SHARE_OF_WHOLE);
    unsigned slices = readers_worth(reader, paths, count, readers, DEFINITIONS_SHARE);
    if (whole < 2)
        return best;
    uint32_t processes = larger(reader->defs->processes, 1U);
    double records = (double)reader_last_place(reader) / RECORD_BYTES, least = plan_cost(records, processes, best);
    unsigned most = smaller(whole, larger(processes / PROCESSES_LEAST, 1U));
    struct slicing plan;
    for (plan.groups = 1; plan.groups <= most; plan.groups++)
        for (plan.slices = 1; plan.slices == 1 || plan.slices <= smaller(slices, readers / plan.groups);
             plan.slices++) {
            double cost = plan_cost(records, processes, plan);
            if (cost < least) {
                best = plan;
                least = cost;
            }
        }
    return best;
}

struct slice {
    struct reader *reader; /* NULL: it cannot be had */
    bool last;             /* its reader is the caller's */
    struct sink *const *sinks;
    size_t sink_count;
    stream_watch *watch; /* NULL: another slice is watched */
    void *context;
    bool exact;
};

struct slices {
    struct slice *slice;
    unsigned count;
    bool by_process;
};

bool slices_read(struct reader *reader, struct sink *const *sinks, size_t count, stream_watch *watch, void *context)
{
    input_unpack_alone(reader->input);
    clog2_count_every_kind(reader);
    return stream_exactly(reader, sinks, count, watch, context);
}

static void slice_read(void *context, size_t index)
{
    struct slice *slice = (struct slice *)context + index;
    slice->exact = slices_read(slice->reader, slice->sinks, slice->sink_count, slice->watch, slice->context);
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

/* Only the reader that the trace was opened with, `whole`, knows how long it is. */
static bool slice_stand(const struct slices *slices, unsigned index, struct reader *reader, const struct reader *whole)
{
    struct error err = {0};
    uint64_t from, to, processes = whole->defs->processes;
    if (!slices->by_process) {
        slices_range(whole, slices->count, index, &from, &to);
        return reader_seek(reader, from, to, &err) == STATUS_OK;
    }
    from = processes * index / slices->count;
    to = processes * (index + 1) / slices->count;
    reader->format->processes->select(reader, (size_t)from, (size_t)to);
    return true;
}

/* The last slice has the reader that the trace was opened with, which then knows how the trace ends. */
static bool slice_open(struct slices *slices, unsigned index, struct reader *whole, const char *path)
{
    struct slice *slice = &slices->slice[index];
    struct error err = {0};
    struct clog2_known known = clog2_known(whole);
    slice->last = index + 1 == slices->count;
    slice->reader = slice->last ? whole : clog2_open_known(path, &known, &err);
    return slice->reader && input_is_same_file(whole->input, slice->reader->input) &&
           slice_stand(slices, index, slice->reader, whole);
}

struct slices *slices_open(struct reader *reader, const char *path, unsigned count, bool by_process)
{
    struct slices *slices = memory_new(sizeof *slices);
    slices->slice = memory_new(count * sizeof *slices->slice);
    slices->count = count;
    slices->by_process = by_process;
    for (unsigned i = 0; i < count; i++)
        if (!slice_open(slices, i, reader, path)) {
            slices_close(slices);
            return NULL;
        }
    return slices;
}

void slices_close(struct slices *slices)
{
    if (!slices)
        return;
    for (unsigned i = 0; i < slices->count; i++)
        if (!slices->slice[i].last)
            reader_close(slices->slice[i].reader);
    free(slices->slice);
    free(slices);
}

bool slices_run(struct slices *slices, struct sink *const *sinks, size_t each, stream_watch *watch, void *context)
{
    struct slice *slice = slices->slice, *last = &slice[slices->count - 1];
    for (unsigned i = 0; i < slices->count; i++) {
        slice[i].sinks = sinks + i * each;
        slice[i].sink_count = each;
    }
    /* All slices are about as long: the progress of one is that of all. */
    slice[0].watch = watch;
    slice[0].context = context;
    parallel_run(slices->count, slices->count, slice_read, slice);
    bool exact = true;
    for (unsigned i = 0; i < slices->count; i++) {
        exact = exact && slice[i].exact;
        if (!slice[i].last && !slices->by_process) /* of processes, each has counted all */
            reader_add_counts(last->reader, slice[i].reader->records, slice[i].reader->record_kinds);
    }
    reader_drop_unused_counts(last->reader);
    return exact;
}

/* One thread would drop states nested deeper than DEPTH_LIMIT; slices of the time add up to that without noticing. */
static bool slices_are_exact(struct accumulator *const *parts, size_t count)
{
    size_t depth = 0;
    for (size_t i = 0; i < count; i++)
        depth += accumulator_depth_bound(parts[i]);
    return depth <= DEPTH_LIMIT;
}

/* The first part has all of it afterwards, and the definitions of the reader that stays. */
static bool slices_merge(struct accumulator *const *parts, size_t count, const struct reader *reader)
{
    struct error err = {0};
    for (size_t i = 1; i < count; i++)
        if (accumulator_merge(parts[0], parts[i], &err) != STATUS_OK)
            return false;
    struct sink *sink = accumulator_sink(parts[0]);
    return sink->begin(sink, reader->defs, &err) == STATUS_OK;
}

struct accumulator *slices_accumulate(struct reader *reader, const char *path, unsigned count, bool by_process,
                                      struct accumulator_options what, stream_watch *watch, void *context)
{
    struct slices *slices = slices_open(reader, path, count, by_process);
    if (!slices)
        return NULL;
    struct accumulator **parts = memory_new(count * sizeof *parts);
    struct sink **sinks = memory_new(count * sizeof *sinks);
    for (unsigned i = 0; i < count; i++) {
        what.later_slice = i > 0 && !by_process;
        parts[i] = accumulator_new(what);
        sinks[i] = accumulator_sink(parts[i]);
    }
    /* If anything is not exact, nothing is used: the caller reads all in one thread, and reports what it finds. */
    bool exact = slices_run(slices, sinks, 1, watch, context) && (by_process || slices_are_exact(parts, count)) &&
                 slices_merge(parts, count, reader);
    struct accumulator *all = parts[0];
    for (unsigned i = exact; i < count; i++)
        accumulator_free(parts[i]);
    slices_close(slices);
    free(parts);
    free(sinks);
    if (exact)
        return all;
    return NULL;
}

struct clog2_known slices_known(const struct reader *reader, char *const *paths, size_t count)
{
    const struct clog2_known none = {0};
    if (!slices_add_up(reader, paths, count) || !reader_can_seek(reader))
        return none;
    struct clog2_known known = clog2_known(reader);
    uint64_t size = reader_last_place(reader);
    return known.end_of_log && size >= SLICE_LEAST && definitions_are_few(&known, size, DEFINITIONS_SHARE) ? known
                                                                                                           : none;
}

struct reader *slices_open_whole(const char *path, const struct clog2_known *known)
{
    struct error err = {0};
    struct reader *reader = clog2_open_known(path, known, &err);
    if (reader && reader_seek(reader, clog2_block_of(reader, 0), UINT64_MAX, &err) == STATUS_OK)
        return reader;
    reader_close(reader);
    return NULL;
}

struct reader *slices_second_reader(const struct reader *reader, char *const *paths, size_t count)
{
    struct clog2_known known = slices_known(reader, paths, count);
    /* What is packed is unpacked by the other threads, once. */
    if (!known.end_of_log || input_threads(reader->input) > 1)
        return NULL;
    struct reader *second = slices_open_whole(paths[0], &known);
    if (second && input_is_same_file(reader->input, second->input))
        return second;
    reader_close(second);
    return NULL;
}
