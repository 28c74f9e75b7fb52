/* SPDX-License-Identifier: BSD-3-Clause */
#include "clocks/clock_squares.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <stdlib.h>

/* The maximum of rounds: a chain of n nodes takes n of them, a net far fewer. The remaining error is then small. */
enum { ROUNDS = 2000 };
static const double CLOSE_ENOUGH = 1e-10; /* of the first residual, in squares */

struct solver {
    const struct square_edge *edges;
    size_t edge_count, node_count;
    const bool *fixed;
    double *diagonal, *residual, *conditioned, *direction, *product;
};

/* The solver is conjugate gradients (Hestenes, Stiefel 1952) for the normal equations of the edges, conditioned by
   their diagonal: nodes with many narrow corridors would otherwise need many rounds. Fixed nodes are left out
   everywhere. */
static double dot(const struct solver *solver, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < solver->node_count; i++)
        if (!solver->fixed[i])
            sum += a[i] * b[i];
    return sum;
}

/* The change of the residual when the values change by `direction`. */
static void multiply(const struct solver *solver)
{
    for (size_t i = 0; i < solver->node_count; i++)
        solver->product[i] = 0;
    for (size_t i = 0; i < solver->edge_count; i++) {
        const struct square_edge *edge = &solver->edges[i];
        double a = 0, b = 0;
        if (!solver->fixed[edge->a])
            a = solver->direction[edge->a];
        if (!solver->fixed[edge->b])
            b = solver->direction[edge->b];
        solver->product[edge->a] += edge->weight * (a - b);
        solver->product[edge->b] += edge->weight * (b - a);
    }
}

static void begin(const struct solver *solver, const double *values)
{
    for (size_t i = 0; i < solver->edge_count; i++) {
        const struct square_edge *edge = &solver->edges[i];
        double pull = edge->weight * (values[edge->b] - values[edge->a] - edge->ahead);
        solver->residual[edge->a] += pull;
        solver->residual[edge->b] -= pull;
        solver->diagonal[edge->a] += edge->weight;
        solver->diagonal[edge->b] += edge->weight;
    }
}

static void condition(const struct solver *solver)
{
    for (size_t i = 0; i < solver->node_count; i++)
        solver->conditioned[i] = ratio_of(solver->residual[i], solver->diagonal[i]);
}

static void step(const struct solver *solver, double *values, double length)
{
    for (size_t i = 0; i < solver->node_count; i++)
        if (!solver->fixed[i]) {
            values[i] += length * solver->direction[i];
            solver->residual[i] -= length * solver->product[i];
        }
}

static void turn(const struct solver *solver, double keep)
{
    for (size_t i = 0; i < solver->node_count; i++)
        solver->direction[i] = solver->conditioned[i] + keep * solver->direction[i];
}

void squares_solve(const struct square_edge *edges, size_t edge_count, const bool *fixed, double *values,
                   size_t node_count)
{
    double *room = memory_new(5 * node_count * sizeof *room);
    struct solver solver = {edges,
                            edge_count,
                            node_count,
                            fixed,
                            room,
                            room + node_count,
                            room + 2 * node_count,
                            room + 3 * node_count,
                            room + 4 * node_count};
    begin(&solver, values);
    condition(&solver);
    turn(&solver, 0);
    double now = dot(&solver, solver.residual, solver.conditioned), first = now;
    for (int round = 0; round < ROUNDS && now > CLOSE_ENOUGH * first; round++) {
        multiply(&solver);
        double curvature = dot(&solver, solver.direction, solver.product);
        /* 0 if all that is left is constant on a component: any value is as good. Negated, so that NaN ends it, too. */
        if (!(curvature > 0))
            break;
        step(&solver, values, now / curvature);
        condition(&solver);
        double next = dot(&solver, solver.residual, solver.conditioned);
        turn(&solver, next / now);
        now = next;
    }
    free(room);
}
