/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/overlay.h"

#include "convert/events/event_file.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "graph/wait_windows.h"
#include "timeline/scan.h"
#include "waits/critical_path.h"

struct build {
    const struct timeline *timeline;
    const struct graph *graph;
    struct timeline_overlay *overlay;
    size_t wait_capacity, path_capacity;
};

static uint32_t row_of_location(const struct build *build, uint32_t location)
{
    const struct location *at = &build->graph->locations[location];
    return timeline_row_find(build->timeline, at->process, at->thread);
}

static void add_waits(struct build *build)
{
    const struct graph *graph = build->graph;
    struct timeline_overlay *overlay = build->overlay;
    for (uint32_t location = 0; location < graph->location_count; location++)
        for (uint32_t i = 0; i < graph->locations[location].count; i++) {
            struct wait wait = wait_of(graph, location, i);
            struct call call = graph_call(graph, location, i);
            if (wait.kind == WAIT_NONE)
                continue;
            /* A call may wait for several processes one after the other: its parts follow each other from its enter. */
            struct wait_parts parts = wait_parts(graph, location, i, &wait);
            int64_t from_ns = call.enter_ns;
            for (size_t k = 0; k < parts.count; from_ns += parts.part[k++].ns) {
                struct overlay_wait added = {.from_ns = from_ns,
                                             .to_ns = from_ns + parts.part[k].ns,
                                             .row = row_of_location(build, location),
                                             .cause_row = row_of_location(build, parts.part[k].cause_location),
                                             .state = graph_state(graph, &call)->first_of_name,
                                             .kind = parts.part[k].kind};
                ARRAY_PUSH(overlay->waits, overlay->wait_count, build->wait_capacity, added);
            }
        }
}

/* The path is followed backwards: its segments come latest first. */
static void add_path(struct build *build)
{
    struct critical_path path = critical_path_of(build->graph);
    for (size_t i = path.segment_count; i-- > 0;) {
        const struct path_segment *segment = &path.segments[i];
        struct overlay_segment added = {segment->from_ns, segment->to_ns, row_of_location(build, segment->location)};
        ARRAY_PUSH(build->overlay->path, build->overlay->path_count, build->path_capacity, added);
    }
    critical_path_clear(&path);
}

static int by_row(const void *a, const void *b)
{
    const struct overlay_wait *left = a, *right = b;
    if (left->row != right->row)
        return order_by(left->row, right->row);
    return (left->from_ns > right->from_ns) - (left->from_ns < right->from_ns);
}

static void overlay_make(struct timeline *timeline, const struct graph *graph)
{
    struct timeline_overlay *overlay = memory_new(sizeof *overlay);
    overlay->early = graph->early;
    overlay->clock_error_ns = graph->clock_error_ns;
    struct build build = {.timeline = timeline, .graph = graph, .overlay = overlay};
    add_waits(&build);
    add_path(&build);
    if (overlay->wait_count > 0)
        qsort(overlay->waits, overlay->wait_count, sizeof *overlay->waits, by_row);
    timeline->overlay = overlay;
}

const struct timeline_overlay *timeline_overlay(struct timeline *timeline, struct error *err)
{
    err->kind = ERROR_NONE;
    if (timeline->overlay || timeline->info.events > OVERLAY_EVENTS)
        return timeline->overlay;
    /* A reader of its own: the timeline's is in the middle of the trace. A stored copy has corrected times already. */
    struct reader *reader;
    if (timeline->index.header->stored)
        reader = event_file_open(timeline->path, err);
    else
        reader = reader_open(&timeline->path, 1, err);
    if (!reader)
        return NULL;
    struct graph_builder *builder = graph_builder_new();
    struct sink *sinks[] = {graph_builder_sink(builder)};
    enum status status = stream_run(reader, sinks, 1, NULL, NULL, err);
    struct graph *graph = graph_builder_end(builder);
    if (status == STATUS_OK && !graph->too_large)
        overlay_make(timeline, graph);
    graph_free(graph);
    reader_close(reader);
    return timeline->overlay;
}
