/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/contents.h"

#include "core/directory.h"
#include "core/memory.h"
#include "engine/counting.h"
#include "engine/opening.h"
#include "engine/share_job.h"
#include "timeline/fix_clocks.h"
#include "timeline/slices.h"

#include <stdlib.h>
#include <sys/statvfs.h>

/* With what the result borrows. */
struct reading {
    struct contents contents; /* the first member: what the caller gets */
    struct reader *reader;
};

static enum status read_in_one_pass(const struct engine_request *request, struct contents *contents,
                                    struct reader *reader, struct error *err)
{
    struct matcher *matcher = matcher_new(); /* how many messages have both ends cannot be seen from either */
    struct sink *sinks[] = {&contents->census.sink, matcher_sink(matcher)};
    enum status status = engine_stream(request, reader, sinks, 2, err);
    contents->messages = matcher_counts(matcher);
    matcher_free(matcher);
    return status;
}

/* Slices sort the ends of all messages in temporary files: of CLOG-2 5 to 9 % of the trace, of formats with files of
   each process, whose records are smaller, up to 36 %, and as much again where they are merged in several steps
   (docs/scale.md). One pass needs no files, and is made where they might take more than half of what is free. */
static double ends_most(const struct reader *reader)
{
    const double part = 0.25, part_of_files = 0.75;
    const struct format_processes *processes = reader->format->processes;
    size_t count;
    uint64_t *bytes = processes && !processes->reads_all ? processes->bytes(reader, &count) : NULL;
    if (!bytes)
        return part * (double)input_size(reader->input);
    double whole = 0;
    for (size_t i = 0; i < count; i++)
        whole += (double)bytes[i];
    free(bytes);
    return part_of_files * whole;
}

enum { FREE_PART = 2 };
static bool ends_fit(const struct reader *reader)
{
    const char *as_if = getenv("SIGHT_TEST_DISK");
    struct statvfs disk;
    double room;
    if (as_if)
        room = strtod(as_if, NULL);
    else if (statvfs(temporary_directory(), &disk) == 0)
        room = (double)disk.f_bavail * (double)disk.f_frsize;
    else
        return true;
    return ends_most(reader) <= room / FREE_PART;
}

/* In slices, by processes or threads. False: in one pass, which is to be begun again where there are slices. */
static bool count_slices(const struct engine_request *request, struct reader *reader, struct counted *counted)
{
    /* Files of other hosts would take more room in one pass. */
    if (!directory_is_scattered(request->inputs[0]) && !ends_fit(reader))
        return false;
    if (share_is_possible(request))
        return counting_by_processes(request, reader, counted);
    counted->slices =
        slices_worth(reader, request->inputs, request->input_count, opening_threads(request, COUNTING_THREADS_MOST));
    return counted->slices > 1 && counting_by_threads(request, reader, counted);
}

/* Into the contents, in slices if they add up. */
static enum status read_events(const struct engine_request *request, struct reading *reading, struct error *err)
{
    struct contents *contents = &reading->contents;
    struct counted counted = {0};
    census_start(&counted.census);
    bool counted_all = count_slices(request, reading->reader, &counted);
    contents->census = counted.census;
    contents->messages = counted.messages;
    if (counted_all) {
        contents->slices = counted.slices;
        return STATUS_OK;
    }
    if (counted.slices > 1)
        reading->reader = reader_again(reading->reader, request->inputs, request->input_count, err);
    if (!reading->reader)
        return STATUS_FAILED;
    census_clear(&contents->census);
    census_start(&contents->census);
    return read_in_one_pass(request, contents, reading->reader, err);
}

struct contents *engine_contents(const struct engine_request *request, struct error *err)
{
    struct reader *reader = engine_open(request, err);
    if (!reader)
        return NULL;
    struct reading *reading = memory_new(sizeof *reading);
    struct contents *contents = &reading->contents;
    reading->reader = reader;
    if (read_events(request, reading, err) != STATUS_OK) {
        engine_contents_free(contents);
        return NULL;
    }
    /* borrowed from the reader, which stays open as long as the contents */
    reader = reading->reader;
    contents->format = reader->format->name;
    contents->defs = reader->defs;
    contents->records = reader->records;
    contents->record_kinds = reader->record_kinds;
    contents->end = &reader->end;
    contents->clocks = reader_clocks(reader);
    return contents;
}

void engine_contents_free(struct contents *contents)
{
    if (!contents)
        return;
    struct reading *reading = (struct reading *)contents;
    census_clear(&contents->census);
    reader_close(reading->reader);
    free(reading);
}
