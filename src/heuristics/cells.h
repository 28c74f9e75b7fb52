/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_CELLS_H
#define SIGHT_HEURISTICS_CELLS_H

#include "heuristics/heuristic.h"

/* The common part of the AIMS indices: one index for each process and function, each a share of the run's duration; the
   run's index is the mean over the processes of the sum over their functions, so that 1 is all the time of all
   processes. `mean` of the result is that of the cells that are not 0. */

/* The run's duration in ns, as all indices' denominator; 0 for an empty run. */
int64_t cells_duration_ns(const struct metrics *metrics);

/* Makes cells of every function of every process for which `time_ns` gives more than 0, and from them the index, the
   mean and the verdict. False, with a sentence that says why, if there is nothing to judge. */
bool cells_fill(const struct metrics *metrics, struct heuristic_result *result,
                double (*time_ns)(const struct metrics *metrics, const struct function_row *row, const void *context),
                const void *context);

/* Index, mean, verdict and details of cells whose shares add up to `sum`; the run's duration in ns. */
void cells_conclude(const struct metrics *metrics, struct heuristic_result *result, double sum, double duration);

/* The functions with the largest sums of cells, the largest first; at most `count`. Returns their number. */
struct function_share {
    int32_t state;
    double share;        /* of the run, as the index */
    uint32_t worst_rank; /* the process with the largest cell */
    double worst;
};
size_t cells_functions(const struct metrics *metrics, const struct heuristic_result *result,
                       struct function_share *shares, size_t count);

/* Adds "MPI_Recv 31 % (most on process 3, 62 % of the run), MPI_Send 4 % ...": at most three functions. */
void cells_say_functions(const struct metrics *metrics, struct heuristic_result *result, const char *what);

#endif
