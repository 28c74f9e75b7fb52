/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/timeline.h"

#include "convert/clog2/read_clog2.h"
#include "convert/events/event_file.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "timeline/fix_clocks.h"
#include "timeline/overlay.h"
#include "timeline/scan.h"
#include "timeline/store.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Walking this many events takes some 10 ms: what a frame of an animation has. */
enum { EXACT_EVENTS = 120000 };

struct opening {
    struct timeline *timeline;
    char *const *paths;
    size_t count;
    const struct timeline_open_options *options;
    struct index_tuning tuning;
};

PRINTF_LIKE(2, 3) static void say(const struct opening *opening, const char *format, ...)
{
    char text[600];
    va_list arguments;
    /* Notes are only wanted on the command line. */
    if (!opening->options->note)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    opening->options->note(opening->options->note_context, text);
}

static uint64_t file_size(const char *path)
{
    struct stat about;
    /* A file that is not there has no bytes: callers compare with a size that is not 0. */
    if (stat(path, &about) != 0)
        return 0;
    return (uint64_t)about.st_size;
}

static void say_stored(const struct opening *opening)
{
    char size[TEXT_NUMBER_SIZE];
    const struct cache *cache = &opening->timeline->cache;
    say(opening, "stored %s (%s)", cache->directory ? "in TMPDIR while it is viewed" : "in the cache",
        text_bytes(size, file_size(cache->trace)));
}

static struct index_order order_of(const struct opening *opening)
{
    return (struct index_order){.path = opening->timeline->cache.index,
                                .identity = opening->timeline->cache.identity,
                                .clocks = {.fixed = opening->options->fix_clocks},
                                .tuning = opening->tuning,
                                .threads = opening->options->threads,
                                .watch = opening->options->watch,
                                .watch_context = opening->options->watch_context};
}

/* Shifts are known once all events have been corrected. */
static struct timeline_clocks clocks_summary(const struct clocks *clocks)
{
    const struct clock_errors *errors = &clocks->recorded;
    struct timeline_clocks summary = {.fixed = 1,
                                      .early = errors->early,
                                      .torn = errors->torn,
                                      .error_ns = larger(errors->worst_ns, errors->worst_instance_ns)};
    for (size_t i = 0; i < clocks->count; i++)
        summary.shift_ns = larger(summary.shift_ns, clocks->rows[i].largest_ns);
    return summary;
}

/* Makes a copy in order of time, and its index. */
static enum status make_from_copy(struct opening *opening, struct reader *reader, struct error *err)
{
    const struct timeline_open_options *options = opening->options;
    struct cache *cache = &opening->timeline->cache;
    /* The copy has the corrected times: windows of it are as fast as of any trace. */
    if (store_events(reader, cache->trace, options->watch, options->watch_context, err) != STATUS_OK)
        return STATUS_FAILED;
    say_stored(opening);
    struct reader *copy = event_file_open(cache->trace, err);
    if (!copy)
        return STATUS_FAILED;
    struct index_order order = order_of(opening);
    order.stored = true;
    order.end = &reader->end;
    order.format = reader->format->name;
    if (reader_clocks(reader))
        order.clocks = clocks_summary(reader_clocks(reader));
    enum status status = index_build(copy, &order, err);
    reader_close(copy);
    /* The copy was sorted: if it is not, somebody else wrote to it. */
    if (status == STATUS_END)
        return error_set(err, ERROR_OUTPUT, "%s: changed while it was read", cache->trace);
    return status;
}

static bool is_standard_input(const struct opening *opening)
{
    return opening->count == 1 && strcmp(opening->paths[0], "-") == 0;
}

/* The index of the trace as it is. STATUS_END: it needs a copy in order of time. */
static enum status make_in_place(struct opening *opening, struct reader *reader, struct error *err)
{
    struct index_order order = order_of(opening);
    return index_build(reader, &order, err);
}

/* A reader at the trace's begin. NULL and a fault. */
static struct reader *open_source(const struct opening *opening, struct error *err)
{
    const struct timeline_open_options *options = opening->options;
    if (!options->fix_clocks)
        return reader_open(opening->paths, opening->count, err);
    struct reader *reader = reader_open_twice(opening->paths, opening->count, err);
    if (!reader)
        return NULL;
    return reader_fix_clocks(reader, opening->paths, opening->count, options->watch, options->watch_context, err);
}

/* True if windows of the file itself can be read, with the requested times. Corrected times are not in the file, and
   computing them needs all events before the window. */
static bool can_stay(const struct opening *opening, const struct reader *reader)
{
    const struct clocks *clocks = reader_clocks(reader);
    return !is_standard_input(opening) && reader_can_seek(reader) && !(clocks && clocks->corrected);
}

static enum status make_index(struct opening *opening, struct error *err)
{
    struct reader *reader = open_source(opening, err);
    if (!reader)
        return STATUS_FAILED;
    enum status status = STATUS_END;
    if (can_stay(opening, reader)) {
        status = make_in_place(opening, reader, err);
        /* Out of order: it is only known once it was met, so the trace is read again from its begin. */
        if (status == STATUS_END) {
            reader_close(reader);
            reader = open_source(opening, err);
        }
    }
    if (!reader)
        return STATUS_FAILED;
    if (status == STATUS_END)
        status = make_from_copy(opening, reader, err);
    reader_close(reader);
    return status;
}

/* Numbers of states can be checked only here: index_open does not have the definitions. */
static bool numbers_are_sound(const struct timeline *timeline)
{
    size_t spans;
    const struct span *span = index_section(&timeline->index, SECTION_SPANS, &spans);
    for (size_t i = 0; i < spans; i++)
        if (span[i].state >= timeline->info.defs->state_count)
            return false;
    return true;
}

static void fill_info(struct timeline *timeline)
{
    const struct index_header *header = timeline->index.header;
    struct timeline_info *info = &timeline->info;
    size_t count;
    /* Rows of the index in its order; those of the timeline are by process and thread. */
    const struct timeline_row *rows = index_section(&timeline->index, SECTION_ROWS, &count);
    for (size_t i = 0; i < count; i++) {
        uint32_t row = rows_of(&timeline->rows, rows[i].process, rows[i].thread);
        timeline->rows.row[row] = rows[i];
    }
    info->defs = timeline->reader->defs;
    info->rows = timeline->rows.row;
    info->row_count = timeline->rows.count;
    info->begin_ns = header->begin_ns;
    info->end_ns = header->end_ns;
    info->events = header->events;
    info->format = header->format;
    info->clocks = header->clocks;
    info->end = (struct trace_end){.complete = header->complete,
                                   .damage = {.count = header->damages, .first_byte = header->damage_byte},
                                   .used = header->used,
                                   .total = header->total};
    memcpy(info->end.damage.first, header->damage, sizeof info->end.damage.first);
}

/* Opens the trace of the index at `path`. False if they do not match. */
static bool open_trace(struct timeline *timeline, const char *path, struct error *err)
{
    size_t count, rows;
    const struct index_header *header = timeline->index.header;
    timeline->path = memory_copy_string(path);
    struct clog2_known known = {.end_of_log = header->end_of_log};
    known.ranges = index_section(&timeline->index, SECTION_DEFINITIONS, &known.count);
    if (header->stored)
        timeline->reader = event_file_open(timeline->path, err);
    else
        timeline->reader = clog2_open_known(timeline->path, &known, err);
    /* Identity covers the input; of the copy only the size can be compared without reading it. */
    if (!timeline->reader || input_size(timeline->reader->input) != header->trace_size)
        return false;
    const int32_t *defined = index_section(&timeline->index, SECTION_DEFINED, &count);
    for (size_t i = 0; i < count && !header->stored; i++)
        clog2_define(timeline->reader, defined[i]);
    fill_info(timeline);
    index_section(&timeline->index, SECTION_ROWS, &rows);
    return timeline->rows.count == rows && numbers_are_sound(timeline);
}

/* The file that is read. */
static const char *path_of(const struct opening *opening)
{
    const struct timeline *timeline = opening->timeline;
    if (timeline->index.header->stored)
        return timeline->cache.trace;
    return opening->paths[0];
}

static void drop_trace(struct timeline *timeline)
{
    reader_close(timeline->reader);
    free(timeline->path);
    rows_clear(&timeline->rows);
    if (!timeline->shares)
        index_close(&timeline->index);
    timeline->reader = NULL;
    timeline->path = NULL;
    /* What it pointed to is gone. */
    timeline->info = (struct timeline_info){0};
}

static bool open_index(struct opening *opening, const char **why)
{
    struct timeline *timeline = opening->timeline;
    const struct cache *cache = &timeline->cache;
    return index_open(&timeline->index, cache->index, &cache->identity, !opening->options->events_only, why) ==
           STATUS_OK;
}

static enum status open_all(struct opening *opening, struct error *err)
{
    struct timeline *timeline = opening->timeline;
    const char *why, *fault, *kind = "";
    /* Part of the cache's name: both versions of a trace may be there. */
    if (opening->options->fix_clocks)
        kind = "fix-clocks";
    if (cache_open(&timeline->cache, opening->paths, opening->count, kind, err) != STATUS_OK)
        return STATUS_FAILED;
    if (open_index(opening, &why)) {
        /* A fault in the cache is none of the user's: the index is made anew. */
        struct error ignored = {0};
        if (open_trace(timeline, path_of(opening), &ignored)) {
            cache_use(&timeline->cache);
            return STATUS_OK;
        }
        /* Without its copy the index is useless. */
        why = "damaged";
        if (timeline->index.header->stored && file_size(timeline->cache.trace) == 0)
            why = "";
        drop_trace(timeline);
    }
    /* Made, and then read like one that was there: one way to open, and a fault in writing shows at once. */
    if (make_index(opening, err) != STATUS_OK)
        return STATUS_FAILED;
    if (!open_index(opening, &fault))
        return error_set(err, ERROR_OUTPUT, "%s: cannot be read back", timeline->cache.index);
    if (!open_trace(timeline, path_of(opening), err)) {
        if (timeline->index.header->stored)
            return error_set(err, ERROR_OUTPUT, "%s: cannot be read back", timeline->cache.trace);
        return error_set(err, ERROR_INPUT, "%s: changed while it was read", opening->paths[0]);
    }
    if (*why)
        say(opening, "rebuilt the index, which was %s", why);
    cache_use(&timeline->cache);
    cache_limit(&timeline->cache);
    return STATUS_OK;
}

/* Cells and statistics add up times of all rows. */
static enum status check_span(const struct timeline *timeline, const char *name, struct error *err)
{
    const struct timeline_info *info = &timeline->info;
    if (time_span_fits(info->begin_ns, info->end_ns, info->row_count))
        return STATUS_OK;
    return error_set(err, ERROR_INPUT, "%s: times from %.0f s to %.0f s are impossible for a run of %zu processes",
                     name, (double)info->begin_ns / 1e9, (double)info->end_ns / 1e9, (size_t)info->row_count);
}

struct timeline *timeline_open_tuned(char *const *paths, size_t count, const struct timeline_open_options *options,
                                     struct index_tuning tuning, struct error *err)
{
    static const struct timeline_open_options none;
    struct timeline *timeline = memory_new(sizeof *timeline);
    timeline->exact_events = EXACT_EVENTS;
    if (!options)
        options = &none;
    if (options->events_only)
        timeline->exact_events = UINT64_MAX;
    struct opening opening = {timeline, paths, count, options, tuning};
    if (open_all(&opening, err) == STATUS_OK && check_span(timeline, paths[0], err) == STATUS_OK)
        return timeline;
    timeline_close(timeline);
    return NULL;
}

struct timeline *timeline_open(char *const *paths, size_t count, const struct timeline_open_options *options,
                               struct error *err)
{
    return timeline_open_tuned(paths, count, options, (struct index_tuning){0}, err);
}

struct timeline *timeline_again(const struct timeline *timeline)
{
    struct error ignored = {0};
    struct timeline *again = memory_new(sizeof *again);
    again->index = timeline->index;
    again->shares = true;
    again->exact_events = timeline->exact_events;
    if (open_trace(again, timeline->path, &ignored))
        return again;
    timeline_close(again);
    return NULL;
}

void timeline_close(struct timeline *timeline)
{
    if (!timeline)
        return;
    if (timeline->overlay) {
        free(timeline->overlay->waits);
        free(timeline->overlay->path);
        free(timeline->overlay);
    }
    drop_trace(timeline);
    cache_close(&timeline->cache);
    free(timeline);
}

const struct timeline_info *timeline_info(const struct timeline *timeline)
{
    return &timeline->info;
}

int64_t timeline_window_end(const struct timeline *timeline)
{
    /* Windows are half open: the last event is in one that ends 1 ns after it. */
    int64_t end_ns = timeline->info.end_ns;
    if (timeline->info.row_count > 0 && end_ns < INT64_MAX)
        end_ns++;
    return end_ns;
}

struct timeline_view timeline_whole(const struct timeline *timeline)
{
    return (struct timeline_view){.from_ns = timeline->info.begin_ns,
                                  .to_ns = timeline_window_end(timeline),
                                  .row_count = timeline->info.row_count};
}

uint64_t timeline_cost(const struct timeline *timeline, const struct timeline_view *view)
{
    return timeline_scan_cost(timeline, view->from_ns, view->to_ns);
}

uint32_t timeline_row_find(const struct timeline *timeline, uint32_t process, uint32_t thread)
{
    return rows_find(&timeline->rows, process, thread);
}

uint32_t *timeline_places(const struct timeline *timeline, const struct timeline_view *view)
{
    size_t count = timeline->info.row_count;
    uint32_t *places = memory_new(count * sizeof *places);
    /* All ones: a row that is not in the view. */
    memset(places, 0xFF, count * sizeof *places);
    for (size_t i = 0; i < view->row_count; i++) {
        size_t row = i;
        if (view->rows)
            row = view->rows[i];
        if (row < count)
            places[row] = (uint32_t)i;
    }
    return places;
}
