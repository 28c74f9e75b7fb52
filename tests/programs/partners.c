/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbourhood collectives and collectives of two groups, in which one process after the other is late. Every process
   notes when it enters and leaves its calls, and which process it waits for in them by the rules; process 0 prints
   KIND,RANK,NS with the total wait of each process. A recording of it must say the same. Even numbers of processes, up
   to 32. */
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 4, LATE_US = 30000, STEPS = 64, PROCESSES = 32 };
enum kind { AT_NXN, AT_BARRIER, BROADCAST, REDUCE, KINDS };

/* One collective of this process. */
struct step {
    int64_t enter_ns;              /* of the call that posts it, or of the only one */
    int64_t wait_ns, leave_ns;     /* enter and leave of the call that waits */
    uint64_t others;               /* bit i: it waits for process i */
    int32_t kind, until_the_first; /* not for the last, but for the first one */
    uint64_t perhaps;              /* bit i: for process i as well, if it leaves after that has entered */
};

static struct step steps[PROCESSES][STEPS];
static int rank, size, count;
static int in[4 * PROCESSES], out[4 * PROCESSES];

static int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* The next collective begins; another process than before is late for it. */
static struct step *begin(enum kind kind, uint64_t others)
{
    struct step *step = &steps[rank][count];
    if ((count * 3 + count / 4) % size == rank)
        usleep(LATE_US);
    *step = (struct step){.others = others & ~(UINT64_C(1) << rank), .kind = kind};
    step->enter_ns = step->wait_ns = now_ns();
    return step;
}

static void end(struct step *step)
{
    step->leave_ns = now_ns();
    count++;
}

static uint64_t process(int other)
{
    return UINT64_C(1) << (other + size) % size;
}

static void on_ring(void)
{
    MPI_Comm ring;
    int periodic = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    for (int i = 0; i < ROUNDS; i++) {
        struct step *step = begin(AT_NXN, process(rank - 1) | process(rank + 1));
        MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring);
        end(step);
    }
    MPI_Comm_free(&ring);
}

/* Two columns, with borders. */
static void on_grid(void)
{
    MPI_Comm grid, copy;
    int dims[2] = {size / 2, 2}, periodic[2] = {0, 0};
    uint64_t others = process(rank ^ 1);
    if (rank >= 2)
        others |= process(rank - 2);
    if (rank < size - 2)
        others |= process(rank + 2);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 0, &grid);
    MPI_Comm_dup(grid, &copy);
    for (int i = 0; i < ROUNDS; i++) {
        struct step *step = begin(AT_NXN, others);
        MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, i % 2 ? copy : grid);
        end(step);
    }
    MPI_Comm_free(&copy);
    MPI_Comm_free(&grid);
}

#if MPI_VERSION >= 4
/* Starts a prepared collective, and completes it later. */
static void start_and_wait(enum kind kind, uint64_t others, uint64_t perhaps, MPI_Request *request)
{
    struct step *step = begin(kind, others);
    step->perhaps = perhaps;
    MPI_Start(request);
    usleep(1000);
    step->wait_ns = now_ns();
    MPI_Wait(request, MPI_STATUS_IGNORE);
    end(step);
}
#endif

/* Each gets from the process before it only. */
static void one_way(void)
{
    MPI_Comm line;
    MPI_Request request;
    int before = (rank + size - 1) % size, next = (rank + 1) % size, weight = 1, one = 1, place = 0;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, &weight, 1, &next, &weight, MPI_INFO_NULL, 0, &line);
    for (int i = 0; i < ROUNDS; i++) {
        struct step *step = begin(AT_NXN, process(rank - 1));
        MPI_Neighbor_alltoallv(out, &one, &place, MPI_INT, in, &one, &place, MPI_INT, line);
        end(step);
        step = begin(AT_NXN, process(rank - 1));
        MPI_Ineighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, line, &request);
        usleep(1000);
        step->wait_ns = now_ns();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        end(step);
    }
#if MPI_VERSION >= 4
    MPI_Neighbor_alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, line, MPI_INFO_NULL, &request);
    for (int i = 0; i < ROUNDS; i++)
        start_and_wait(AT_NXN, process(rank - 1), 0, &request);
    MPI_Request_free(&request);
#endif
    MPI_Comm_free(&line);
}

/* `root` is a process of the world; what its own group must say is MPI_ROOT and MPI_PROC_NULL. */
static int root_for(int root, int upper)
{
    if (upper == (root >= size / 2))
        return rank == root ? MPI_ROOT : MPI_PROC_NULL;
    return root % (size / 2);
}

static void two_groups(void)
{
    MPI_Comm half, inter;
    int upper = rank >= size / 2;
    uint64_t lower_half = (UINT64_C(1) << size / 2) - 1, others = upper ? lower_half : lower_half << size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, upper, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : size / 2, 1, &inter);
    for (int i = 0; i < ROUNDS; i++) {
        int root = i % 2 ? size - 1 : 0, mine = root_for(root, upper);
        struct step *step = begin(AT_NXN, others);
        step->perhaps = lower_half << size / 2 | lower_half; /* libraries collect in each group first */
        MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, inter);
        end(step);
        step = begin(AT_BARRIER, others);
        step->perhaps = lower_half << size / 2 | lower_half;
        MPI_Barrier(inter);
        end(step);
        step = begin(BROADCAST, mine >= 0 ? process(root) : 0);
        MPI_Bcast(out, 1, MPI_INT, mine, inter);
        end(step);
        step = begin(REDUCE, mine == MPI_ROOT ? others : 0);
        step->until_the_first = 1;
        MPI_Reduce(out, in, 1, MPI_INT, MPI_SUM, mine, inter);
        end(step);
    }
#if MPI_VERSION >= 4
    MPI_Request request;
    MPI_Barrier_init(inter, MPI_INFO_NULL, &request);
    for (int i = 0; i < ROUNDS; i++)
        start_and_wait(AT_BARRIER, others, lower_half << size / 2 | lower_half, &request);
    MPI_Request_free(&request);
#endif
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* When the last of some processes enters. */
static int64_t last_of(uint64_t others, int index)
{
    int64_t last_ns = INT64_MIN;
    for (int other = 0; other < size; other++)
        if ((others >> other & 1) && steps[other][index].enter_ns > last_ns)
            last_ns = steps[other][index].enter_ns;
    return last_ns;
}

static int64_t waited(int process, int index)
{
    const struct step *step = &steps[process][index];
    int64_t all_ns = last_of(step->others | step->perhaps, index);
    int64_t until_ns = step->until_the_first ? INT64_MAX : INT64_MIN;
    for (int other = 0; other < size; other++) {
        int64_t enter_ns = steps[other][index].enter_ns;
        if ((step->others >> other & 1) && (enter_ns > until_ns) != step->until_the_first)
            until_ns = enter_ns;
    }
    if (step->others == 0)
        return 0;
    if (step->perhaps && step->leave_ns >= all_ns)
        until_ns = all_ns;
    until_ns = until_ns < step->leave_ns ? until_ns : step->leave_ns;
    return until_ns > step->wait_ns ? until_ns - step->wait_ns : 0;
}

/* By messages: their waits are of another kind. */
static void print(void)
{
    static const char *const names[KINDS] = {"wait-at-nxn", "wait-at-barrier", "late-broadcast", "early-reduce"};
    if (rank > 0)
        MPI_Send(steps[rank], sizeof steps[rank], MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    for (int other = 1; rank == 0 && other < size; other++)
        MPI_Recv(steps[other], sizeof steps[other], MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int kind = 0; rank == 0 && kind < KINDS; kind++)
        for (int other = 0; other < size; other++) {
            int64_t ns = 0;
            for (int i = 0; i < count; i++)
                ns += steps[other][i].kind == kind ? waited(other, i) : 0;
            printf("%s,%d,%lld\n", names[kind], other, (long long)ns);
        }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size % 2 || size > PROCESSES)
        MPI_Abort(MPI_COMM_WORLD, 2);
    on_ring();
    on_grid();
    one_way();
    two_groups();
    print();
    MPI_Finalize();
    return 0;
}
