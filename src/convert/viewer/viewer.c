/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/viewer/viewer.h"

#include "convert/viewer/viewer_args.h"
#include "core/memory.h"

#include <stdio.h>
#include <string.h>

static struct viewer_writer *viewer_of(struct sink *sink)
{
    return (struct viewer_writer *)(void *)sink;
}

static enum status viewer_begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    (void)err;
    viewer_of(sink)->writer.defs = defs;
    return STATUS_OK;
}

static enum status viewer_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    return by_location_add(viewer_of(sink)->by, batch, err);
}

/* A wait is of a location; a finding is of the run, and its text is kept until the end. */
enum status viewer_span(struct writer *writer, const struct writer_span *span, struct error *err)
{
    struct viewer_writer *viewer = (struct viewer_writer *)(void *)writer;
    if (span->process != WRITER_NOBODY)
        return by_location_add_span(viewer->by, span, err);
    /* The caller's texts last only as long as the call; those of waits are literals. */
    struct writer_span kept = *span;
    kept.name = memory_copy_string(span->name);
    kept.text = memory_copy_string(span->text);
    ARRAY_PUSH(viewer->findings, viewer->finding_count, viewer->finding_capacity, kept);
    return STATUS_OK;
}

/* From 1: viewers take process and thread 0 for the system's idle task. The findings are a process after the
   last. */
uint64_t viewer_process_number(const struct viewer_writer *viewer, uint32_t process)
{
    return (process == WRITER_NOBODY ? (uint64_t)by_location_processes(viewer->by) : process) + 1;
}

/* A lane of a thread, or its waits, which are the last. */
static uint32_t lane_number(const struct viewer_writer *viewer, struct viewer_track track)
{
    if (track.lane == LANE_WAITS)
        return (uint32_t)by_location_lanes(viewer->by);
    if (track.lane < 0)
        return 0;
    return (uint32_t)track.lane;
}

/* Unique in the file, as Perfetto's thread ids and uuids must be; those of threads are the smallest, since they are
   what a user sees. */
uint64_t viewer_track_number(const struct viewer_writer *viewer, struct viewer_track track)
{
    uint64_t threads = by_location_threads(viewer->by), processes = by_location_processes(viewer->by);
    uint64_t lanes = (uint64_t)by_location_lanes(viewer->by) + 1; /* with the waits */
    if (track.process == WRITER_NOBODY)
        return lanes * threads * processes + track.thread + 1;
    return (lane_number(viewer, track) * threads + track.thread) * processes + track.process + 1;
}

/* The order on the screen: a thread, its further lanes, its waits, then the next thread. */
int64_t viewer_track_place(const struct viewer_writer *viewer, struct viewer_track track)
{
    return (int64_t)track.thread * (by_location_lanes(viewer->by) + 1) + lane_number(viewer, track);
}

static void name_process(struct viewer_writer *viewer, uint32_t process)
{
    char number[32];
    const struct location_def *location = defs_find_location(viewer->writer.defs, process, 0);
    snprintf(number, sizeof number, "rank %u", (unsigned)process);
    const char *name = location && location->process_name ? location->process_name : number;
    viewer->format->process(viewer, process, name, location ? location->host : NULL);
}

static void begin_location(void *context, uint32_t process, uint32_t thread)
{
    struct viewer_writer *viewer = context;
    (void)thread;
    /* Locations are sorted by thread first: a process may come again. */
    if (!viewer->process_named[process])
        name_process(viewer, process);
    viewer->process_named[process] = true;
    /* Tracks are named as they are met: most threads use one of the lanes. */
    memset(viewer->named, 0, (size_t)by_location_lanes(viewer->by) * sizeof *viewer->named);
    viewer->waits_named = false;
}

static void name_thread(struct viewer_writer *viewer, struct viewer_track track)
{
    const struct location_def *location = defs_find_location(viewer->writer.defs, track.process, track.thread);
    char number[32];
    snprintf(number, sizeof number, track.thread ? "thread %u" : "main thread", (unsigned)track.thread);
    viewer->format->track(viewer, track, location && location->name ? location->name : number);
}

/* The track of an event has a name before the event. */
static struct viewer_track track_of(struct viewer_writer *viewer, const struct event *event, int lane)
{
    struct viewer_track track = {event->process, event->thread, lane < 0 ? 0 : lane};
    if (viewer->named[track.lane])
        return track;
    viewer->named[track.lane] = true;
    if (track.lane == 0)
        name_thread(viewer, track);
    else
        viewer->format->track(viewer, track,
                              viewer->writer.defs->states[by_location_lane_state(viewer->by, track.lane)].name);
    return track;
}

/* An item is what all viewers share of an event; what else it has are named arguments. */
static enum status put_event(void *context, const struct placed *placed, struct error *err)
{
    struct viewer_writer *viewer = context;
    const struct defs *defs = viewer->writer.defs;
    const struct event *event = &placed->event;
    (void)err;
    viewer_args_of(&viewer->args, defs, event, placed->arena);
    struct viewer_item item = {.track = track_of(viewer, event, placed->lane),
                               .time_ns = event->time_ns,
                               .name = viewer_event_name(defs, event),
                               .category = viewer_event_category(defs, event),
                               .args = &viewer->args,
                               .message = placed->message,
                               .sends = event->kind == EVENT_SEND};
    if (event->kind == EVENT_ENTER)
        viewer->format->begin(viewer, &item);
    else if (event->kind == EVENT_LEAVE)
        viewer->format->end(viewer, &item);
    else if (event->kind == EVENT_COUNTER)
        viewer->format->counter(viewer, &item, event);
    else
        viewer->format->moment(viewer, &item);
    return STATUS_OK;
}

static void put_slice(struct viewer_writer *viewer, struct viewer_item *item, int64_t to_ns)
{
    static const struct viewer_args nothing;
    viewer->format->begin(viewer, item);
    if (to_ns > item->time_ns)
        item->time_ns = to_ns;
    item->args = &nothing;
    viewer->format->end(viewer, item);
}

static void put_wait(void *context, const struct writer_span *span)
{
    struct viewer_writer *viewer = context;
    struct viewer_track track = {span->process, span->thread, LANE_WAITS};
    /* A track for the waits of a thread only where it has any. */
    if (!viewer->waits_named)
        viewer->format->track(viewer, track, "waits");
    viewer->waits_named = true;
    viewer->args.count = 0;
    if (span->cause != WRITER_NOBODY)
        viewer_args_number(&viewer->args, "for", span->cause);
    put_slice(
        viewer,
        &(struct viewer_item){
            .track = track, .time_ns = span->from_ns, .name = span->name, .category = "wait", .args = &viewer->args},
        span->to_ns);
}

/* Findings are of the whole run: each gets a track of its own in a process after all others. */
static void put_findings(struct viewer_writer *viewer)
{
    /* Viewers refuse times below 0: all are counted from the first event, as by_location does for events. */
    int64_t begin_ns = by_location_begin_ns(viewer->by);
    if (viewer->finding_count > 0)
        viewer->format->process(viewer, WRITER_NOBODY, "findings", NULL);
    for (size_t i = 0; i < viewer->finding_count; i++) {
        const struct writer_span *finding = &viewer->findings[i];
        struct viewer_track track = {WRITER_NOBODY, (uint32_t)i, LANE_FINDING};
        viewer->format->track(viewer, track, finding->name);
        viewer->args.count = 0;
        viewer_args_text(&viewer->args, "text", finding->text);
        put_slice(viewer,
                  &(struct viewer_item){.track = track,
                                        .time_ns = time_since(begin_ns, finding->from_ns),
                                        .name = finding->name,
                                        .category = "finding",
                                        .args = &viewer->args},
                  time_since(begin_ns, finding->to_ns));
    }
}

static enum status viewer_end(struct sink *sink, const struct trace_end *end, struct error *err)
{
    static const struct location_visitor visitor = {.begin = begin_location, .event = put_event, .span = put_wait};
    struct viewer_writer *viewer = viewer_of(sink);
    (void)end;
    viewer->named = memory_new((size_t)by_location_lanes(viewer->by) * sizeof *viewer->named);
    viewer->process_named = memory_new(by_location_processes(viewer->by) * sizeof *viewer->process_named);
    viewer->format->head(viewer);
    enum status status = by_location_walk(viewer->by, &visitor, viewer, err);
    put_findings(viewer);
    viewer->format->tail(viewer);
    return status;
}

void viewer_start(struct viewer_writer *viewer, const struct viewer_format *format)
{
    viewer->writer.sink = (struct sink){.begin = viewer_begin, .events = viewer_events, .end = viewer_end};
    viewer->format = format;
    viewer->by = by_location_new(&viewer->writer);
}

void viewer_stop(struct viewer_writer *viewer)
{
    for (size_t i = 0; i < viewer->finding_count; i++) {
        /* Const in the struct, which is the caller's; these are our copies (viewer_span). */
        free((char *)(uintptr_t)viewer->findings[i].name);
        free((char *)(uintptr_t)viewer->findings[i].text);
    }
    free(viewer->findings);
    free(viewer->named);
    free(viewer->process_named);
    by_location_free(viewer->by);
}
