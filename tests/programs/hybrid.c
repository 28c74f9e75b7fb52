/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI and OpenMP together, in what is odd. Prints how often threads have reached certain points: 42 times for each
   regions(). "around": also before MPI_Init and after MPI_Finalize; "exit": a thread exits within a region. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int reached;

static void reach(void)
{
    __atomic_fetch_add(&reached, 1, __ATOMIC_RELAXED);
}

static __attribute__((noinline)) void three(void)
{
#pragma omp parallel num_threads(3)
    reach();
}

static __attribute__((noinline)) void sleeping(void)
{
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1)
        usleep(20000);
}

static __attribute__((noinline)) void nested(void)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
        reach();
#pragma omp for
        for (int i = 0; i < 4; i++)
            reach();
    }
}

static void regions(void)
{
    for (int i = 0; i < 10; i++)
        three();
    sleeping();
    nested();
}

/* Calls of MPI in a region, and a child, which records nothing. */
static __attribute__((noinline)) void forks(void)
{
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) {
        int status = 0;
        MPI_Barrier(MPI_COMM_SELF);
        pid_t child = fork();
        if (child == 0)
            _exit(7);
        waitpid(child, &status, 0);
        if (WEXITSTATUS(status) != 7)
            abort();
    }
}

/* Recording is switched off within a region. */
static __attribute__((noinline)) void off(void)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
#pragma omp master
        MPI_Pcontrol(0);
    }
    regions();
    MPI_Pcontrol(1);
}

static __attribute__((noinline)) void exits(void)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
        if (omp_get_thread_num() == 0)
            exit(9);
        for (;;)
            pause();
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int provided;
    omp_set_max_active_levels(3);
    if (strcmp(what, "around") == 0)
        regions();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    if (strcmp(what, "exit") == 0)
        exits();
    regions();
    forks();
    off();
    MPI_Finalize();
    if (strcmp(what, "around") == 0)
        regions();
    printf("%d\n", reached);
    return 0;
}
