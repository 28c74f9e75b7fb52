/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/timeline.h"

#include "core/memory.h"
#include "timeline/overlay.h"
#include "timeline/scan.h"

#include <string.h>

/* What is counted of each row in the first pass. */
struct count {
    struct timeline *timeline;
    struct sink sink;
    struct walk walk;
    uint32_t *mpi_depth; /* by row: MPI functions open */
    int64_t *mpi_since;
    size_t capacity[2];
};

static void count_event(void *context, const struct walk_event *told)
{
    struct count *count = context;
    uint32_t row = told->row;
    struct timeline_row *about = &count->timeline->rows.row[row];
    size_t before = count->capacity[0];
    ARRAY_RESERVE(count->mpi_depth, count->capacity[0], (size_t)row + 1);
    ARRAY_RESERVE(count->mpi_since, count->capacity[1], (size_t)row + 1);
    memset(&count->mpi_depth[before], 0, (count->capacity[0] - before) * sizeof *count->mpi_depth);
    if (about->events++ == 0)
        about->begin_ns = told->time_ns;
    about->end_ns = told->time_ns;
    if (told->event->kind > EVENT_LEAVE || !told->open || !count->walk.defs->states[told->event->state].is_mpi)
        return;
    if (told->event->kind == EVENT_ENTER && count->mpi_depth[row]++ == 0)
        count->mpi_since[row] = told->time_ns;
    if (told->event->kind == EVENT_LEAVE && --count->mpi_depth[row] == 0)
        about->mpi_ns += time_since(count->mpi_since[row], told->time_ns);
}

static enum status count_begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    (void)err;
    struct count *count = (struct count *)((char *)sink - offsetof(struct count, sink));
    static const struct walk_visitor nothing;
    walk_start(&count->walk, defs, &count->timeline->rows, &nothing);
    count->walk.growing = true;
    return STATUS_OK;
}

static enum status count_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    (void)err;
    struct count *count = (struct count *)((char *)sink - offsetof(struct count, sink));
    const struct walk_visitor visitor = {.context = count, .event = count_event};
    count->walk.visitor = &visitor;
    walk_events(&count->walk, batch);
    return STATUS_OK;
}

static void count_end(struct count *count)
{
    struct timeline_info *info = &count->timeline->info;
    for (size_t i = 0; i < count->timeline->rows.count; i++) {
        struct timeline_row *row = &count->timeline->rows.row[i];
        if (i < count->capacity[0] && count->mpi_depth[i] > 0)
            row->mpi_ns += time_since(count->mpi_since[i], row->end_ns);
        info->begin_ns = i == 0 || row->begin_ns < info->begin_ns ? row->begin_ns : info->begin_ns;
        info->end_ns = i == 0 || row->end_ns > info->end_ns ? row->end_ns : info->end_ns;
        info->events += row->events;
    }
    walk_clear(&count->walk);
    free(count->mpi_depth);
    free(count->mpi_since);
}

static int row_compare(const void *a, const void *b)
{
    const struct timeline_row *left = a, *right = b;
    int ranks = (left->process > right->process) - (left->process < right->process);
    return ranks ? ranks : (left->thread > right->thread) - (left->thread < right->thread);
}

static void sort_rows(struct timeline *timeline)
{
    struct rows sorted = {0};
    if (timeline->rows.count > 0)
        qsort(timeline->rows.row, timeline->rows.count, sizeof *timeline->rows.row, row_compare);
    for (size_t i = 0; i < timeline->rows.count; i++) {
        const struct timeline_row *row = &timeline->rows.row[i];
        uint32_t at = rows_of(&sorted, row->process, row->thread);
        sorted.row[at] = *row;
    }
    rows_clear(&timeline->rows);
    timeline->rows = sorted;
}

static enum status read_once(struct timeline *timeline, const struct timeline_options *options, struct error *err)
{
    struct count count = {.timeline = timeline, .sink = {.begin = count_begin, .events = count_events}};
    struct sink *sinks[] = {&count.sink};
    enum status status = stream_run(timeline->reader, sinks, 1, options->watch, options->watch_context, err);
    count_end(&count);
    if (status != STATUS_OK)
        return status;
    sort_rows(timeline);
    timeline->info.defs = timeline->reader->defs;
    timeline->info.rows = timeline->rows.row;
    timeline->info.row_count = timeline->rows.count;
    timeline->info.end = timeline->reader->end;
    timeline->info.format = timeline->reader->format->name;
    return STATUS_OK;
}

struct timeline *timeline_open(char *const *paths, size_t count, const struct timeline_options *options,
                               struct error *err)
{
    static const struct timeline_options none;
    struct timeline *timeline = memory_new(sizeof *timeline);
    timeline->paths = memory_new(count * sizeof *timeline->paths);
    timeline->path_count = count;
    for (size_t i = 0; i < count; i++)
        timeline->paths[i] = memory_copy_string(paths[i]);
    timeline->reader = reader_open(paths, count, err);
    if (timeline->reader && read_once(timeline, options ? options : &none, err) == STATUS_OK)
        return timeline;
    timeline_close(timeline);
    return NULL;
}

void timeline_close(struct timeline *timeline)
{
    if (!timeline)
        return;
    for (size_t i = 0; i < timeline->path_count; i++)
        free(timeline->paths[i]);
    free(timeline->paths);
    if (timeline->overlay) {
        free(timeline->overlay->waits);
        free(timeline->overlay->path);
        free(timeline->overlay);
    }
    reader_close(timeline->reader);
    rows_clear(&timeline->rows);
    free(timeline);
}

const struct timeline_info *timeline_info(const struct timeline *timeline)
{
    return &timeline->info;
}

int64_t timeline_window_end(const struct timeline *timeline)
{
    int64_t end_ns = timeline->info.end_ns;
    return timeline->info.row_count == 0 ? end_ns : end_ns < INT64_MAX ? end_ns + 1 : end_ns;
}

struct timeline_view timeline_whole(const struct timeline *timeline)
{
    return (struct timeline_view){.from_ns = timeline->info.begin_ns,
                                  .to_ns = timeline_window_end(timeline),
                                  .row_count = timeline->info.row_count};
}

uint32_t timeline_row_find(const struct timeline *timeline, uint32_t process, uint32_t thread)
{
    return rows_find(&timeline->rows, process, thread);
}

uint32_t *timeline_places(const struct timeline *timeline, const struct timeline_view *view)
{
    size_t count = timeline->info.row_count;
    uint32_t *places = memory_new(count * sizeof *places);
    memset(places, 0xFF, count * sizeof *places);
    for (size_t i = 0; i < view->row_count; i++) {
        size_t row = view->rows ? view->rows[i] : i;
        if (row < count)
            places[row] = (uint32_t)i;
    }
    return places;
}
