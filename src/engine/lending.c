/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/lending.h"

#include "core/memory.h"
#include "graph/graph_image.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where the image is: a file without a name, which the others open through the process that has it. */
struct offer {
    uint64_t size;         /* 0: there is no graph */
    uint64_t device, node; /* of the file: in another process's name space, the same place may lead elsewhere */
    uint64_t events, times, states;
    long process;
    int file;
};

static enum status sum_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    (void)err;
    struct read_sum *sum = (struct read_sum *)sink;
    sum->events += batch->count;
    for (size_t i = 0; i < batch->count; i++)
        sum->times += (uint64_t)batch->events[i].time_ns + batch->events[i].kind;
    return STATUS_OK;
}

void read_sum_start(struct read_sum *sum)
{
    *sum = (struct read_sum){.sink = {.events = sum_events}};
}

/* Of so many zeroed bytes, in memory; -1: it cannot be had. */
static int file_new(size_t size)
{
    struct rlimit limit;
    /* Memory or not, a file beyond the limit of files would end the process. */
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || size > limit.rlim_cur)
        return -1;
    int file = memfd_create("sight-graph", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)size) == 0)
        return file;
    close(file);
    return -1;
}

static struct graph *graph_in(int file, size_t size, const struct defs *defs)
{
    /* All pages at once: they are in memory, and each first read of its own would take longer. */
    void *image = mmap(NULL, size, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0);
    if (image == MAP_FAILED)
        return NULL;
    return graph_of_image(image, size, defs);
}

/* Frees the graph. */
static bool move_into(int file, size_t size, struct graph *graph)
{
    void *image = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (image == MAP_FAILED) {
        graph_free(graph);
        return false;
    }
    graph_image_move(graph, image);
    (void)munmap(image, size);
    return true;
}

/* The graph as it is where there is no file for it. */
static struct graph *move_graph(struct graph *graph, struct offer *offer, int *file)
{
    struct stat about;
    const struct defs *defs = graph->defs;
    size_t size = graph_image_size(graph);
    *file = file_new(size);
    if (*file < 0 || fstat(*file, &about) != 0)
        return graph;
    struct graph *moved = NULL;
    if (move_into(*file, size, graph))
        moved = graph_in(*file, size, defs);
    if (!moved)
        return NULL;
    offer->size = size;
    offer->states = defs->state_count;
    offer->device = about.st_dev;
    offer->node = about.st_ino;
    offer->process = getpid();
    offer->file = *file;
    return moved;
}

struct graph *lending_offer(struct team *team, unsigned ranks, struct graph *graph, const struct read_sum *sum,
                            int *file)
{
    struct offer offer = {.events = sum->events, .times = sum->times};
    *file = -1;
    /* In a file on disk it is larger than memory. */
    if (graph && !memory_has_store())
        graph = move_graph(graph, &offer, file);
    for (int rank = 0; ranks >> rank; rank++)
        if (ranks >> rank & 1)
            team_send(team, rank, &offer, sizeof offer);
    return graph;
}

static struct graph *graph_of_offer(const struct offer *offer, const struct defs *defs)
{
    char path[64];
    struct stat about;
    struct graph *graph = NULL;
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", offer->process, offer->file);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return NULL;
    if (fstat(file, &about) == 0 && about.st_dev == offer->device && about.st_ino == offer->node &&
        (uint64_t)about.st_size == offer->size)
        graph = graph_in(file, offer->size, defs);
    close(file);
    return graph;
}

struct graph *lending_take(struct team *team, int from, const struct defs *defs, const struct read_sum *sum)
{
    size_t size;
    struct offer offer;
    char *data = team_receive(team, from, &size);
    memcpy(&offer, data, sizeof offer);
    free(data);
    if (!defs || offer.size == 0 || offer.states != defs->state_count)
        return NULL;
    if (sum && (offer.events != sum->events || offer.times != sum->times))
        return NULL;
    return graph_of_offer(&offer, defs);
}
