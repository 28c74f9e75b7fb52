/* SPDX-License-Identifier: BSD-3-Clause */
/* More programs with one problem planted, or without: planted_traffic PATTERN RANK clean|bad. These are about how
   processes talk: receivers that hold senders back, polling, many small messages, synchronisation in a rhythm of its
   own, and two problems at once. Work is sleeping. Prints the ids of findings that are right as the first, and the
   process that causes it ("-": none alone); then "took S": seconds, of bad and clean runs, that differ by what the
   problem costs. */
#include "planted.h"

/* A number below `limit` that is the same for all processes with the same place and turn. */
static int drawn(int place, int turn, int limit)
{
    unsigned mixed = (unsigned)(place * 7919 + turn * 104729 + 12345);
    mixed = (mixed ^ mixed >> 13) * 0x5bd1e995u;
    mixed = (mixed ^ mixed >> 15) * 0x27d4eb2du;
    return (int)((mixed ^ mixed >> 16) % (unsigned)limit);
}

enum { SMALL = 400, ITEMS = 300, FAST_US = 1000, SLOW_US = 5000 };

/* Items go from process to process; the culprit takes five times as long for each, and those before it are held back
   when the MPI library has no more room for what it has not taken. */
static void stage(void)
{
    char item[SMALL] = {0};
    for (int i = 0; i < ITEMS; i++) {
        if (rank > 0)
            MPI_Recv(item, SMALL, MPI_BYTE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(bad && rank == culprit ? SLOW_US : FAST_US);
        if (rank < size - 1)
            MPI_Send(item, SMALL, MPI_BYTE, rank + 1, 0, MPI_COMM_WORLD);
    }
}

/* All others send to the culprit, which is slow to take; if not, it works as long as they do. */
static void consumer(void)
{
    char item[SMALL] = {0};
    for (int i = 0; i < ITEMS; i++) {
        if (rank != culprit) {
            work(FAST_US * (size - 1));
            MPI_Send(item, SMALL, MPI_BYTE, culprit, 0, MPI_COMM_WORLD);
        }
        for (int k = 0; rank == culprit && k < size - 1; k++) {
            MPI_Recv(item, SMALL, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            work(bad ? 3 * FAST_US : FAST_US);
        }
    }
}

static void consumer_later(void)
{
    char item[SMALL] = {0};
    MPI_Request request;
    for (int i = 0; i < ITEMS; i++) {
        if (rank != culprit) {
            MPI_Isend(item, SMALL, MPI_BYTE, culprit, 0, MPI_COMM_WORLD, &request);
            work(FAST_US * (size - 1));
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        for (int k = 0; rank == culprit && k < size - 1; k++) {
            MPI_Recv(item, SMALL, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            work(bad ? 3 * FAST_US : FAST_US);
        }
    }
}

enum { ITERATIONS = 60, ITERATION_US = 10000 };

/* The work of an iteration is drawn anew, but all have alike in total, nearly; and all wait for all now and then only.
 */
static void sparse_random(void)
{
    double mine = rank, sum;
    for (int i = 0; i < ITERATIONS; i++) {
        work(bad ? ITERATION_US / 2 + drawn(rank, i, ITERATION_US) : ITERATION_US);
        halo();
        if (i % 10 == 9)
            MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* The processes take turns with most of the work. */
static void sparse_rotating(void)
{
    for (int i = 0; i < ITERATIONS; i++) {
        work(!bad ? ITERATION_US : i % size == rank ? 2 * ITERATION_US : ITERATION_US / 2);
        halo();
        if (i % 5 == 4)
            MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void sparse_ring(void)
{
    double mine = rank, sum;
    for (int i = 0; i < ITERATIONS; i++) {
        work(bad ? ITERATION_US / 2 + drawn(rank, i, ITERATION_US) : ITERATION_US);
        MPI_Sendrecv(&mine, 1, MPI_DOUBLE, (rank + 1) % size, 0, &sum, 1, MPI_DOUBLE, (rank + size - 1) % size, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (i % 7 == 6)
            MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* Polling: the culprit sends late to all others, which repeatedly look for its message. */

enum { POLLED = 20, LATE_US = 20000, PAUSE_US = 500 };

static void send_late(void)
{
    double value = rank;
    work(bad ? LATE_US : LATE_US / 2);
    for (int i = 0; i < size; i++)
        if (i != culprit)
            MPI_Send(&value, 1, MPI_DOUBLE, i, 0, MPI_COMM_WORLD);
    work(bad ? 0 : LATE_US / 2);
}

static void probe_for(int pause_us)
{
    double value;
    for (int i = 0; i < POLLED; i++) {
        if (rank == culprit) {
            send_late();
            continue;
        }
        work(bad ? 0 : LATE_US / 2);
        for (int found = 0; !found; work(found ? 0 : pause_us))
            MPI_Iprobe(culprit, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        MPI_Recv(&value, 1, MPI_DOUBLE, culprit, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(bad ? LATE_US / 4 : LATE_US / 2);
    }
}

static void probe_spinning(void)
{
    probe_for(0);
}

static void probe_sleeping(void)
{
    probe_for(PAUSE_US);
}

static void test_for(int how)
{
    double value[2];
    for (int i = 0; i < POLLED; i++) {
        MPI_Request request[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        if (rank == culprit) {
            send_late();
            continue;
        }
        MPI_Irecv(&value[0], 1, MPI_DOUBLE, culprit, 0, MPI_COMM_WORLD, &request[0]);
        work(bad ? 0 : LATE_US / 2);
        for (int done = 0, index; !done; work(done ? 0 : PAUSE_US)) {
            if (how == 0)
                MPI_Test(&request[0], &done, MPI_STATUS_IGNORE);
            else if (how == 1)
                MPI_Testall(2, request, &done, MPI_STATUSES_IGNORE);
            else
                MPI_Testany(2, request, &index, &done, MPI_STATUS_IGNORE);
        }
        work(bad ? LATE_US / 4 : LATE_US / 2);
    }
}

static void test_one(void)
{
    test_for(0);
}

static void test_all(void)
{
    test_for(1);
}

static void test_any(void)
{
    test_for(2);
}

/* Work in pieces, with a look at the message between them that lets MPI progress: that is not waiting. */
static void test_meanwhile(void)
{
    double value = rank, got;
    for (int i = 0; i < POLLED; i++) {
        MPI_Request request;
        int done = 0;
        MPI_Irecv(&got, 1, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &request);
        work(LATE_US / 8);
        MPI_Send(&value, 1, MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD);
        for (int piece = 0; piece < 8; piece++) {
            work(LATE_US / 8);
            if (!done)
                MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* Process 0 needs the parts of all, and has asked for all: no order of it is wrong. */
static void gather_all(void)
{
    double part[64], mine = rank;
    MPI_Request request[64];
    for (int i = 0; i < POLLED; i++) {
        work(bad && rank == culprit ? LATE_US : LATE_US / 4);
        if (rank > 0)
            MPI_Send(&mine, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        for (int k = 1; rank == 0 && k < size; k++)
            MPI_Irecv(&part[k], 1, MPI_DOUBLE, k, 0, MPI_COMM_WORLD, &request[k - 1]);
        if (rank == 0)
            MPI_Waitall(size - 1, request, MPI_STATUSES_IGNORE);
        MPI_Bcast(&mine, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
}

static void halo_uneven(void)
{
    for (int i = 0; i < POLLED; i++) {
        work(bad && rank == culprit ? LATE_US : LATE_US / 4);
        halo();
    }
}

enum { MESSAGES = 400, ROUNDS = 5 };

/* One value a message, where one message would do. */
static void small_exchanges(void)
{
    int mine[MESSAGES] = {0}, other[MESSAGES], partner = rank ^ 1;
    for (int round = 0; round < ROUNDS; round++) {
        work(FAST_US);
        if (partner >= size)
            continue;
        for (int i = 0; bad && i < MESSAGES; i++)
            MPI_Sendrecv(&mine[i], 1, MPI_INT, partner, 0, &other[i], 1, MPI_INT, partner, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        if (!bad)
            MPI_Sendrecv(mine, MESSAGES, MPI_INT, partner, 0, other, MESSAGES, MPI_INT, partner, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    }
}

static void small_later(void)
{
    int mine[MESSAGES] = {0}, other[MESSAGES], partner = rank ^ 1, count = bad ? MESSAGES : 1;
    for (int round = 0; round < ROUNDS; round++) {
        work(FAST_US);
        for (int i = 0; partner < size && i < count; i++) {
            MPI_Request request[2];
            MPI_Irecv(&other[i], MESSAGES / count, MPI_INT, partner, 0, MPI_COMM_WORLD, &request[0]);
            MPI_Isend(&mine[i], MESSAGES / count, MPI_INT, partner, 0, MPI_COMM_WORLD, &request[1]);
            MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        }
    }
}

/* One computes longer than all others; and even ones wait in a synchronous send for odd ones, which have something to
   do before they receive. */
static void two_problems(void)
{
    double value = rank;
    int partner = rank ^ 1;
    for (int i = 0; i < POLLED; i++) {
        work(LATE_US / 2 + (bad && rank == culprit ? LATE_US / 2 : 0));
        MPI_Barrier(MPI_COMM_WORLD);
        if (partner < size && rank % 2 == 0) {
            work(bad ? 0 : LATE_US / 2);
            MPI_Ssend(&value, 1, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD);
            work(bad ? LATE_US / 2 : 0);
        } else if (partner < size) {
            work(LATE_US / 2);
            MPI_Recv(&value, 1, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void two_problems_rooted(void)
{
    double value = rank;
    for (int i = 0; i < POLLED; i++) {
        work(LATE_US / 2 + (bad && rank == culprit ? LATE_US / 2 : 0));
        MPI_Barrier(MPI_COMM_WORLD);
        work(bad && rank == 0 ? LATE_US / 2 : 0);
        MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        work(bad && rank == 0 ? 0 : LATE_US / 2);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* The culprit has something to do before it sends to all others, although that could be done meanwhile. */
static void root_is_late(void)
{
    double value = rank;
    for (int i = 0; i < POLLED; i++) {
        work(bad && rank == culprit ? LATE_US : 0);
        MPI_Bcast(&value, 1, MPI_DOUBLE, culprit, MPI_COMM_WORLD);
        work(bad && rank == culprit ? 0 : LATE_US);
    }
}

static void scattering_is_late(void)
{
    double part, all[64] = {0};
    for (int i = 0; i < POLLED; i++) {
        work(bad && rank == culprit ? LATE_US : 0);
        MPI_Scatter(all, 1, MPI_DOUBLE, &part, 1, MPI_DOUBLE, culprit, MPI_COMM_WORLD);
        work(bad && rank == culprit ? 0 : LATE_US);
    }
}

static const struct pattern patterns[] = {
    {"stage", "compute-imbalance,late-receiver", 1, .run = stage},
    {"consumer", "compute-imbalance,late-receiver", 1, .run = consumer},
    {"consumer-later", "compute-imbalance,late-receiver", 1, .run = consumer_later},
    {"sparse-random", "dynamic-imbalance", 0, .run = sparse_random},
    {"sparse-rotating", "dynamic-imbalance", 0, .run = sparse_rotating},
    {"sparse-ring", "dynamic-imbalance", 0, .run = sparse_ring},
    {"probe-spinning", "late-sender,compute-imbalance", 1, .run = probe_spinning},
    {"probe-sleeping", "late-sender,compute-imbalance", 1, .run = probe_sleeping},
    {"test-one", "late-sender,compute-imbalance", 1, .run = test_one},
    {"test-all", "late-sender,compute-imbalance", 1, .run = test_all},
    {"test-any", "late-sender,compute-imbalance", 1, .run = test_any},
    {"test-meanwhile", "", 0, .run = test_meanwhile},
    {"gather-all", "compute-imbalance,late-sender", 1, .run = gather_all},
    {"halo-uneven", "compute-imbalance,late-sender", 1, .run = halo_uneven},
    {"small-exchanges", "small-messages,transfer", 0, .run = small_exchanges},
    {"small-later", "small-messages,transfer", 0, .run = small_later},
    {"two-problems", "compute-imbalance,late-receiver", 0, .run = two_problems},
    {"two-problems-rooted", "compute-imbalance,late-broadcast", 0, .run = two_problems_rooted},
    {"late-root", "late-broadcast,serialisation", 1, .run = root_is_late},
    {"late-scatter", "late-broadcast,serialisation", 1, .run = scattering_is_late},
};

int main(int argc, char **argv)
{
    const struct pattern *pattern = pattern_find(patterns, sizeof patterns / sizeof *patterns, argc, argv);
    if (!pattern)
        return 2;
    pattern_begin(pattern, &argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin_s = MPI_Wtime();
    pattern->run();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("took %.6f\n", MPI_Wtime() - begin_s);
    MPI_Finalize();
    return 0;
}
