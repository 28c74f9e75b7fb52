/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes in seven functions for CPU times that a seed chooses, in steps that end in a call of all processes.
   `planted_code SEED even` does so on all processes alike; with "late" one of them, chosen too, spends more time in one
   of the functions. Prints what is true: "late,PROCESS,FUNCTION,MS", or "even". */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FUNCTIONS = 7, STEPS_LEAST = 8, STEPS_SPREAD = 16 };
static volatile uint64_t sink;
static uint32_t state;

static uint32_t chance(uint32_t most)
{
    state = state * 1664525 + 1013904223;
    return (state >> 8) % most;
}

static double cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Time that a function took too long in one step is taken from its next. */
#define FUNCTION(name)                                                                                                 \
    __attribute__((noinline)) static void name(double ms)                                                              \
    {                                                                                                                  \
        static double debt;                                                                                            \
        double begin = cpu_ms(), until = begin + ms - debt;                                                            \
        while (cpu_ms() < until)                                                                                       \
            for (int i = 0; i < 2000; i++)                                                                             \
                sink = sink * 31 + (uint64_t)i;                                                                        \
        debt = cpu_ms() - until;                                                                                       \
    }
FUNCTION(assemble)
FUNCTION(factorise)
FUNCTION(multiply)
FUNCTION(smooth)
FUNCTION(restrict_grid)
FUNCTION(interpolate)
FUNCTION(norm)

static const struct {
    const char *name;
    void (*run)(double ms);
} functions[FUNCTIONS] = {{"assemble", assemble}, {"factorise", factorise},         {"multiply", multiply},
                          {"smooth", smooth},     {"restrict_grid", restrict_grid}, {"interpolate", interpolate},
                          {"norm", norm}};

static void synchronise(uint32_t kind)
{
    double one = 1, all;
    if (kind == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    else if (kind == 1)
        MPI_Allreduce(&one, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, (int[256]){0}, 1, MPI_INT, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank, size;
    double ms[FUNCTIONS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    state = argc > 1 ? (uint32_t)atoi(argv[1]) * 2654435761u : 1;
    int is_late = argc > 2 && strcmp(argv[2], "late") == 0;
    uint32_t steps = STEPS_LEAST + chance(STEPS_SPREAD), kind = chance(3), late = chance((uint32_t)size),
             function = chance(FUNCTIONS);
    /* All of it 0.6 s; the late function 0.2 to 0.5 s more. */
    double sum = 0, more = 200 + chance(300);
    for (int i = 0; i < FUNCTIONS; i++)
        sum += ms[i] = 1 + chance(9);
    for (uint32_t step = 0; step < steps; step++) {
        for (int i = 0; i < FUNCTIONS; i++)
            functions[i].run(600 * ms[i] / sum / steps);
        if (is_late && (uint32_t)rank == late)
            functions[function].run(more / steps);
        synchronise(kind);
    }
    if (rank == 0 && is_late)
        printf("late,%u,%s,%.0f\n", late, functions[function].name, more);
    else if (rank == 0)
        printf("even\n");
    MPI_Finalize();
    return 0;
}
