/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs with one planted problem share: PROGRAM PATTERN RANK clean|bad. Work is sleeping, so that any number of
   processes shares two cores. Static definitions only: each program is compiled from one file, as recordings need it.
 */
#ifndef PLANTED_H
#define PLANTED_H

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, culprit, bad;

static void work(int us)
{
    if (us > 0)
        usleep((useconds_t)us);
}

/* One value to and from both neighbours in the ring. */
static void halo(void)
{
    double in[2], out = rank;
    MPI_Request request[4];
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Irecv(&in[0], 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(&in[1], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &request[1]);
    MPI_Isend(&out, 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &request[2]);
    MPI_Isend(&out, 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &request[3]);
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
}

struct pattern {
    const char *name;
    const char *findings; /* any of these is right */
    int has_culprit;
    void (*round)(int round); /* planted: once a round */
    void (*run)(void);        /* planted_traffic: once */
};

/* The pattern that the arguments name, after setting `culprit` and `bad`; NULL: the arguments are wrong. */
static const struct pattern *pattern_find(const struct pattern *patterns, size_t count, int argc, char **argv)
{
    if (argc != 4)
        return NULL;
    culprit = atoi(argv[2]);
    bad = strcmp(argv[3], "bad") == 0;
    for (size_t i = 0; i < count; i++)
        if (strcmp(patterns[i].name, argv[1]) == 0)
            return &patterns[i];
    return NULL;
}

/* Starts MPI, and prints what the diagnosis must find: ids of findings, and the process that causes it. */
static void pattern_begin(const struct pattern *pattern, int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    culprit %= size;
    if (rank == 0 && bad && pattern->has_culprit)
        printf("%s %d\n", pattern->findings, culprit);
    else if (rank == 0)
        printf("%s -\n", bad ? pattern->findings : "");
}

#endif
