/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs with one problem planted, or without: planted PATTERN RANK clean|bad. Work is sleeping, so that any number
   of processes shares two cores. Prints what the diagnosis must find: the ids of findings that are right as the first,
   and the process that causes it ("-": all in turn); and, if the program knows, how long it waits: "waited S". */
#include "planted.h"

#include <math.h>
#include <time.h>

enum { ROUNDS = 8, BASE_US = 20000, EXTRA_US = 80000 };

/* Everyone computes alike; the culprit, of bad runs, four times more. */
static void uneven_work(void)
{
    work(BASE_US + (bad && rank == culprit ? EXTRA_US : 0));
}

static double exchange;

static void allreduce(void)
{
    double mine = rank;
    MPI_Allreduce(&mine, &exchange, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void ring(void)
{
    double in, out = rank;
    MPI_Sendrecv(&out, 1, MPI_DOUBLE, (rank + 1) % size, 0, &in, 1, MPI_DOUBLE, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void at_barrier(int round)
{
    (void)round;
    uneven_work();
    MPI_Barrier(MPI_COMM_WORLD);
}

static void at_allreduce(int round)
{
    (void)round;
    uneven_work();
    allreduce();
}

/* Inner nodes of the MPI's tree wait as well as the root. */
static void at_reduce(int round)
{
    double mine = round, sum;
    uneven_work();
    MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void at_gather(int round)
{
    double mine = round, all[1024];
    uneven_work();
    MPI_Gather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

/* The root works after receiving from the others, which work before: both could be at the same time. */
static void early_reduce(int round)
{
    double mine = round, sum;
    work(bad && rank == culprit ? 0 : EXTRA_US);
    MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, culprit, MPI_COMM_WORLD);
    work(bad && rank == culprit ? EXTRA_US : 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Uneven in one round only. */
static void transient(int round)
{
    work(BASE_US + (bad && rank == culprit && round == ROUNDS / 2 ? 4 * EXTRA_US : 0));
    allreduce();
}

static void at_ring(int round)
{
    (void)round;
    uneven_work();
    ring();
}

static void at_halo(int round)
{
    (void)round;
    uneven_work();
    halo();
}

/* Even work; of bad runs the culprit is late before it comes to MPI_Init. */
static void at_allreduce_evenly(int round)
{
    (void)round;
    work(BASE_US);
    allreduce();
}

static void come_late(void)
{
    const char *launched_as = getenv("OMPI_COMM_WORLD_RANK");
    if (!launched_as)
        launched_as = getenv("PMI_RANK");
    if (bad && launched_as && atoi(launched_as) == culprit)
        work(10 * EXTRA_US);
}

/* In each round another process is late: the totals are even. */
static void turns(int round)
{
    work(BASE_US + (bad && round % size == rank ? EXTRA_US : bad ? 0 : EXTRA_US / size));
    allreduce();
}

/* The root works before it broadcasts, the others after it. */
static void broadcast(int round)
{
    (void)round;
    double value = 0;
    if (bad)
        work(rank == culprit ? EXTRA_US : 0);
    MPI_Bcast(&value, 1, MPI_DOUBLE, culprit, MPI_COMM_WORLD);
    work(bad && rank == culprit ? 0 : EXTRA_US);
    if (round % 4 == 3)
        MPI_Barrier(MPI_COMM_WORLD);
}

/* Sender and receiver take turns, where both could work at once. */
static void late_sender(int round)
{
    double value = round;
    int partner = rank ^ 1;
    if (partner >= size) {
        work(2 * EXTRA_US);
        return;
    }
    if (!bad) {
        work(EXTRA_US);
        MPI_Sendrecv_replace(&value, 1, MPI_DOUBLE, partner, 0, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    if (rank % 2 == 0) {
        work(EXTRA_US);
        MPI_Send(&value, 1, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&value, 1, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(EXTRA_US);
        MPI_Send(&value, 1, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD);
    }
}

/* Synchronous sends before the work, receives after it. */
static void late_receiver(int round)
{
    double value = round;
    int partner = rank ^ 1;
    if (partner >= size) {
        work(bad ? 2 * EXTRA_US : EXTRA_US);
        return;
    }
    if (rank % 2 == 0) {
        if (!bad)
            work(EXTRA_US);
        MPI_Ssend(&value, 1, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD);
        if (bad)
            work(EXTRA_US);
        MPI_Recv(&value, 1, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        work(EXTRA_US);
        MPI_Recv(&value, 1, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&value, 1, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD);
    }
}

/* One clock for all processes of a machine, which MPI_Wtime need not be. */
static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double waited_s; /* what the program itself knows of its waiting */

/* The same in turns with sends and receives that complete in MPI_Wait: it waits until the receive is posted, and gets
   the time of that. */
static void late_post(int round)
{
    double value = round, begin_s, end_s;
    MPI_Request request;
    int partner = rank ^ 1;
    if (partner >= size) {
        work(bad ? 2 * EXTRA_US : EXTRA_US);
        return;
    }
    if (rank % 2 == 0) {
        if (!bad)
            work(EXTRA_US);
        MPI_Send(&value, 1, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD);
        MPI_Issend(&value, 1, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD, &request);
        begin_s = now_s();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        end_s = now_s();
        if (bad)
            work(EXTRA_US);
        MPI_Recv(&value, 1, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        end_s = value < end_s ? value : end_s;
        waited_s += end_s > begin_s ? end_s - begin_s : 0;
    } else {
        if (!bad)
            work(EXTRA_US);
        MPI_Recv(&value, 1, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (bad)
            work(EXTRA_US);
        begin_s = now_s();
        MPI_Irecv(&value, 1, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Send(&begin_s, 1, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD);
    }
}

static MPI_File together = MPI_FILE_NULL;

static void open_together(int round)
{
    if (round == 0)
        MPI_File_open(MPI_COMM_WORLD, "planted.dat", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &together);
}

static void close_together(int round)
{
    if (round < ROUNDS - 1)
        return;
    MPI_File_close(&together);
    if (rank == 0)
        unlink("planted.dat");
}

/* In a call from begin_s to end_s each waited until the last came, at last_s. */
static void count_waiting(double last_s, double begin_s, double end_s)
{
    double latest_s;
    MPI_Allreduce(&last_s, &latest_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    waited_s += fmax(0, fmin(latest_s, end_s) - begin_s);
}

/* All write to one file; how long each waits for the last to arrive is known once all report their arrival. */
static void write_together(int round)
{
    double mine = rank;
    open_together(round);
    uneven_work();
    double begin_s = now_s();
    MPI_File_write_at_all(together, rank * (MPI_Offset)sizeof mine, &mine, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    count_waiting(begin_s, begin_s, now_s());
    close_together(round);
}

/* The same without blocking: they wait when they complete it. */
static void write_later(int round)
{
    double mine = rank;
    MPI_Request request;
    open_together(round);
    uneven_work();
    double posted_s = now_s();
    MPI_File_iwrite_at_all(together, rank * (MPI_Offset)sizeof mine, &mine, 1, MPI_DOUBLE, &request);
    double begin_s = now_s();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    count_waiting(posted_s, begin_s, now_s());
    close_together(round);
}

/* And in two halves. */
static void write_split(int round)
{
    double mine = rank;
    open_together(round);
    uneven_work();
    double begin_s = now_s();
    MPI_File_write_at_all_begin(together, rank * (MPI_Offset)sizeof mine, &mine, 1, MPI_DOUBLE);
    MPI_File_write_at_all_end(together, &mine, MPI_STATUS_IGNORE);
    count_waiting(begin_s, begin_s, now_s());
    close_together(round);
}

/* Many barriers though no process is late: with fewer processes each costs less. */
static void synchronising(int round)
{
    int barriers = 100 + 30000 / (size * size);
    (void)round;
    work(BASE_US / 4);
    for (int i = 0; bad && i < barriers; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    allreduce();
}

/* One has nothing to do. */
static void idle(int round)
{
    (void)round;
    work(bad && rank == culprit ? 0 : BASE_US + EXTRA_US);
    allreduce();
}

/* The work continues during the collective, and a late process keeps the others waiting where they complete it. */
static void nonblocking(int round)
{
    (void)round;
    double mine = rank, sum;
    MPI_Request request;
    uneven_work();
    MPI_Iallreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

#if MPI_VERSION >= 4
static MPI_Request prepared = MPI_REQUEST_NULL;

static void persistent(int round)
{
    if (round == 0)
        MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &prepared);
    uneven_work();
    MPI_Start(&prepared);
    MPI_Wait(&prepared, MPI_STATUS_IGNORE);
    if (round == ROUNDS - 1)
        MPI_Request_free(&prepared);
}
#endif

/* Each waits for the last of the lower ranks: the culprit must not be the last rank. */
static void scan(int round)
{
    (void)round;
    double mine = rank, sum;
    uneven_work();
    MPI_Scan(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (round % 4 == 3)
        MPI_Barrier(MPI_COMM_WORLD);
}

/* Each waits for its two neighbours, and only later for the process that made those late. */
static void neighbours(int round)
{
    static MPI_Comm ring_comm = MPI_COMM_NULL;
    int periodic = 1, in[2], out[2] = {round, round};
    if (round == 0)
        MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring_comm);
    uneven_work();
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring_comm);
    if (round == ROUNDS - 1)
        MPI_Comm_free(&ring_comm);
}

/* Two groups of processes: each waits for the other group. */
static void inter(int round)
{
    static MPI_Comm half, both = MPI_COMM_NULL;
    double mine = rank, sum;
    int upper = rank >= size / 2;
    if (round == 0) {
        MPI_Comm_split(MPI_COMM_WORLD, upper, rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : size / 2, 0, &both);
    }
    uneven_work();
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, both);
    if (round == ROUNDS - 1) {
        MPI_Comm_free(&both);
        MPI_Comm_free(&half);
    }
}

/* All have the same to do, and process 0 takes results as they come. */
static void right_order(void)
{
    double value = rank;
    work(EXTRA_US);
    if (rank > 0)
        MPI_Send(&value, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    for (int i = 1; rank == 0 && i < size; i++)
        MPI_Recv(&value, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Process 0 collects results and works on each: that of the slow process 1 first, while others have theirs. */
static void wrong_order(int round)
{
    (void)round;
    double value = rank;
    if (!bad) {
        right_order();
        return;
    }
    if (rank > 0) {
        work(rank == 1 ? EXTRA_US : 0);
        MPI_Send(&value, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        work(rank == 1 ? 0 : EXTRA_US);
    }
    for (int from = 1; rank == 0 && from < size; from++) {
        MPI_Recv(&value, 1, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(EXTRA_US / size);
    }
    MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

/* Process 0 prepares a piece of work for each of the others, which work on it as long as it takes to prepare all: bad
   runs ask for a piece when they need it, and queue; clean ones ask for the next before they work on this. */
static void contention(int round)
{
    const int own = EXTRA_US / size * (size - 1);
    double piece = round;
    for (int i = 1; rank == 0 && i < size; i++) {
        MPI_Status status;
        MPI_Recv(&piece, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
        work(EXTRA_US / size);
        MPI_Send(&piece, 1, MPI_DOUBLE, status.MPI_SOURCE, 0, MPI_COMM_WORLD);
    }
    if (rank > 0) {
        MPI_Send(&piece, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        work(bad ? 0 : own);
        MPI_Recv(&piece, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(bad ? own : 0);
    }
    allreduce();
}

/* One-sided communication: window, memory of it, and the groups of the culprit and of all others. */
static MPI_Win window;
static double exposed[64];
static MPI_Group of_culprit, of_others;

static void make_window(void)
{
    MPI_Group all;
    MPI_Win_create(exposed, sizeof exposed, sizeof *exposed, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &culprit, &of_culprit);
    MPI_Group_excl(all, 1, &culprit, &of_others);
    MPI_Group_free(&all);
}

static void free_window(int round)
{
    if (round < ROUNDS - 1)
        return;
    MPI_Group_free(&of_culprit);
    MPI_Group_free(&of_others);
    MPI_Win_free(&window);
}

static void put(int target)
{
    MPI_Put(&exchange, 1, MPI_DOUBLE, target, rank % 64, 1, MPI_DOUBLE, window);
}

static void at_fence(int round)
{
    if (round == 0) {
        make_window();
        MPI_Win_fence(0, window);
    }
    uneven_work();
    put((rank + 1) % size);
    MPI_Win_fence(0, window);
    free_window(round);
}

/* The others put into the culprit's window, which that works before it exposes. */
static void late_exposure(int round)
{
    if (round == 0)
        make_window();
    work(!bad || rank == culprit ? EXTRA_US : 0);
    if (rank == culprit) {
        MPI_Win_post(of_others, 0, window);
        MPI_Win_wait(window);
    } else {
        MPI_Win_start(of_culprit, 0, window);
        put(culprit);
        MPI_Win_complete(window);
        work(bad ? EXTRA_US : 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    free_window(round);
}

/* The culprit puts into the others' windows, with work before it puts and before it reports that it has. */
static void access_others(int round, int before_put, int before_complete)
{
    if (round == 0)
        make_window();
    if (rank == culprit) {
        MPI_Win_start(of_others, 0, window);
        work(before_put);
        for (int i = 0; i < size; i++)
            if (i != culprit)
                put(i);
        work(before_complete);
        MPI_Win_complete(window);
        work(bad ? 0 : EXTRA_US);
    } else {
        MPI_Win_post(of_culprit, 0, window);
        MPI_Win_wait(window);
        work(EXTRA_US);
    }
    free_window(round);
}

static void early_wait(int round)
{
    access_others(round, bad ? EXTRA_US : 0, 0);
}

static void late_complete(int round)
{
    access_others(round, 0, bad ? EXTRA_US : 0);
}

/* All lock the culprit's window, and work while they have it. */
static void locked(int round)
{
    if (round == 0)
        make_window();
    work(bad ? 0 : BASE_US);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, culprit, 0, window);
    put(culprit);
    work(bad ? BASE_US : 0);
    MPI_Win_unlock(culprit, window);
    free_window(round);
}

static const struct pattern patterns[] = {
    {"barrier", "compute-imbalance,wait-at-barrier", 1, at_barrier},
    {"allreduce", "compute-imbalance,wait-at-nxn", 1, at_allreduce},
    {"ring", "compute-imbalance,late-sender", 1, at_ring},
    {"halo", "compute-imbalance,late-sender", 1, at_halo},
    {"reduce", "compute-imbalance,early-reduce", 1, at_reduce},
    {"gather", "compute-imbalance,early-reduce", 1, at_gather},
    {"early-reduce", "early-reduce,wait-at-barrier,serialisation", 0, early_reduce},
    {"transient", "compute-imbalance,dynamic-imbalance,wait-at-nxn", 1, transient},
    {"late-start", "late-start", 1, at_allreduce_evenly},
    {"turns", "dynamic-imbalance,wait-at-nxn,serialisation", 0, turns},
    {"synchronising", "excessive-synchronisation,transfer", 0, synchronising},
    {"idle", "idle-process,compute-imbalance", 1, idle},
    {"broadcast", "late-broadcast,serialisation", 1, broadcast},
    {"late-sender", "late-sender,serialisation", 0, late_sender},
    {"late-receiver", "late-receiver,late-sender,serialisation", 0, late_receiver},
    {"late-post", "late-receiver,late-sender,serialisation", 0, late_post},
    {"write-together", "compute-imbalance,wait-at-io", 1, write_together},
    {"write-later", "compute-imbalance,wait-at-io", 1, write_later},
    {"write-split", "compute-imbalance,wait-at-io", 1, write_split},
    {"nonblocking", "compute-imbalance,wait-at-nxn", 1, nonblocking},
#if MPI_VERSION >= 4
    {"persistent", "compute-imbalance,wait-at-barrier", 1, persistent},
#endif
    {"scan", "compute-imbalance,early-scan", 1, scan},
    {"neighbours", "compute-imbalance,wait-at-nxn", 1, neighbours},
    {"inter", "compute-imbalance,wait-at-nxn", 1, inter},
    {"window-fence", "compute-imbalance,wait-at-fence", 1, at_fence},
    {"window-late-post", "late-post,serialisation", 1, late_exposure},
    {"window-early-wait", "early-wait,late-post,serialisation", 1, early_wait},
    {"window-late-complete", "late-complete,late-post,serialisation", 1, late_complete},
    {"window-lock", "lock-contention,serialisation", 0, locked},
    {"wrong-order", "wrong-order,late-sender,serialisation", 0, wrong_order},
    {"contention", "contention", 0, contention},
};

int main(int argc, char **argv)
{
    const struct pattern *pattern = pattern_find(patterns, sizeof patterns / sizeof *patterns, argc, argv);
    if (!pattern)
        return 2;
    if (pattern->round == at_allreduce_evenly)
        come_late();
    pattern_begin(pattern, &argc, &argv);
    for (int round = 0; round < ROUNDS; round++)
        pattern->round(round);
    double waited = 0;
    MPI_Allreduce(&waited_s, &waited, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && waited > 0)
        printf("waited %.6f\n", waited);
    MPI_Finalize();
    return 0;
}
