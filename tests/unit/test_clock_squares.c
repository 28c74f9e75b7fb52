/* SPDX-License-Identifier: BSD-3-Clause */
/* Least squares over differences, against small systems solved by hand, and against the truth of large nets. */
#include "clocks/clock_squares.h"
#include "core/memory.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>

static bool near(double got, double want, double tolerance)
{
    if (fabs(got - want) <= tolerance)
        return true;
    printf("#  got %.9g\n# want %.9g\n", got, want);
    return false;
}

/* A triangle that does not close: 1 + 1 is 2, not 5. The error of 3 goes to the sides as 1 / weight: of 1, 1 and 1 to
   each 1; of 1, 1 and 2 (0.5 of the rest) 1.2, 1.2 and 0.6. */
static void test_triangle(void)
{
    struct square_edge edges[] = {{0, 1, 1, 1}, {1, 2, 1, 1}, {0, 2, 5, 1}};
    const bool fixed[] = {true, false, false};
    double values[3] = {0};
    squares_solve(edges, 3, fixed, values, 3);
    tap_ok(values[0] == 0 && near(values[1], 2, 1e-9) && near(values[2], 4, 1e-9), "a triangle of equal weights");
    edges[2].weight = 2;
    for (int i = 0; i < 3; i++)
        values[i] = 0;
    squares_solve(edges, 3, fixed, values, 3);
    tap_ok(near(values[1], 2.2, 1e-9) && near(values[2], 4.4, 1e-9), "of which one weighs more");
}

static void test_fixed(void)
{
    const struct square_edge edges[] = {{0, 1, 4, 1}, {1, 2, 4, 1}, {2, 3, 7, 0}};
    const bool fixed[] = {true, false, true, false};
    double values[4] = {0, 0, 10, 3};
    squares_solve(edges, 3, fixed, values, 4);
    tap_ok(values[0] == 0 && values[2] == 10 && near(values[1], 5, 1e-9), "between two that stay");
    tap_ok(values[3] == 3, "a node without weighted edges stays as well");
    squares_solve(edges, 0, fixed, values, 4);
    tap_ok(near(values[1], 5, 1e-9), "no edges: nothing changes");
}

/* A torus of 40 * 40: the edges are wrong by up to 1; least squares bring the corners closer than that. */
static void test_net(void)
{
    enum { SIDE = 40, NODES = SIDE * SIDE };
    static struct square_edge edges[2 * NODES];
    static double truth[NODES], values[NODES];
    static bool fixed[NODES];
    double worst = 0;
    srand(5);
    for (int i = 0; i < NODES; i++)
        truth[i] = i ? rand() % 10000 : 0;
    for (uint32_t i = 0; i < NODES; i++) {
        uint32_t next[] = {i / SIDE * SIDE + (i + 1) % SIDE, (i + SIDE) % NODES};
        for (uint32_t k = 0; k < 2; k++)
            edges[2 * i + k] =
                (struct square_edge){i, next[k], truth[next[k]] - truth[i] + (double)(rand() % 2001 - 1000) / 1000, 1};
    }
    fixed[0] = true;
    squares_solve(edges, 2 * NODES, fixed, values, NODES);
    for (int i = 0; i < NODES; i++)
        worst = fmax(worst, fabs(values[i] - truth[i]));
    tap_ok(worst < 2.5, "a net of 1,600: %.2f off at most, though it is up to 40 steps", worst);
}

/* A row of 3,000: as many rounds as the net is wide would not do. */
static void test_row(void)
{
    enum { NODES = 3000 };
    static struct square_edge edges[NODES - 1];
    static double values[NODES];
    static bool fixed[NODES] = {true};
    for (uint32_t i = 0; i + 1 < NODES; i++)
        edges[i] = (struct square_edge){i, i + 1, 1, 1 + i % 7};
    for (int i = 0; i < NODES; i++)
        values[i] = i + (i % 2 ? 0.5 : -0.5) * (i > 0);
    squares_solve(edges, NODES - 1, fixed, values, NODES);
    double worst = 0;
    for (int i = 0; i < NODES; i++)
        worst = fmax(worst, fabs(values[i] - i));
    tap_ok(worst < 0.5, "a row of 3,000 that starts near: %.3f off", worst);
}

int main(void)
{
    test_triangle();
    test_fixed();
    test_net();
    test_row();
    return tap_done();
}
