/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/resource_tree.h"

#include "core/map.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "phases/phases.h"

#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 600 };

/* When each was met first, by its key. Events of different processes come in any order of time: the first one met need
   not be the earliest. */
struct seen {
    struct map places;
    struct first {
        uint64_t key;
        int64_t ns;
    } * first;
    size_t count, capacity;
};

struct tree_builder {
    struct sink sink; /* the first member */
    const struct defs *defs;
    struct seen states, locations, comms, tags, sites;
};

static void see(struct seen *seen, uint64_t key, int64_t ns)
{
    const uint64_t *place = map_find(&seen->places, key);
    if (place) {
        struct first *first = &seen->first[*place];
        /* Processes are read one after the other: the earliest is not the first that is met. */
        first->ns = smaller(ns, first->ns);
        return;
    }
    map_put(&seen->places, key, seen->count);
    ARRAY_PUSH(seen->first, seen->count, seen->capacity, (struct first){key, ns});
}

static void see_event(struct tree_builder *builder, const struct event *event)
{
    /* The first event of a thread is when the thread is first seen, whatever it is. */
    see(&builder->locations, map_pair(event->process, event->thread), event->time_ns);
    if (event->kind == EVENT_ENTER)
        /* Several states of one name are one resource. */
        see(&builder->states, builder->defs->states[event->state].first_of_name, event->time_ns);
    if (event->site)
        see(&builder->sites, event->site - 1, event->time_ns);
    if (event->comm < 0) /* not on a communicator, or on one that is not known */
        return;
    see(&builder->comms, (uint32_t)event->comm, event->time_ns);
    if ((event->kind == EVENT_SEND || event->kind == EVENT_RECEIVE) && event->tag != EVENT_UNKNOWN)
        see(&builder->tags, map_pair((uint32_t)event->comm, (uint32_t)event->tag), event->time_ns);
}

static enum status take_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    (void)err;
    for (size_t i = 0; i < batch->count; i++)
        /* Records about the trace are no events of the program. */
        if (event_counts(&batch->events[i]))
            see_event((struct tree_builder *)sink, &batch->events[i]);
    return STATUS_OK;
}

static enum status take_defs(struct sink *sink, const struct defs *defs, struct error *err)
{
    (void)err;
    ((struct tree_builder *)sink)->defs = defs;
    return STATUS_OK;
}

PRINTF_LIKE(3, 4) static void add(struct resource_tree *tree, int64_t first_ns, const char *format, ...)
{
    char path[PATH_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path, sizeof path, format, arguments);
    va_end(arguments);
    ARRAY_PUSH(tree->list, tree->count, tree->capacity, (struct resource){memory_copy_string(path), first_ns});
}

static const char *base_of(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

static void add_code(struct resource_tree *tree, const struct tree_builder *builder, const struct defs *defs)
{
    for (size_t i = 0; i < builder->states.count; i++) {
        const struct state_def *state = &defs->states[builder->states.first[i].key];
        int64_t first_ns = builder->states.first[i].ns;
        /* The program's own states are not code: Paradyn's hierarchy has functions of the MPI library there. */
        if (state->class == CLASS_USER)
            add(tree, first_ns, "/State/%s", state->name);
        else
            add(tree, first_ns, "/Code/%s/%s", function_class_name(state->class), state->name);
    }
    for (size_t i = 0; i < builder->sites.count; i++) {
        const struct site_def *site = &defs->sites[builder->sites.first[i].key];
        add(tree, builder->sites.first[i].ns, "/Code/site/%s:%d", base_of(site->file), site->line);
    }
}

static void add_machine(struct resource_tree *tree, const struct tree_builder *builder, const struct defs *defs)
{
    for (size_t i = 0; i < builder->locations.count; i++) {
        uint64_t key = builder->locations.first[i].key;
        uint32_t process = (uint32_t)(key >> 32), thread = (uint32_t)key;
        const struct location_def *location = defs_find_location(defs, process, thread);
        int64_t first_ns = builder->locations.first[i].ns;
        /* Hosts are known for recordings; other traces have processes below the machine. */
        if (location && location->host && *location->host)
            add(tree, first_ns, "/Machine/%s/%u/%u", location->host, process, thread);
        else
            add(tree, first_ns, "/Machine/%u/%u", process, thread);
    }
}

static void add_sync(struct resource_tree *tree, const struct tree_builder *builder, const struct defs *defs)
{
    for (size_t i = 0; i < builder->comms.count; i++)
        add(tree, builder->comms.first[i].ns, "/SyncObject/%d", defs->comms[builder->comms.first[i].key].id);
    for (size_t i = 0; i < builder->tags.count; i++) {
        uint64_t key = builder->tags.first[i].key;
        add(tree, builder->tags.first[i].ns, "/SyncObject/%d/%d", defs->comms[key >> 32].id, (int32_t)key);
    }
}

/* Numbers in paths by their value: /Machine/2 before /Machine/10. */
static int by_path(const void *a, const void *b)
{
    return strverscmp(((const struct resource *)a)->path, ((const struct resource *)b)->path);
}

/* A phase begins on each process at a time of its own: here with the first of them. */
static void add_phases(struct resource_tree *tree, const struct graph *graph, const struct user_spans *spans)
{
    struct phases *phases = phases_of(graph, spans);
    for (size_t i = 0; i < phases->count; i++) {
        int64_t first_ns = INT64_MAX;
        for (uint32_t process = 0; process < phases->loops.process_count; process++)
            first_ns = smaller(first_ns, phases_begin(phases, process, i));
        add(tree, first_ns, "/Phase/%s", phases->phase[i].name);
    }
    phases_free(phases);
}

static void seen_clear(struct seen *seen)
{
    map_clear(&seen->places);
    free(seen->first);
}

static void builder_clear(struct tree_builder *builder)
{
    seen_clear(&builder->states);
    seen_clear(&builder->locations);
    seen_clear(&builder->comms);
    seen_clear(&builder->tags);
    seen_clear(&builder->sites);
}

static void tree_fill(struct resource_tree *tree, const struct tree_builder *builder, const struct reader *reader)
{
    add_code(tree, builder, reader->defs);
    add_machine(tree, builder, reader->defs);
    add_sync(tree, builder, reader->defs);
    /* The run begins with the first event of any thread. */
    for (size_t i = 0; i < builder->locations.count; i++)
        if (i == 0 || builder->locations.first[i].ns < tree->begin_ns)
            tree->begin_ns = builder->locations.first[i].ns;
    tree->end = reader->end;
}

/* One pass for the tree and for what phases are found from: the reader may be a pipe. */
static enum status read_events(struct resource_tree *tree, const struct engine_request *request, struct reader *reader,
                               struct error *err)
{
    struct tree_builder builder = {.sink = {.begin = take_defs, .events = take_events}};
    struct graph_builder *graphs = graph_builder_new();
    struct user_spans_builder *marks = user_spans_builder_new();
    struct sink *sinks[] = {&builder.sink, graph_builder_sink(graphs), user_spans_builder_sink(marks)};
    enum status status = engine_stream(request, reader, sinks, 3, err);
    struct graph *graph = graph_builder_end(graphs);
    struct user_spans *spans = user_spans_builder_end(marks);
    if (status == STATUS_OK) {
        tree_fill(tree, &builder, reader);
        /* A trace beyond what a graph holds has its phases left out, as everywhere. */
        if (!graph->too_large)
            add_phases(tree, graph, spans);
    }
    user_spans_free(spans);
    graph_free(graph);
    builder_clear(&builder);
    return status;
}

enum status resource_tree_read(struct resource_tree *tree, const struct engine_request *request, struct error *err)
{
    *tree = (struct resource_tree){0};
    struct reader *reader = engine_open(request, err);
    if (!reader)
        return STATUS_FAILED;
    enum status status = read_events(tree, request, reader, err);
    reader_close(reader);
    if (tree->count > 0)
        qsort(tree->list, tree->count, sizeof *tree->list, by_path);
    return status;
}

void resource_tree_clear(struct resource_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++)
        free(tree->list[i].path);
    free(tree->list);
    *tree = (struct resource_tree){0};
}
