/* SPDX-License-Identifier: BSD-3-Clause */
/* hangs NAME: programs that hang, crash or poll, one for each way; and some that are merely slow. `hangs --list` prints
   their names with what is to be found of each. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { TAG = 7, LARGE = 1 << 22, ITERATIONS = 10, LONG_ITERATIONS = 60000 };

static int rank, size, left, right, last;
static char *large, *own_name;

static void spin(double seconds)
{
    volatile double sum = 0;
    for (double end = MPI_Wtime() + seconds; MPI_Wtime() < end;)
        for (int i = 0; i < 1000; i++)
            sum += i;
}

static void send_to(int to, int tag, MPI_Comm comm)
{
    int value = 1;
    MPI_Send(&value, 1, MPI_INT, to, tag, comm);
}

static void receive_from(int from, int tag, MPI_Comm comm)
{
    int value;
    MPI_Recv(&value, 1, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE);
}

/* Some iterations as they should be. */
static void work(void)
{
    for (int i = 0; i < ITERATIONS; i++) {
        int in = rank, out;
        MPI_Sendrecv(&in, 1, MPI_INT, right, TAG, &out, 1, MPI_INT, left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

static MPI_Comm half(void)
{
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
    return comm;
}

/* Cycles. */
static void recv_ring(void)
{
    work();
    receive_from(left, TAG, MPI_COMM_WORLD);
    send_to(right, TAG, MPI_COMM_WORLD);
}
static void ssend_ring(void)
{
    work();
    MPI_Ssend(&rank, 1, MPI_INT, right, TAG, MPI_COMM_WORLD);
    receive_from(left, TAG, MPI_COMM_WORLD);
}
/* After so many calls that sight status does not read all of them to show where the processes are. */
static void long_ring(void)
{
    for (int i = 0; i < LONG_ITERATIONS; i++) {
        int out;
        MPI_Request requests[2];
        MPI_Status statuses[2];
        MPI_Irecv(&out, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&rank, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, statuses);
    }
    receive_from(left, TAG, MPI_COMM_WORLD);
}
static void send_pairs(void)
{
    int other = rank ^ 1;
    if (other < size) {
        MPI_Send(large, LARGE, MPI_CHAR, other, TAG, MPI_COMM_WORLD);
        MPI_Recv(large, LARGE, MPI_CHAR, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}
static void wait_ring(void)
{
    int value;
    MPI_Request request;
    work();
    MPI_Irecv(&value, 1, MPI_INT, left, TAG, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    send_to(right, TAG, MPI_COMM_WORLD);
}
static void persistent_ring(void)
{
    int value;
    MPI_Request request;
    MPI_Recv_init(&value, 1, MPI_INT, left, TAG, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    send_to(right, TAG, MPI_COMM_WORLD);
}
static void waitall_ring(void)
{
    int values[2];
    MPI_Request requests[2];
    work();
    MPI_Irecv(&values[0], 1, MPI_INT, left, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&values[1], 1, MPI_INT, right, TAG + 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    send_to(right, TAG, MPI_COMM_WORLD);
    send_to(left, TAG + 1, MPI_COMM_WORLD);
}
static void probe_ring(void)
{
    MPI_Probe(left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    send_to(right, TAG, MPI_COMM_WORLD);
}
static void mprobe_ring(void)
{
    MPI_Message message;
    MPI_Mprobe(left, TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    send_to(right, TAG, MPI_COMM_WORLD);
}
static void any_source(void)
{
    work();
    receive_from(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD);
    send_to(right, TAG, MPI_COMM_WORLD);
}
/* In functions that MPI calls. */
static int copy_and_receive(MPI_Comm comm, int key, void *state, void *value, void *copy, int *flag)
{
    (void)comm;
    (void)key;
    (void)state;
    *(void **)copy = value;
    *flag = 1;
    receive_from(left, TAG, MPI_COMM_WORLD);
    return MPI_SUCCESS;
}
static MPI_Comm with_attribute(void)
{
    MPI_Comm comm;
    int key;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(copy_and_receive, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(comm, key, &rank);
    return comm;
}
static void callback_ring(void)
{
    MPI_Comm comm = with_attribute(), copy;
    work();
    MPI_Comm_dup(comm, &copy);
    send_to(right, TAG, MPI_COMM_WORLD);
}
/* The others wait for the first in the call whose callback waits for them, or after it. */
static void callback_of_one(void)
{
    MPI_Comm comm = MPI_COMM_WORLD, copy;
    if (rank == 0)
        comm = with_attribute();
    else
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_dup(comm, &copy);
    if (rank == 0)
        send_to(last, TAG, MPI_COMM_WORLD);
    receive_from(left, TAG, MPI_COMM_WORLD);
    send_to(right, TAG, MPI_COMM_WORLD);
}
static void add_and_look(void *from, void *to, int *count, MPI_Datatype *type)
{
    int flag;
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)to)[i] += ((int *)from)[i];
    MPI_Iprobe(0, TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}
/* A wait that goes on after a callback. */
static void after_callback(void)
{
    MPI_Op op;
    MPI_Request request;
    int sum;
    MPI_Op_create(add_and_look, 1, &op);
    work();
    if (rank < last) {
        MPI_Iallreduce(&rank, &sum, 1, MPI_INT, op, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        receive_from(left, TAG, MPI_COMM_WORLD);
    }
    send_to(last, TAG, MPI_COMM_WORLD);
}
static void waitany(void)
{
    MPI_Request *requests = malloc((size_t)size * sizeof *requests);
    int *values = malloc((size_t)size * sizeof *values), index;
    for (int i = 0; i < size; i++) {
        requests[i] = MPI_REQUEST_NULL;
        if (i != rank)
            MPI_Irecv(&values[i], 1, MPI_INT, i, TAG, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitany(size, requests, &index, MPI_STATUS_IGNORE);
    send_to(right, TAG, MPI_COMM_WORLD);
}
static void sendrecv_wrong_way(void)
{
    int in = rank, out;
    work();
    if (size > 2)
        MPI_Sendrecv(&in, 1, MPI_INT, right, TAG, &out, 1, MPI_INT, right, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        receive_from(right, TAG, MPI_COMM_WORLD);
}
/* The receive finds its message, the send does not find its receive. */
static void sendrecv_wrong_tag(void)
{
    char *into = malloc(LARGE);
    int other = 1 - rank;
    work();
    if (rank < 2)
        MPI_Sendrecv(large, LARGE, MPI_CHAR, other, TAG + rank, into, LARGE, MPI_CHAR, other, TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}
static void ring_of_halves(void)
{
    MPI_Comm comm = half();
    int me, all;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &all);
    if (all > 1)
        receive_from((me + all - 1) % all, TAG, comm);
    else
        receive_from(left, TAG, MPI_COMM_WORLD);
}
static void across_groups(void)
{
    MPI_Comm mine = half(), inter;
    int me;
    MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, TAG, &inter);
    MPI_Comm_rank(mine, &me);
    if (me == 0)
        receive_from(0, TAG, inter);
    MPI_Barrier(mine);
}
static void pair_and_barrier(void)
{
    work();
    if (rank < 2)
        receive_from(1 - rank, TAG, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Missing members. */
static void barrier_skipped(void)
{
    work();
    if (rank != last)
        MPI_Barrier(MPI_COMM_WORLD);
}
static void barrier_or_receive(void)
{
    work();
    if (rank != last)
        MPI_Barrier(MPI_COMM_WORLD);
    else
        receive_from(0, TAG + 9, MPI_COMM_WORLD);
}
static void allreduce_skipped(void)
{
    int in = 1, out;
    work();
    if (rank != 0)
        MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
static void half_skipped(void)
{
    MPI_Comm comm = half();
    if (rank != last)
        MPI_Barrier(comm);
}
static void ibarrier_skipped(void)
{
    MPI_Request request;
    work();
    if (rank == last)
        return;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void merge_skipped(void)
{
    MPI_Comm mine = half(), inter, all;
    MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, TAG, &inter);
    if (rank != last)
        MPI_Intercomm_merge(inter, rank % 2, &all);
}
static void fence_skipped(void)
{
    MPI_Win win;
    MPI_Win_create(large, LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    if (rank != last)
        MPI_Win_fence(0, win);
}
static void split_skipped(void)
{
    work();
    if (rank != 0)
        half();
}

static void idup_skipped(void)
{
    MPI_Comm comm;
    MPI_Request request;
    work();
    if (rank == last)
        return;
    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void intercomm_skipped(void)
{
    MPI_Comm mine = half(), inter;
    work();
    if (rank != last)
        MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, TAG, &inter);
}

/* The last of half of the processes never makes the communicator of that half. */
static MPI_Group group_of_half(MPI_Group all)
{
    MPI_Group some;
    int ranges[1][3] = {{rank % 2, last, 2}};
    MPI_Group_range_incl(all, 1, ranges, &some);
    return some;
}
static void create_group_skipped(void)
{
    MPI_Group all;
    MPI_Comm comm;
    work();
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group some = group_of_half(all);
    MPI_Comm_create_group(MPI_COMM_WORLD, some, TAG, &comm);
    if (rank != last)
        MPI_Comm_create_group(MPI_COMM_WORLD, some, TAG + 1, &comm);
}
#if MPI_VERSION >= 4
static void create_from_group_skipped(void)
{
    MPI_Session session;
    MPI_Group all;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    MPI_Group some = group_of_half(all);
    MPI_Comm_create_from_group(some, "first", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Barrier(comm);
    if (rank != last)
        MPI_Comm_create_from_group(some, "second", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Session_finalize(&session);
}
#endif

/* Starts two processes, which receive as many messages each of the first one here: it sends one less to the second. */
static void spawned(void)
{
    MPI_Comm parent, other;
    char *arguments[] = {"spawned", NULL};
    work();
    MPI_Comm_get_parent(&parent);
    other = parent;
    if (parent == MPI_COMM_NULL)
        MPI_Comm_spawn(own_name, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
    for (int i = 0; i < 2 * ITERATIONS; i++)
        if (parent != MPI_COMM_NULL && i % 2 == rank)
            receive_from(0, TAG, other);
        else if (parent == MPI_COMM_NULL && rank == 0 && i + 1 < 2 * ITERATIONS)
            send_to(i % 2, TAG, other);
    MPI_Barrier(other);
}

/* Persistent collectives: each is prepared by all members, and then started as often by each. */
#if MPI_VERSION >= 4
static void start_skipped(void)
{
    MPI_Request request;
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int i = 0; i < ITERATIONS && (rank != last || i + 1 < ITERATIONS); i++) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}
static void prepare_skipped(void)
{
    int in = rank, out;
    MPI_Request request;
    work();
    if (rank == last)
        receive_from(0, TAG + 9, MPI_COMM_WORLD);
    MPI_Allreduce_init(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void prepare_two(MPI_Request requests[2])
{
    static int in, out;
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Allreduce_init(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
}
/* Each waits for what the other has not started yet. */
static void start_and_wait(void)
{
    MPI_Request requests[2];
    prepare_two(requests);
    for (int i = 0; i < 2; i++) {
        MPI_Request *request = &requests[(i + rank) % 2];
        MPI_Start(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
    }
}
static void start_both(MPI_Request requests[2])
{
    MPI_Status statuses[2];
    MPI_Start(&requests[rank % 2]);
    MPI_Start(&requests[1 - rank % 2]);
    MPI_Waitall(2, requests, statuses);
}
/* The order of starts does not matter: the messages do. */
static void ring_of_starts(void)
{
    MPI_Request requests[2];
    prepare_two(requests);
    for (int i = 0; i < ITERATIONS; i++)
        start_both(requests);
    recv_ring();
}
static void slow_starts(void)
{
    MPI_Request requests[2];
    prepare_two(requests);
    for (int i = 0; i < 10000; i++) {
        spin(0.01);
        start_both(requests);
    }
}

/* Messages in parts, from the first process to the second. */
enum { PARTS = 4 };

static MPI_Request parts_request(void)
{
    static int values[PARTS];
    MPI_Request request;
    if (rank == 0)
        MPI_Psend_init(values, PARTS, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(values, PARTS, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    return request;
}
/* Some as they should be: the parts in all the ways there are. */
static void send_parts(MPI_Request *request, double pause)
{
    int first[2] = {0, 2};
    MPI_Start(request);
    if (rank == 0) {
        MPI_Pready_list(2, first, *request);
        spin(pause);
        MPI_Pready_range(3, 3, *request);
        MPI_Pready(1, *request);
    }
    MPI_Wait(request, MPI_STATUS_IGNORE);
}
static MPI_Request begin_parts(void)
{
    MPI_Request request = parts_request();
    for (int i = 0; i < ITERATIONS; i++)
        send_parts(&request, 0);
    MPI_Start(&request);
    if (rank == 0)
        MPI_Pready_range(0, 2, request);
    return request;
}
static void part_forgotten(void)
{
    if (rank >= 2)
        return;
    MPI_Request request = begin_parts();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void part_after_barrier(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank < 2)
        request = begin_parts();
    if (rank != 1)
        MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Pready(3, request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_Barrier(MPI_COMM_WORLD);
}
static void part_tested(void)
{
    if (rank >= 2)
        return;
    MPI_Request request = begin_parts();
    int arrived = 0;
    while (rank == 1 && !arrived)
        MPI_Parrived(request, 3, &arrived);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void parts_not_started(void)
{
    if (rank >= 2)
        return;
    MPI_Request request = parts_request();
    for (int i = 0; i < ITERATIONS; i++)
        send_parts(&request, 0);
    if (rank == 1) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}
static void slow_parts(void)
{
    if (rank >= 2)
        return;
    MPI_Request request = parts_request();
    for (int i = 0; i < 10000; i++)
        send_parts(&request, 0.01);
}
#endif

/* Members in different collectives. */
static void allreduce_or_barrier(void)
{
    int in = 1, out;
    work();
    if (rank % 2)
        MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}
static void order_of_communicators(void)
{
    MPI_Comm first, second;
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_dup(MPI_COMM_WORLD, &second);
    work();
    MPI_Barrier(rank % 2 ? first : second);
    MPI_Barrier(rank % 2 ? second : first);
}
static void reduce_or_alltoall(void)
{
    int *in = calloc((size_t)size, sizeof *in), *out = calloc((size_t)size, sizeof *out);
    if (rank == 0)
        MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD);
    else
        MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void roots_differ(void)
{
    int *all = malloc((size_t)size * sizeof *all);
    work();
    MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, rank == 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Both groups of an inter-communicator, or neither, have a root. */
static MPI_Comm between_halves(void)
{
    MPI_Comm mine = half(), inter;
    MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, TAG, &inter);
    return inter;
}
static void both_wait_for_root(void)
{
    MPI_Comm inter = between_halves();
    work();
    MPI_Bcast(large, LARGE, MPI_CHAR, 0, inter);
}
static void root_of_nobody(void)
{
    MPI_Comm inter = between_halves();
    work();
    MPI_Bcast(large, LARGE, MPI_CHAR, rank % 2 ? 0 : MPI_PROC_NULL, inter);
    MPI_Barrier(inter);
}
static void roots_of_both(void)
{
    MPI_Comm inter = between_halves();
    work();
    MPI_Bcast(large, LARGE, MPI_CHAR, rank < 2 ? MPI_ROOT : MPI_PROC_NULL, inter);
    MPI_Barrier(inter);
}
static void wrong_root_there(void)
{
    MPI_Comm inter = between_halves();
    int root = 1;
    if (rank % 2 == 0)
        root = rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    work();
    MPI_Bcast(large, LARGE, MPI_CHAR, root, inter);
    MPI_Barrier(inter);
}
/* The first process expects something of the second one, which sends nothing to it. */
static void neighbours_differ(void)
{
    MPI_Comm ring;
    int from[2] = {left, 1}, to[1] = {right}, in = rank, out[2];
    work();
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1 + (rank == 0), from, MPI_UNWEIGHTED, 1, to, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &ring);
    MPI_Neighbor_allgather(&in, 1, MPI_INT, out, 1, MPI_INT, ring);
    MPI_Barrier(ring);
}
/* The last process expects more of the first one than that sends. */
static void counts_differ(void)
{
    int *counts = calloc((size_t)size, sizeof *counts), *places = calloc((size_t)size, sizeof *places);
    int *gets = calloc((size_t)size, sizeof *gets);
    work();
    for (int i = 0; i < size; i++)
        gets[i] = counts[i] = 1;
    counts[last] = rank == 0 ? 0 : 1;
    MPI_Alltoallv(large, counts, places, MPI_INT, large + LARGE / 2, gets, places, MPI_INT, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Messages that are never sent, or never received. */
static void taken_by_mprobe(void)
{
    MPI_Message message;
    work();
    if (rank == 0)
        send_to(1, TAG, MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Mprobe(0, TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        receive_from(0, TAG, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
static void taken_by_improbe(void)
{
    MPI_Message message;
    work();
    if (rank == 0)
        MPI_Ssend(&rank, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);
    for (int there = 0; rank == 1 && !there;)
        MPI_Improbe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, &message, MPI_STATUS_IGNORE);
    if (rank == 1)
        receive_from(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}
static void wrong_tag(void)
{
    work();
    if (rank == 0)
        receive_from(1, TAG, MPI_COMM_WORLD);
    else if (rank == 1)
        send_to(0, TAG + 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}
static void wrong_communicator(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (rank == 0)
        receive_from(1, TAG, comm);
    else if (rank == 1)
        send_to(0, TAG, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}
static void wrong_source(void)
{
    if (rank == 0)
        receive_from(last, TAG, MPI_COMM_WORLD);
    else if (rank == 1)
        send_to(0, TAG + (size == 2), MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}
static void never_sent(void)
{
    work();
    if (rank == 0)
        receive_from(1, TAG + 5, MPI_COMM_WORLD);
}
static void never_received(void)
{
    work();
    if (rank == 0)
        MPI_Ssend(&rank, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);
}
static void never_probed(void)
{
    if (rank == last)
        MPI_Probe(0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void irecv_never_sent(void)
{
    int value;
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(&value, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}
static void halo_without_one(void)
{
    for (int i = 0; i < ITERATIONS; i++) {
        int in[2], out = rank;
        MPI_Request requests[4];
        int count = 0;
        MPI_Irecv(&in[0], 1, MPI_INT, left, TAG, MPI_COMM_WORLD, &requests[count++]);
        MPI_Irecv(&in[1], 1, MPI_INT, right, TAG + 1, MPI_COMM_WORLD, &requests[count++]);
        if (i + 1 < ITERATIONS || rank != 0)
            MPI_Isend(&out, 1, MPI_INT, right, TAG, MPI_COMM_WORLD, &requests[count++]);
        MPI_Isend(&out, 1, MPI_INT, left, TAG + 1, MPI_COMM_WORLD, &requests[count++]);
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        MPI_Allreduce(&out, &in[0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}
/* The first hands out work until there is none, and does not say so to the last. */
static void not_told_to_stop(void)
{
    MPI_Status status = {.MPI_TAG = TAG};
    int value;
    for (int i = 0; i < ITERATIONS * (size - 1) && rank == 0; i++)
        send_to(1 + i % (size - 1), TAG, MPI_COMM_WORLD);
    for (int i = 1; i < last && rank == 0; i++)
        send_to(i, TAG + 1, MPI_COMM_WORLD);
    while (rank > 0 && status.MPI_TAG == TAG)
        MPI_Recv(&value, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Barrier(MPI_COMM_WORLD);
}
static void ring_left_early(void)
{
    int in = rank, out;
    for (int i = 0; i < ITERATIONS && (rank != 1 || i + 1 < ITERATIONS); i++)
        MPI_Sendrecv(&in, 1, MPI_INT, right, TAG, &out, 1, MPI_INT, left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
/* Everybody sends to everybody, but one message is missing. */
static void one_of_many(void)
{
    MPI_Request *requests = malloc(2 * (size_t)size * sizeof *requests);
    int *values = malloc((size_t)size * sizeof *values), count = 0;
    work();
    for (int i = 0; i < size; i++)
        if (i != rank)
            MPI_Irecv(&values[i], 1, MPI_INT, i, TAG + 10 + i, MPI_COMM_WORLD, &requests[count++]);
    for (int i = 0; i < size; i++)
        if (i != rank && (i != 0 || rank != last))
            MPI_Isend(&rank, 1, MPI_INT, i, TAG + 10 + rank, MPI_COMM_WORLD, &requests[count++]);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}
static void from_itself(void)
{
    work();
    if (rank == 0)
        receive_from(rank, TAG + 5, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}
static void one_receive_more(void)
{
    for (int i = 0; i < ITERATIONS && rank < 2; i++)
        if (rank == 0)
            receive_from(1, TAG, MPI_COMM_WORLD);
        else if (i > 0)
            send_to(0, TAG, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Processes that end. */
static void crash(int signal_number)
{
    work();
    if (rank == last) {
        spin(0.3);
        raise(signal_number);
    }
    receive_from(last, TAG, MPI_COMM_WORLD);
}
static void segv(void)
{
    work();
    if (rank == last) {
        spin(0.3);
        *(volatile int *)(size_t)8 = 1;
    }
    receive_from(last, TAG, MPI_COMM_WORLD);
}
static void aborts(void)
{
    crash(SIGABRT);
}
static void divides(void)
{
    crash(SIGFPE);
}
static void exits(void)
{
    work();
    if (rank == last) {
        spin(0.3);
        exit(3);
    }
    receive_from(last, TAG, MPI_COMM_WORLD);
}
/* Without a note: only whoever started the process sees that it ends. */
static void killed(void)
{
    work();
    if (rank == last) {
        spin(0.3);
        kill(getpid(), SIGKILL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
static void first_killed(void)
{
    int first = (int)getpid();
    work();
    MPI_Bcast(&first, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == last) {
        spin(0.3);
        kill(first, SIGKILL);
        spin(3600);
    }
    receive_from(last, TAG, MPI_COMM_WORLD);
}
static void cpu_limit(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    rlim_t seconds = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + 1;
    work();
    if (rank == last) {
        setrlimit(RLIMIT_CPU, &(struct rlimit){seconds, seconds});
        spin(3600);
    }
    receive_from(last, TAG, MPI_COMM_WORLD);
}
static void leaves(void)
{
    work();
    if (rank == last) {
        spin(0.3);
        _exit(0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
/* MPI ends the program for an error. */
static void truncates(void)
{
    work();
    if (rank == last) {
        char small[2];
        receive_from(0, TAG, MPI_COMM_WORLD);
        MPI_Recv(small, 2, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 0) {
        send_to(last, TAG, MPI_COMM_WORLD);
        MPI_Send((char[64]){0}, 64, MPI_CHAR, last, TAG, MPI_COMM_WORLD);
    }
    receive_from(last, TAG + 1, MPI_COMM_WORLD);
}
static void wrong_rank(void)
{
    work();
    if (rank == last)
        send_to(size + 5, TAG, MPI_COMM_WORLD);
    receive_from(last, TAG, MPI_COMM_WORLD);
}
/* The program's own handler of errors never returns: MPI ends nothing. */
static void sleep_on_error(MPI_Comm *comm, int *error, ...)
{
    (void)comm;
    (void)error;
    for (;;)
        sleep(1);
}
static void handler_sleeps(void)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(sleep_on_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    work();
    if (rank == last)
        MPI_Recv(NULL, -1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    receive_from(last, TAG, MPI_COMM_WORLD);
}
static void mpi_abort(void)
{
    work();
    if (rank == last) {
        spin(0.3);
        MPI_Abort(MPI_COMM_WORLD, 5);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
static void segv_in_barrier_of_others(void)
{
    work();
    if (rank == 0)
        raise(SIGSEGV);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Processes that compute or sleep for ever. */
static void computes(void)
{
    work();
    if (rank == last)
        spin(3600);
    MPI_Barrier(MPI_COMM_WORLD);
}
static void sleeps(void)
{
    work();
    if (rank == 0)
        sleep(3600);
    receive_from(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD);
}
static void chain(void)
{
    work();
    if (rank == last)
        sleep(3600);
    receive_from(right, TAG, MPI_COMM_WORLD);
    send_to(left, TAG, MPI_COMM_WORLD);
}

/* Loops of failed tests. */
static void tests(void)
{
    int value, done = 0;
    MPI_Request request;
    work();
    if (rank == 0) {
        MPI_Irecv(&value, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, &request);
        while (!done) {
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            usleep(100);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
static void iprobes(void)
{
    int there = 0;
    work();
    while (rank == last && !there) {
        MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        usleep(100);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
static void all_test(void)
{
    int value, done = 0;
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, left, TAG, MPI_COMM_WORLD, &request);
    while (!done) {
        MPI_Testall(1, &request, &done, MPI_STATUSES_IGNORE);
        usleep(100);
    }
}

/* One-sided communication. */
static void lock_and_barrier(void)
{
    MPI_Win win;
    int value = 1;
    MPI_Win_create(large, LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_flush(1, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        receive_from(1, TAG, MPI_COMM_WORLD);
        MPI_Win_unlock(1, win);
    } else if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_flush(1, win);
        send_to(0, TAG, MPI_COMM_WORLD);
        MPI_Win_unlock(1, win);
    }
}
/* Each holds its own window and wants that of the other. */
static void lock_cycle(void)
{
    int *memory, in = rank, out, other = rank ^ 1;
    MPI_Win win;
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    if (other < size) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
        MPI_Put(&in, 1, MPI_INT, rank, 0, 1, MPI_INT, win);
        MPI_Win_flush(rank, win);
        MPI_Sendrecv(&in, 1, MPI_INT, other, TAG, &out, 1, MPI_INT, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, other, 0, win);
        MPI_Get(&out, 1, MPI_INT, other, 0, 1, MPI_INT, win);
        MPI_Win_flush(other, win);
        MPI_Win_unlock(other, win);
        MPI_Win_unlock(rank, win);
    }
    MPI_Win_free(&win);
}
static void start_without_post(void)
{
    MPI_Win win;
    MPI_Group all, other;
    int target = 1, value = 1;
    MPI_Win_create(large, LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &target, &other);
    if (rank == 0) {
        MPI_Win_start(other, 0, win);
        MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_complete(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A lock that its owner never gives back. */
static int *shared_int(MPI_Win *win)
{
    int *memory;
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, win);
    *memory = 0;
    work();
    return memory;
}
static void spins_on_get(void)
{
    MPI_Win win;
    shared_int(&win);
    for (int there = 0; rank == last && !there;) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Get(&there, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
static void spin_lock(void)
{
    MPI_Win win;
    int one = 1, zero = 0, before = 1;
    shared_int(&win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 2 && rank == 0; i++)
        for (before = 1; before;) {
            MPI_Compare_and_swap(&one, &zero, &before, MPI_INT, 0, 0, win);
            MPI_Win_flush(0, win);
        }
    MPI_Barrier(MPI_COMM_WORLD);
}
static void spins_on_value(void)
{
    MPI_Win win;
    int there = 0;
    shared_int(&win);
    MPI_Win_lock_all(0, win);
    while (!there) {
        MPI_Fetch_and_op(NULL, &there, MPI_INT, right, 0, MPI_NO_OP, win);
        MPI_Win_flush(right, win);
    }
}

/* Threads of a process, of which one hangs. */
static MPI_Comm threads_comm;
static void *receive_in_thread(void *unused)
{
    receive_from(1, TAG + 1, threads_comm);
    return unused;
}
static void *barrier_in_thread(void *unused)
{
    MPI_Barrier(threads_comm);
    return unused;
}
static void *work_in_thread(void *unused)
{
    send_to(rank, TAG + 2, threads_comm);
    receive_from(rank, TAG + 2, threads_comm);
    return unused;
}
static void join_threads(void *(*second)(void *))
{
    pthread_t threads[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &threads_comm);
    work();
    if (rank == 0) {
        pthread_create(&threads[0], NULL, work_in_thread, NULL);
        pthread_create(&threads[1], NULL, second, NULL);
        pthread_join(threads[0], NULL);
        pthread_join(threads[1], NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
static void thread_receives(void)
{
    join_threads(receive_in_thread);
}
static void thread_in_barrier(void)
{
    join_threads(barrier_in_thread);
}
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *receive_with_mutex(void *unused)
{
    pthread_mutex_lock(&mutex);
    receive_from(rank, TAG + 3, MPI_COMM_WORLD);
    pthread_mutex_unlock(&mutex);
    return unused;
}
static void mutex_and_receive(void)
{
    pthread_t thread;
    work();
    if (rank == 0) {
        pthread_create(&thread, NULL, receive_with_mutex, NULL);
        usleep(300000);
        pthread_mutex_lock(&mutex);
        send_to(rank, TAG + 3, MPI_COMM_WORLD);
        pthread_mutex_unlock(&mutex);
        pthread_join(thread, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
/* A thread that waits for whatever may come does not hold up the others. */
static void *listen(void *unused)
{
    receive_from(MPI_ANY_SOURCE, TAG + 4, threads_comm);
    return unused;
}
static void listener_computes(void)
{
    pthread_t thread;
    MPI_Comm_dup(MPI_COMM_WORLD, &threads_comm);
    pthread_create(&thread, NULL, listen, NULL);
    work();
    if (rank == 0)
        spin(3600);
    MPI_Barrier(MPI_COMM_WORLD);
}
static void slow_listener(void)
{
    pthread_t thread;
    MPI_Comm_dup(MPI_COMM_WORLD, &threads_comm);
    pthread_create(&thread, NULL, listen, NULL);
    for (int i = 0; i < 10000; i++) {
        spin(rank == 0 ? 0.2 : 0.001);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Another program that never comes. */
static void accepts(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm comm;
    work();
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
static void connects(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm comm;
    work();
    if (rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == last)
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Merely slow. */
static void slow_gets(void)
{
    MPI_Win win;
    int ticket = 0;
    shared_int(&win);
    MPI_Win_lock_all(0, win);
    for (int i = 0, one = 1; i < 100000000 && rank == last; i++) {
        MPI_Fetch_and_op(&one, &ticket, MPI_INT, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
/* All calls are at one place of a window, and yet each of them is of use. */
static void slow_locks(void)
{
    MPI_Win win;
    int one = 1, zero = 0, before = 0;
    shared_int(&win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 100000 && rank == last; i++) {
        do {
            MPI_Compare_and_swap(&one, &zero, &before, MPI_INT, 0, 0, win);
            MPI_Win_flush(0, win);
        } while (before);
        spin(0.001);
        MPI_Compare_and_swap(&zero, &one, &before, MPI_INT, 0, 0, win);
        MPI_Win_flush(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
static void slow_block(void)
{
    MPI_Win win;
    int value = 0;
    shared_int(&win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 100000 && rank == last; i++) {
        MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
        spin(0.001);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
static void slow_steps(void)
{
    for (int i = 0; i < 10000; i++) {
        spin(0.01);
        work();
    }
}
static void slow_exchange(void)
{
    char *into = malloc(LARGE);
    for (int i = 0; i < 1000000; i++)
        MPI_Sendrecv(large, LARGE, MPI_CHAR, right, TAG, into, LARGE, MPI_CHAR, left, TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
}
static void slow_pingpong(void)
{
    for (int i = 0; i < 100000000 && rank < 2; i++)
        if (rank == 0) {
            send_to(1, TAG, MPI_COMM_WORLD);
            receive_from(1, TAG, MPI_COMM_WORLD);
        } else {
            receive_from(0, TAG, MPI_COMM_WORLD);
            send_to(0, TAG, MPI_COMM_WORLD);
            usleep(100);
        }
    MPI_Barrier(MPI_COMM_WORLD);
}
static void slow_master(void)
{
    for (int i = 0; i < 100000000; i++)
        if (rank == 0) {
            MPI_Status status;
            int value;
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
            send_to(status.MPI_SOURCE, TAG, MPI_COMM_WORLD);
        } else {
            spin(0.005);
            send_to(0, TAG, MPI_COMM_WORLD);
            receive_from(0, TAG, MPI_COMM_WORLD);
        }
}
static void slow_uneven(void)
{
    for (int i = 0; i < 10000; i++) {
        spin(rank == 0 ? 0.2 : 0.001);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}
static void slow_tests(void)
{
    for (int i = 0; i < 100000; i++) {
        int value, done = 0;
        MPI_Request request;
        MPI_Irecv(&value, 1, MPI_INT, left, TAG, MPI_COMM_WORLD, &request);
        usleep(20000);
        send_to(right, TAG, MPI_COMM_WORLD);
        while (!done)
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
}
static void done(void)
{
    work();
    send_to(right, TAG, MPI_COMM_WORLD); /* of eager size: it completes */
    receive_from(left, TAG, MPI_COMM_WORLD);
}

static const struct {
    const char *name, *kind;
    void (*run)(void);
    int processes; /* at least */
    int threads;
} programs[] = {{"recv_ring", "cycle", recv_ring, 2},
                {"ssend_ring", "cycle", ssend_ring, 2},
                {"long_ring", "cycle", long_ring, 2},
                {"send_pairs", "cycle", send_pairs, 2},
                {"wait_ring", "cycle", wait_ring, 2},
                {"persistent_ring", "cycle", persistent_ring, 2},
                {"waitall_ring", "cycle", waitall_ring, 2},
                {"probe_ring", "cycle", probe_ring, 2},
                {"mprobe_ring", "cycle", mprobe_ring, 2},
                {"any_source", "cycle", any_source, 2},
                {"callback_ring", "cycle", callback_ring, 2},
                {"callback_of_one", "cycle", callback_of_one, 2},
                {"after_callback", "unmatched", after_callback, 3},
                {"waitany", "cycle", waitany, 2},
                {"sendrecv_wrong_way", "cycle", sendrecv_wrong_way, 3},
                {"sendrecv_wrong_tag", "cycle", sendrecv_wrong_tag, 2},
                {"ring_of_halves", "cycle", ring_of_halves, 4},
                {"across_groups", "cycle", across_groups, 2},
                {"pair_and_barrier", "cycle", pair_and_barrier, 3},
                {"barrier_skipped", "missing", barrier_skipped, 2},
                {"barrier_or_receive", "missing", barrier_or_receive, 2},
                {"allreduce_skipped", "missing", allreduce_skipped, 2},
                {"half_skipped", "missing", half_skipped, 4},
                {"ibarrier_skipped", "missing", ibarrier_skipped, 2},
                {"merge_skipped", "missing", merge_skipped, 4},
                {"fence_skipped", "missing", fence_skipped, 2},
                {"split_skipped", "missing", split_skipped, 2},
                {"idup_skipped", "missing", idup_skipped, 2},
                {"intercomm_skipped", "missing", intercomm_skipped, 4},
                {"allreduce_or_barrier", "mismatch", allreduce_or_barrier, 2},
                {"order_of_communicators", "mismatch", order_of_communicators, 2},
                {"reduce_or_alltoall", "mismatch", reduce_or_alltoall, 3},
                {"roots_differ", "mismatch", roots_differ, 2},
                {"wrong_tag", "unmatched", wrong_tag, 2},
                {"wrong_communicator", "unmatched", wrong_communicator, 2},
                {"wrong_source", "unmatched", wrong_source, 2},
                {"never_sent", "unmatched", never_sent, 2},
                {"never_received", "unmatched", never_received, 2},
                {"never_probed", "unmatched", never_probed, 2},
                {"irecv_never_sent", "unmatched", irecv_never_sent, 2},
                {"halo_without_one", "unmatched", halo_without_one, 3},
                {"not_told_to_stop", "unmatched", not_told_to_stop, 3},
                {"ring_left_early", "unmatched", ring_left_early, 3},
                {"one_of_many", "unmatched", one_of_many, 3},
                {"from_itself", "unmatched", from_itself, 2},
                {"one_receive_more", "unmatched", one_receive_more, 2},
                {"segv", "ended", segv, 2},
                {"aborts", "ended", aborts, 2},
                {"divides", "ended", divides, 2},
                {"exits", "ended", exits, 2},
                {"killed", "ended", killed, 2},
                {"first_killed", "ended", first_killed, 2},
                {"cpu_limit", "ended", cpu_limit, 2},
                {"leaves", "ended", leaves, 2},
                {"mpi_abort", "ended", mpi_abort, 2},
                {"truncates", "ended", truncates, 2},
                {"wrong_rank", "ended", wrong_rank, 2},
                {"handler_sleeps", "cycle", handler_sleeps, 2},
                {"segv_in_barrier_of_others", "ended", segv_in_barrier_of_others, 2},
                {"computes", "computing", computes, 2},
                {"sleeps", "computing", sleeps, 2},
                {"chain", "computing", chain, 3},
                {"tests", "polling", tests, 2},
                {"iprobes", "polling", iprobes, 2},
                {"all_test", "polling", all_test, 2},
                {"lock_and_barrier", "cycle", lock_and_barrier, 2},
                {"lock_cycle", "cycle", lock_cycle, 2},
                {"start_without_post", "missing", start_without_post, 2},
                {"create_group_skipped", "missing", create_group_skipped, 3},
                {"taken_by_mprobe", "unmatched", taken_by_mprobe, 2},
                {"taken_by_improbe", "cycle", taken_by_improbe, 2},
                {"both_wait_for_root", "mismatch", both_wait_for_root, 2},
                {"root_of_nobody", "mismatch", root_of_nobody, 2},
                {"roots_of_both", "mismatch", roots_of_both, 2},
                {"wrong_root_there", "mismatch", wrong_root_there, 4},
                {"neighbours_differ", "mismatch", neighbours_differ, 3},
                {"counts_differ", "null", counts_differ, 2},
                {"thread_receives", "missing", thread_receives, 2, 1},
                {"thread_in_barrier", "mismatch", thread_in_barrier, 2, 1},
                {"mutex_and_receive", "computing", mutex_and_receive, 2, 1},
                {"listener_computes", "computing", listener_computes, 2, 1},
                {"slow_listener", "null", slow_listener, 2, 1},
                {"slow_gets", "null", slow_gets, 2},
/* MPICH can be built so that it opens no port. */
#ifdef OPEN_MPI
                {"accepts", "unmatched", accepts, 2},
                {"connects", "unmatched", connects, 2},
#endif
                {"slow_locks", "null", slow_locks, 2},
                {"slow_block", "null", slow_block, 2},
                {"slow_steps", "null", slow_steps, 2},
                {"slow_exchange", "null", slow_exchange, 2},
                {"slow_pingpong", "null", slow_pingpong, 2},
                {"slow_master", "null", slow_master, 2},
                {"slow_uneven", "null", slow_uneven, 2},
                {"slow_tests", "null", slow_tests, 2},
                {"spawned", "unmatched", spawned, 2},
#if MPI_VERSION >= 4
                {"create_from_group_skipped", "missing", create_from_group_skipped, 3},
                {"start_skipped", "missing", start_skipped, 2},
                {"prepare_skipped", "missing", prepare_skipped, 2},
                {"start_and_wait", "cycle", start_and_wait, 2},
                {"ring_of_starts", "cycle", ring_of_starts, 2},
                {"slow_starts", "null", slow_starts, 2},
                {"part_forgotten", "unmatched", part_forgotten, 2},
                {"part_after_barrier", "unmatched", part_after_barrier, 2},
                {"part_tested", "polling", part_tested, 2},
                {"parts_not_started", "unmatched", parts_not_started, 2},
                {"slow_parts", "null", slow_parts, 2},
#endif
                {"done", "null", done, 2}};
enum { PROGRAMS = sizeof programs / sizeof *programs };

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--list") == 0) {
        for (int i = 0; i < PROGRAMS; i++)
            printf("%s %s %d\n", programs[i].name, programs[i].kind, programs[i].processes);
        return 0;
    }
    /* Only programs with threads ask for it, since it makes others slower. */
    int wanted = MPI_THREAD_SINGLE, provided;
    for (int i = 0; i < PROGRAMS; i++)
        if (argc > 1 && strcmp(argv[1], programs[i].name) == 0 && programs[i].threads)
            wanted = MPI_THREAD_MULTIPLE;
    MPI_Init_thread(&argc, &argv, wanted, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    last = size - 1;
    large = calloc(1, LARGE);
    own_name = argv[0];
    for (int i = 0; i < PROGRAMS; i++)
        if (argc > 1 && strcmp(argv[1], programs[i].name) == 0)
            programs[i].run();
    MPI_Finalize();
    return 0;
}
