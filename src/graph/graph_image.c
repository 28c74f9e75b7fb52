/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/graph_image.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "graph/graph_storage.h"
#include "graph/wait_table.h"

#include <malloc.h>
#include <stdalign.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* All three uses of an image visit the parts of a graph in the same order: what is at which byte is nowhere else. */
struct walk {
    char *image;                /* NULL: only bytes are counted */
    bool places;                /* parts are found in the image; else they are moved there */
    size_t at, freed;           /* bytes */
    size_t made, size;          /* bytes of the image that have pages; all of it */
    struct call_block **chunks; /* where parts are found: room for the next location's */
};

static size_t aligned(size_t size)
{
    return (size + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
}

/* What the C library keeps of freed blocks would be there besides the image. */
enum { GIVE_BACK = 16 << 20 };

/* Pages of the image are made many at a time: each first write of its own would take longer than the copy. Where the
   system cannot, it does that all the same. */
enum { MAKE_AHEAD = 4 << 20 };
static void make_pages(struct walk *walk, size_t size)
{
#ifdef MADV_POPULATE_WRITE
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    while (walk->made < walk->at + size) {
        size_t step = smaller((size_t)MAKE_AHEAD, walk->size - walk->made);
        (void)madvise(walk->image + walk->made, (step + page - 1) / page * page, MADV_POPULATE_WRITE);
        walk->made += step;
    }
#endif
}

static void move_part(struct walk *walk, void *part, size_t size)
{
    make_pages(walk, size);
    if (size > 0)
        memcpy(walk->image + walk->at, part, size);
    free(part);
    walk->freed += size;
    if (walk->freed < GIVE_BACK)
        return;
    walk->freed = 0;
    malloc_trim(0);
}

/* The part that `pointer`, a pointer of any type, points to. */
static void visit(struct walk *walk, void *pointer, size_t size)
{
    void *part;
    memcpy(&part, pointer, sizeof part);
    if (walk->places)
        part = walk->image + walk->at;
    else if (walk->image)
        move_part(walk, part, size);
    if (walk->places)
        memcpy(pointer, &part, sizeof part);
    walk->at += aligned(size);
}
#define VISIT(walk, array, count) visit(walk, &(array), (count) * sizeof *(array))

static void visit_map(struct walk *walk, struct map *map)
{
    VISIT(walk, map->entries, map->capacity);
}

static void visit_chain(struct walk *walk, struct message_chain *chain)
{
    VISIT(walk, chain->next, chain->count);
}

static void visit_location(struct walk *walk, struct location *location)
{
    size_t chunks = location_chunk_count(location->count);
    if (walk->places) {
        location->chunks = walk->chunks;
        walk->chunks += chunks;
    }
    for (size_t i = 0; i < chunks; i++)
        visit(walk, &location->chunks[i], location_chunk_size(smaller(location->count - i * CHUNK_CALLS, CHUNK_CALLS)));
}

static void visit_waits(struct walk *walk, const struct location *location, struct location_waits *waits)
{
    size_t words = wait_table_words(location->count);
    VISIT(walk, waits->marks, words);
    VISIT(walk, waits->before, words);
    VISIT(walk, waits->ns, waits->count);
    VISIT(walk, waits->kinds, waits->count);
    VISIT(walk, waits->sums_ns, (waits->count + 63) / 64);
}

static void visit_messages(struct walk *walk, struct graph *graph)
{
    VISIT(walk, graph->messages, graph->message_count);
    visit_chain(walk, &graph->next_sent);
    visit_chain(walk, &graph->next_received);
    visit_chain(walk, &graph->next_posted);
    VISIT(walk, graph->links, graph->link_count);
    visit_map(walk, &graph->far_posts);
    VISIT(walk, graph->loose_sends, graph->loose_send_count);
    VISIT(walk, graph->channels, graph->channel_count);
    VISIT(walk, graph->long_messages, graph->long_message_count);
}

static void visit_collectives(struct walk *walk, struct graph *graph)
{
    VISIT(walk, graph->instances, graph->instance_count);
    VISIT(walk, graph->streams, graph->stream_count);
    VISIT(walk, graph->prefixes, graph->prefix_count);
    VISIT(walk, graph->sources, graph->source_count);
    visit_map(walk, &graph->source_places);
    VISIT(walk, graph->neighbours, graph->neighbour_count);
    VISIT(walk, graph->sides, graph->side_count);
    VISIT(walk, graph->operations, graph->operation_count);
    visit_map(walk, &graph->operation_places);
    VISIT(walk, graph->starts, graph->start_count);
    visit_map(walk, &graph->start_places);
    visit_map(walk, &graph->prefix_places);
    VISIT(walk, graph->collectives, graph->defs->state_count);
}

/* All but the roots. */
static void visit_parts(struct walk *walk, struct graph *graph)
{
    VISIT(walk, graph->ends, graph->end_count);
    visit_messages(walk, graph);
    visit_collectives(walk, graph);
    VISIT(walk, graph->edges, graph->edge_count);
    VISIT(walk, graph->edges_by_cause, graph->edge_count);
    VISIT(walk, graph->kinds, graph->kind_count);
    VISIT(walk, graph->long_calls, graph->long_call_count);
    VISIT(walk, graph->long_waits, graph->long_wait_count);
    for (size_t i = 0; i < graph->location_count; i++) {
        visit_location(walk, &graph->locations[i]);
        visit_waits(walk, &graph->locations[i], &graph->waits[i]);
    }
}

/* What is at the begin of an image: the graph, with the sizes of all other parts, and what leads to some of these.
   Their pointers mean nothing there. */
struct roots {
    size_t locations, waits, end; /* bytes from the begin */
};

static struct roots roots_of(const struct graph *graph)
{
    struct roots roots = {.locations = aligned(sizeof *graph)};
    roots.waits = roots.locations + aligned(graph->location_count * sizeof *graph->locations);
    roots.end = roots.waits + aligned(graph->location_count * sizeof *graph->waits);
    return roots;
}

size_t graph_image_size(struct graph *graph)
{
    struct walk walk = {.at = roots_of(graph).end};
    visit_parts(&walk, graph);
    return walk.at;
}

void graph_image_move(struct graph *graph, void *image)
{
    struct roots roots = roots_of(graph);
    struct walk walk = {.image = image, .at = roots.end, .size = graph_image_size(graph)};
    memcpy(walk.image, graph, sizeof *graph);
    if (graph->location_count > 0) {
        memcpy(walk.image + roots.locations, graph->locations, graph->location_count * sizeof *graph->locations);
        memcpy(walk.image + roots.waits, graph->waits, graph->location_count * sizeof *graph->waits);
    }
    visit_parts(&walk, graph);
    for (size_t i = 0; i < graph->location_count; i++)
        free(graph->locations[i].chunks);
    free(graph->locations);
    free(graph->waits);
    free(graph);
}

struct graph *graph_of_image(void *image, size_t size, const struct defs *defs)
{
    struct graph *graph = memory_new(sizeof *graph);
    memcpy(graph, image, sizeof *graph);
    struct roots roots = roots_of(graph);
    struct walk walk = {.image = image, .places = true, .at = roots.end};
    graph->defs = defs;
    /* What leads to other parts is a copy: the image itself is only read. */
    graph->locations = memory_copy(walk.image + roots.locations, graph->location_count * sizeof *graph->locations);
    graph->waits = memory_copy(walk.image + roots.waits, graph->location_count * sizeof *graph->waits);
    graph->image = image;
    graph->image_size = size;
    size_t chunks = 0;
    for (size_t i = 0; i < graph->location_count; i++)
        chunks += location_chunk_count(graph->locations[i].count);
    walk.chunks = graph->image_chunks = memory_new(chunks * sizeof *graph->image_chunks);
    visit_parts(&walk, graph);
    return graph;
}

void graph_image_free(struct graph *graph)
{
    (void)munmap(graph->image, graph->image_size);
    free(graph->image_chunks);
    free(graph->locations);
    free(graph->waits);
    free(graph);
}
