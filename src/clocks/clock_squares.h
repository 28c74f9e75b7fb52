/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLOCKS_CLOCK_SQUARES_H
#define SIGHT_CLOCKS_CLOCK_SQUARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values of nodes from their differences, by least squares: errors cancel over several paths, while along one path they
   add up. */

/* The value of b is that of a and `ahead`, with this weight. */
struct square_edge {
    uint32_t a, b;
    double ahead, weight;
};

/* The values for which the sum of weight * (value[b] - value[a] - ahead)^2 is least, by conjugate gradients; those of
   `fixed` nodes, and of nodes without an edge of a weight above 0, stay. Time and memory follow the edges. */
void squares_solve(const struct square_edge *edges, size_t edge_count, const bool *fixed, double *values,
                   size_t node_count);

#endif
