/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/topology.h"

#include "core/payload.h"
#include "record/clock.h"

#include <stdlib.h>

/* Ranks in the communicator, MPI_PROC_NULL left out. */
struct list {
    int *ranks;
    int count;
};

/* One record of those from `from` on. Returns how many it took. */
static int put_some(struct location *location, uint32_t number, enum neighbours_way way, const struct list *list,
                    int from)
{
    int taken = list->count - from < RECORD_NEIGHBOUR_RANKS ? list->count - from : RECORD_NEIGHBOUR_RANKS;
    struct record_neighbours *record = location_room(location, sizeof *record);
    if (!record)
        return taken;
    record->base.ticks = clock_now();
    record->way = (int32_t)way;
    for (int i = 0; i < RECORD_NEIGHBOUR_RANKS; i++)
        record->ranks[i] = i < taken ? list->ranks[from + i] : -1;
    location_commit(location, sizeof *record, RECORD_NEIGHBOURS, 0, number);
    return taken;
}

/* At least one record, which shows that a process has no neighbours. */
static void put(struct location *location, uint32_t number, enum neighbours_way way, const struct list *list)
{
    int done = 0;
    do
        done += put_some(location, number, way, list, done);
    while (done < list->count);
}

static void drop_nobody(struct list *list)
{
    int kept = 0;
    for (int i = 0; i < list->count; i++)
        if (list->ranks[i] != MPI_PROC_NULL)
            list->ranks[kept++] = list->ranks[i];
    list->count = kept;
}

static struct list list_new(int count)
{
    int *ranks = calloc(count > 0 ? (size_t)count : 1, sizeof *ranks);
    return (struct list){ranks, ranks ? count : 0};
}

static void record_cart(struct location *location, uint32_t number, MPI_Comm comm)
{
    int dimensions = 0;
    PMPI_Cartdim_get(comm, &dimensions);
    struct list list = list_new(2 * dimensions);
    if (!list.ranks)
        return;
    for (int i = 0; 2 * i < list.count; i++)
        PMPI_Cart_shift(comm, i, 1, &list.ranks[2 * i], &list.ranks[2 * i + 1]);
    drop_nobody(&list);
    put(location, number, NEIGHBOURS_BOTH, &list);
    free(list.ranks);
}

static void record_graph(struct location *location, uint32_t number, MPI_Comm comm)
{
    int rank = 0, count = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Graph_neighbors_count(comm, rank, &count);
    struct list list = list_new(count);
    if (!list.ranks)
        return;
    if (list.count > 0)
        PMPI_Graph_neighbors(comm, rank, list.count, list.ranks);
    drop_nobody(&list);
    put(location, number, NEIGHBOURS_BOTH, &list);
    free(list.ranks);
}

static void record_dist_graph(struct location *location, uint32_t number, MPI_Comm comm)
{
    int sources = 0, destinations = 0, weighted = 0;
    PMPI_Dist_graph_neighbors_count(comm, &sources, &destinations, &weighted);
    struct list from = list_new(sources), to = list_new(destinations);
    struct list from_weights = list_new(sources), to_weights = list_new(destinations);
    bool room = from.ranks && to.ranks && from_weights.ranks && to_weights.ranks;
    if (room) {
        PMPI_Dist_graph_neighbors(comm, from.count, from.ranks, from_weights.ranks, to.count, to.ranks,
                                  to_weights.ranks);
        drop_nobody(&from);
        drop_nobody(&to);
        put(location, number, NEIGHBOURS_SOURCES, &from);
        put(location, number, NEIGHBOURS_DESTINATIONS, &to);
    }
    free(from.ranks);
    free(to.ranks);
    free(from_weights.ranks);
    free(to_weights.ranks);
}

void topology_record(struct location *location, uint32_t number, MPI_Comm comm)
{
    int topology = MPI_UNDEFINED;
    PMPI_Topo_test(comm, &topology);
    if (topology == MPI_CART)
        record_cart(location, number, comm);
    else if (topology == MPI_GRAPH)
        record_graph(location, number, comm);
    else if (topology == MPI_DIST_GRAPH)
        record_dist_graph(location, number, comm);
}
