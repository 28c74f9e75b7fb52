/* SPDX-License-Identifier: BSD-3-Clause */
/* 2-D Jacobi iteration on a grid of processes: borders by Isend, Irecv and Waitall on a Cartesian communicator, the
   residual by Allreduce. Sizes may follow: jacobi CELLS ITERATIONS. */
#include "truth.h"

#include <math.h>

enum { SIDES = 4 };
static int cells, iterations;
static double *now, *next, *edge[2 * SIDES];
static int neighbour[SIDES], world_of[TRUTH_PARTNERS];

#define AT(grid, x, y) (grid)[((y) + 1) * (cells + 2) + (x) + 1]

/* Cell `i` of the border on a side: 0 left, 1 right, 2 upper, 3 lower; `depth` 1 is inside, 0 the neighbour's. */
static double *border(int side, int i, int depth)
{
    int low = depth - 1, high = cells - depth;
    return side == 0   ? &AT(now, low, i)
           : side == 1 ? &AT(now, high, i)
           : side == 2 ? &AT(now, i, low)
                       : &AT(now, i, high);
}

static void exchange(MPI_Comm grid)
{
    MPI_Request requests[2 * SIDES];
    for (int side = 0; side < SIDES; side++)
        MPI_Irecv(edge[side], cells, MPI_DOUBLE, neighbour[side], side ^ 1, grid, &requests[side]);
    for (int side = 0; side < SIDES; side++) {
        double *out = edge[SIDES + side];
        for (int i = 0; i < cells; i++)
            out[i] = *border(side, i, 1);
        MPI_Isend(out, cells, MPI_DOUBLE, neighbour[side], side, grid, &requests[SIDES + side]);
        if (neighbour[side] == MPI_PROC_NULL)
            continue;
        truth_sent(world_of[neighbour[side]], cells * (long)sizeof(double));
        truth_received(world_of[neighbour[side]], cells * (long)sizeof(double));
    }
    MPI_Waitall(2 * SIDES, requests, MPI_STATUSES_IGNORE);
    for (int side = 0; side < SIDES; side++)
        for (int i = 0; i < cells && neighbour[side] != MPI_PROC_NULL; i++)
            *border(side, i, 0) = edge[side][i];
}

static double relax(void)
{
    double change = 0;
    for (int y = 0; y < cells; y++)
        for (int x = 0; x < cells; x++) {
            double value = (AT(now, x - 1, y) + AT(now, x + 1, y) + AT(now, x, y - 1) + AT(now, x, y + 1)) / 4;
            change = fmax(change, fabs(value - AT(now, x, y)));
            AT(next, x, y) = value;
        }
    double *old = now;
    now = next;
    next = old;
    return change;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    truth_begin();
    cells = argc > 1 ? atoi(argv[1]) : 64;
    iterations = argc > 2 ? atoi(argv[2]) : 100;
    int dims[2] = {0, 0}, periods[2] = {0, 0};
    MPI_Comm grid;
    MPI_Dims_create(truth.size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    MPI_Allgather(&truth.rank, 1, MPI_INT, world_of, 1, MPI_INT, grid);
    MPI_Cart_shift(grid, 0, 1, &neighbour[0], &neighbour[1]);
    MPI_Cart_shift(grid, 1, 1, &neighbour[2], &neighbour[3]);
    size_t size = (size_t)(cells + 2) * (size_t)(cells + 2);
    now = calloc(size, sizeof *now);
    next = calloc(size, sizeof *next);
    for (int i = 0; i < 2 * SIDES; i++)
        edge[i] = calloc((size_t)cells, sizeof **edge);
    for (int i = 0; i < cells && neighbour[2] == MPI_PROC_NULL; i++)
        AT(now, i, -1) = AT(next, i, -1) = 1;
    double change = 1, largest = 1;
    for (int i = 0; i < iterations && largest > 1e-6; i++) {
        exchange(grid);
        change = relax();
        MPI_Allreduce(&change, &largest, 1, MPI_DOUBLE, MPI_MAX, grid);
    }
    truth_print();
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
