/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/collectives.h"

#include "core/event.h"

int collective_size(MPI_Comm comm)
/* MPI-4.0, 6.2.3: on an inter-communicator the counts are for the processes of the other group. */
{
    int inter = 0, size = 0;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter)
        PMPI_Comm_remote_size(comm, &size);
    else
        PMPI_Comm_size(comm, &size);
    return size;
}

/* The process's role in a collective with a root: if it does not send, or receive, the arguments for that have no
   meaning. On an inter-communicator the processes of the root's own group exchange nothing. */
struct part {
    bool gives, gets;
};

/* All send to the root. */
static struct part part_to_root(MPI_Comm comm, int root)
{
    int rank = 0, inter = 0;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter)
        return (struct part){.gives = root != MPI_ROOT && root != MPI_PROC_NULL, .gets = root == MPI_ROOT};
    PMPI_Comm_rank(comm, &rank);
    return (struct part){.gives = true, .gets = rank == root};
}

/* The root sends to all. */
static struct part part_from_root(MPI_Comm comm, int root)
{
    struct part part = part_to_root(comm, root);
    return (struct part){.gives = part.gets, .gets = part.gives};
}

static MPI_Count count_at(struct counts counts, int index)
{
    return counts.small ? counts.small[index] : counts.large[index];
}

/* Bytes of all counts of a vector variant. */
static uint64_t sum(struct counts counts, int size, MPI_Datatype type)
{
    MPI_Count elements = 0;
    for (int i = 0; i < size; i++)
        elements += count_at(counts, i);
    /* The product once: elements of one type are as large as the type times their number. */
    return message_bytes(1, type) * (uint64_t)elements;
}

/* The same if each has a type of its own. */
static uint64_t sum_of_types(struct counts counts, int size, const MPI_Datatype *types)
{
    uint64_t bytes = 0;
    for (int i = 0; i < size; i++)
        if (count_at(counts, i) > 0)
            bytes += message_bytes(count_at(counts, i), types[i]);
    return bytes;
}

static int32_t root_recorded(int root)
{
    if (root == NO_ROOT)
        return -1;
    if (root == MPI_ROOT)
        return ROOT_SELF;
    return root == MPI_PROC_NULL ? ROOT_BESIDE : root;
}

void collective(struct call *call, int root, uint64_t sent, uint64_t received)
{
    struct location *location = call->location;
    if (!call->write)
        return;
    struct record_collective *record = location_room(location, sizeof *record);
    if (!record)
        return;
    record->base.ticks = call_end(call);
    record->root = root_recorded(root);
    /* No byte of the file is left undefined: it is read back as a whole. */
    record->unused = 0;
    record->sent = sent;
    record->received = received;
    location_commit(location, sizeof *record, RECORD_COLLECTIVE, call->function, call->comm);
}

void collective_to_all(struct call *call, MPI_Comm comm, int root, MPI_Count count, MPI_Datatype type)
{
    struct part part = part_from_root(comm, root);
    uint64_t bytes = 0;
    if (part.gives || part.gets)
        bytes = message_bytes(count, type);
    /* In MPI_Bcast the root's data are not sent to itself: it receives nothing. */
    collective(call, root, part.gives ? bytes : 0, part.gives ? 0 : bytes);
}

void collective_to_root(struct call *call, MPI_Comm comm, int root, MPI_Count count, MPI_Datatype type)
{
    struct part part = part_to_root(comm, root);
    uint64_t bytes = 0;
    if (part.gives || part.gets)
        bytes = message_bytes(count, type);
    collective(call, root, part.gives ? bytes : 0, part.gets ? bytes : 0);
}

void collective_gather(struct call *call, MPI_Comm comm, int root, const void *in, MPI_Count incount,
                       MPI_Datatype intype, MPI_Count outcount, MPI_Datatype outtype)
{
    struct part part = part_to_root(comm, root);
    uint64_t got = 0, given = 0, blocks = 0;
    if (part.gets) {
        got = message_bytes(outcount, outtype);
        blocks = (uint64_t)collective_size(comm);
    }
    /* With MPI_IN_PLACE the own block is already where it belongs, and its send arguments have no meaning. */
    if (part.gives)
        given = in == MPI_IN_PLACE ? got : message_bytes(incount, intype);
    collective(call, root, given, got * blocks);
}

void collective_scatter(struct call *call, MPI_Comm comm, int root, const void *out, MPI_Count incount,
                        MPI_Datatype intype, MPI_Count outcount, MPI_Datatype outtype)
{
    struct part part = part_from_root(comm, root);
    uint64_t given = 0, got = 0, blocks = 0;
    if (part.gives) {
        given = message_bytes(incount, intype);
        blocks = (uint64_t)collective_size(comm);
    }
    if (part.gets)
        got = out == MPI_IN_PLACE ? given : message_bytes(outcount, outtype);
    collective(call, root, given * blocks, got);
}

void collective_gatherv(struct call *call, MPI_Comm comm, int root, const void *in, MPI_Count incount,
                        MPI_Datatype intype, struct counts outcounts, MPI_Datatype outtype)
{
    struct part part = part_to_root(comm, root);
    uint64_t given = 0;
    if (part.gives)
        given = in == MPI_IN_PLACE ? message_bytes(count_at(outcounts, root), outtype) : message_bytes(incount, intype);
    collective(call, root, given, part.gets ? sum(outcounts, collective_size(comm), outtype) : 0);
}

void collective_scatterv(struct call *call, MPI_Comm comm, int root, const void *out, struct counts incounts,
                         MPI_Datatype intype, MPI_Count outcount, MPI_Datatype outtype)
{
    struct part part = part_from_root(comm, root);
    uint64_t got = 0;
    if (part.gets)
        got = out == MPI_IN_PLACE ? message_bytes(count_at(incounts, root), intype) : message_bytes(outcount, outtype);
    collective(call, root, part.gives ? sum(incounts, collective_size(comm), intype) : 0, got);
}

void collective_exchange(struct call *call, MPI_Comm comm, const void *in, MPI_Count incount, MPI_Datatype intype,
                         MPI_Count outcount, MPI_Datatype outtype, int blocks)
{
    uint64_t got = message_bytes(outcount, outtype);
    uint64_t given = in == MPI_IN_PLACE ? got : message_bytes(incount, intype);
    collective(call, NO_ROOT, given * (uint64_t)blocks, got * (uint64_t)collective_size(comm));
}

void collective_allgatherv(struct call *call, MPI_Comm comm, const void *in, MPI_Count incount, MPI_Datatype intype,
                           struct counts outcounts, MPI_Datatype outtype)
{
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    uint64_t given =
        in == MPI_IN_PLACE ? message_bytes(count_at(outcounts, rank), outtype) : message_bytes(incount, intype);
    collective(call, NO_ROOT, given, sum(outcounts, collective_size(comm), outtype));
}

void collective_alltoallv(struct call *call, MPI_Comm comm, const void *in, struct counts incounts, MPI_Datatype intype,
                          struct counts outcounts, MPI_Datatype outtype)
{
    int size = collective_size(comm);
    uint64_t got = sum(outcounts, size, outtype);
    collective(call, NO_ROOT, in == MPI_IN_PLACE ? got : sum(incounts, size, intype), got);
}

void collective_alltoallw(struct call *call, MPI_Comm comm, const void *in, struct counts incounts,
                          const MPI_Datatype *intypes, struct counts outcounts, const MPI_Datatype *outtypes)
{
    int size = collective_size(comm);
    uint64_t got = sum_of_types(outcounts, size, outtypes);
    collective(call, NO_ROOT, in == MPI_IN_PLACE ? got : sum_of_types(incounts, size, intypes), got);
}

void collective_reduce_scatter(struct call *call, MPI_Comm comm, struct counts counts, MPI_Datatype type)
{
    /* On an inter-communicator the counts are those of the own group. */
    int rank = 0, size = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    collective(call, NO_ROOT, sum(counts, size, type), message_bytes(count_at(counts, rank), type));
}

/* More dimensions than anybody has; two bits each fit into `nobody`. */
enum { CART_DIMENSIONS_MAX = 32 };
struct neighbours {
    int sources, destinations; /* blocks in the arguments */
    uint64_t nobody;           /* bit i: the i-th of a Cartesian topology is beyond its border */
};

static struct neighbours cart_neighbours(MPI_Comm comm)
{
    struct neighbours neighbours = {0};
    int dimensions = 0, before, after;
    PMPI_Cartdim_get(comm, &dimensions);
    for (int i = 0; i < dimensions && i < CART_DIMENSIONS_MAX; i++) {
        /* MPI-4.0, 8.6: the neighbours of a Cartesian topology come in pairs, for each dimension the lower and the
           upper one; those beyond a border that is not periodic have blocks, too, but no data. */
        PMPI_Cart_shift(comm, i, 1, &before, &after);
        neighbours.nobody |= (uint64_t)(before == MPI_PROC_NULL) << 2 * i;
        neighbours.nobody |= (uint64_t)(after == MPI_PROC_NULL) << (2 * i + 1);
    }
    neighbours.sources = neighbours.destinations = 2 * dimensions;
    return neighbours;
}

static struct neighbours neighbours_of(MPI_Comm comm)
{
    struct neighbours neighbours = {0};
    int topology = MPI_UNDEFINED, rank = 0, weighted;
    PMPI_Topo_test(comm, &topology);
    if (topology == MPI_CART)
        return cart_neighbours(comm);
    if (topology == MPI_DIST_GRAPH) {
        PMPI_Dist_graph_neighbors_count(comm, &neighbours.sources, &neighbours.destinations, &weighted);
    } else if (topology == MPI_GRAPH) {
        PMPI_Comm_rank(comm, &rank);
        PMPI_Graph_neighbors_count(comm, rank, &neighbours.sources);
        neighbours.destinations = neighbours.sources;
    }
    return neighbours;
}

static bool is_there(const struct neighbours *neighbours, int index)
{
    /* Beyond the bits nothing is known: counted. */
    return index >= 2 * CART_DIMENSIONS_MAX || !(neighbours->nobody >> index & 1);
}

static uint64_t there(const struct neighbours *neighbours, int blocks)
{
    uint64_t count = 0;
    for (int i = 0; i < blocks; i++)
        count += is_there(neighbours, i);
    return count;
}

/* Bytes of the blocks of existing neighbours, all with one type or each with its own. */
static uint64_t sum_there(const struct neighbours *neighbours, int blocks, struct counts counts, MPI_Datatype type,
                          const MPI_Datatype *types)
{
    uint64_t bytes = 0;
    for (int i = 0; i < blocks; i++)
        if (is_there(neighbours, i) && count_at(counts, i) > 0)
            bytes += message_bytes(count_at(counts, i), types ? types[i] : type);
    return bytes;
}

void collective_neighbour_allgather(struct call *call, MPI_Comm comm, MPI_Count incount, MPI_Datatype intype,
                                    MPI_Count outcount, MPI_Datatype outtype)
{
    struct neighbours neighbours = neighbours_of(comm);
    collective(call, NO_ROOT, message_bytes(incount, intype),
               there(&neighbours, neighbours.sources) * message_bytes(outcount, outtype));
}

void collective_neighbour_allgatherv(struct call *call, MPI_Comm comm, MPI_Count incount, MPI_Datatype intype,
                                     struct counts outcounts, MPI_Datatype outtype)
{
    struct neighbours neighbours = neighbours_of(comm);
    collective(call, NO_ROOT, message_bytes(incount, intype),
               sum_there(&neighbours, neighbours.sources, outcounts, outtype, NULL));
}

void collective_neighbour_alltoall(struct call *call, MPI_Comm comm, MPI_Count incount, MPI_Datatype intype,
                                   MPI_Count outcount, MPI_Datatype outtype)
{
    struct neighbours neighbours = neighbours_of(comm);
    collective(call, NO_ROOT, there(&neighbours, neighbours.destinations) * message_bytes(incount, intype),
               there(&neighbours, neighbours.sources) * message_bytes(outcount, outtype));
}

void collective_neighbour_alltoallv(struct call *call, MPI_Comm comm, struct counts incounts, MPI_Datatype intype,
                                    struct counts outcounts, MPI_Datatype outtype)
{
    struct neighbours neighbours = neighbours_of(comm);
    collective(call, NO_ROOT, sum_there(&neighbours, neighbours.destinations, incounts, intype, NULL),
               sum_there(&neighbours, neighbours.sources, outcounts, outtype, NULL));
}

void collective_neighbour_alltoallw(struct call *call, MPI_Comm comm, struct counts incounts,
                                    const MPI_Datatype *intypes, struct counts outcounts, const MPI_Datatype *outtypes)
{
    struct neighbours neighbours = neighbours_of(comm);
    collective(call, NO_ROOT, sum_there(&neighbours, neighbours.destinations, incounts, MPI_BYTE, intypes),
               sum_there(&neighbours, neighbours.sources, outcounts, MPI_BYTE, outtypes));
}
