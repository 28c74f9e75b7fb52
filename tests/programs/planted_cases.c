/* SPDX-License-Identifier: BSD-3-Clause */
/* planted_cases CASE [TIMES]: programs with one problem, or with what looks like it and is none. Work is CPU time; work
   and sleep take TIMES as long (1). */
#include <mpi.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, size;
static char *program, *times_text = "1";
static unsigned times = 1;
static volatile unsigned long sink;

static void compute(double s)
{
    struct timespec now;
    double until = -1, at = 0;
    while (until < 0 || at < until) {
        for (int i = 0; i < 2000; i++)
            sink = sink * 31 + (unsigned long)i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        at = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
        if (until < 0)
            until = at + s * times;
    }
}

static void rest(unsigned us)
{
    usleep(us * times);
}

static void receive(int from)
{
    int value;
    MPI_Recv(&value, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send(int to)
{
    MPI_Send(&rank, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
}

/* Looks for the message of process 0, and in between sleeps, or has work of its own. */
static void look(void (*between)(void))
{
    int there = 0;
    for (;;) {
        MPI_Iprobe(0, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        if (there)
            break;
        between();
    }
    receive(0);
}

static void nap(void)
{
    rest(8000);
}

static void compute_a_while(void)
{
    compute(0.008);
}

static void looking(void (*between)(void))
{
    for (int round = 0; round < 8; round++) {
        if (rank == 0) {
            compute(0.04);
            for (int to = 1; to < size; to++)
                send(to);
        } else {
            look(between);
            compute(0.005);
        }
    }
}

static void naps(void)
{
    looking(nap);
}

static void looks(void)
{
    looking(compute_a_while);
}

/* Each process works when it has what the one before it has made. */
static void hand_on(bool one_at_a_time)
{
    double data[50] = {0};
    for (int round = 0; round < 12; round++) {
        if (rank > 0)
            MPI_Recv(data, 50, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        compute(0.01);
        if (rank < size - 1)
            MPI_Send(data, 50, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD);
        if (one_at_a_time)
            MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void chain(void)
{
    hand_on(true);
}

static void pipeline(void)
{
    hand_on(false);
}

/* Two processes more, which take long before they come to MPI_Init: see main. */
static void spawn(void)
{
    char *arguments[] = {"spawned", times_text, NULL};
    MPI_Comm children;
    int value;
    compute(0.03);
    MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    if (rank == 0)
        for (int from = 0; from < 2; from++)
            MPI_Recv(&value, 1, MPI_INT, from, 0, children, MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&children);
}

static void spawned(void)
{
    MPI_Comm parents;
    MPI_Comm_get_parent(&parents);
    compute(0.03);
    MPI_Send(&rank, 1, MPI_INT, 0, 0, parents);
    MPI_Comm_disconnect(&parents);
}

/* The others read what process 0 has, which is in MPI all the time, or computes. */
static void read_window(bool computes)
{
    double *data, value;
    MPI_Win window;
    MPI_Win_allocate(sizeof *data, sizeof *data, MPI_INFO_NULL, MPI_COMM_WORLD, &data, &window);
    *data = rank;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 8; round++) {
        if (rank == 0 && computes)
            compute(0.05);
        if (rank > 0) {
            MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
            MPI_Get(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window);
            MPI_Win_unlock(0, window);
            compute(0.02);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_free(&window);
}

static void target(void)
{
    read_window(true);
}

static void target_in_mpi(void)
{
    read_window(false);
}

/* Process 0 exposes its window and sleeps until it waits for the accesses of process 1, which completes them at once.
 */
static void target_exposes(void)
{
    static double data[100];
    MPI_Group all, other;
    MPI_Win window;
    int partner = 1 - rank;
    MPI_Win_create(data, sizeof data, sizeof *data, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &partner, &other);
    for (int i = 0; i < 10; i++) {
        if (rank == 0) {
            MPI_Win_post(other, 0, window);
            rest(40000);
            MPI_Win_wait(window);
        } else {
            double value = i;
            MPI_Win_start(other, 0, window);
            MPI_Put(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window);
            MPI_Win_complete(window);
        }
    }
    MPI_Group_free(&other);
    MPI_Group_free(&all);
    MPI_Win_free(&window);
}

/* All start a sum, and complete it: the last process after it has slept. */
static void late_completion(void)
{
    for (int i = 0; i < 12; i++) {
        double value = rank, sum;
        MPI_Request request;
        MPI_Iallreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        rest(rank == size - 1 ? 50000 : 1000);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* An inner process of the tree of a broadcast completes it late. */
static void late_inner(void)
{
    for (int i = 0; i < 12; i++) {
        double value = rank;
        MPI_Request request;
        MPI_Ibcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
        rest(rank == 2 ? 50000 : 1000);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"naps", naps},
             {"looks", looks},
             {"chain", chain},
             {"pipeline", pipeline},
             {"target", target},
             {"target_in_mpi", target_in_mpi},
             {"target_exposes", target_exposes},
             {"late_completion", late_completion},
             {"late_inner", late_inner},
             {"spawn", spawn},
             {"spawned", spawned}};

int main(int argc, char **argv)
{
    program = argv[0];
    if (argc > 2) {
        times_text = argv[2];
        times = (unsigned)atoi(times_text);
    }
    if (argc > 1 && strcmp(argv[1], "spawned") == 0)
        rest(300000);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
        if (strcmp(cases[i].name, argv[1]) == 0)
            cases[i].run();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
