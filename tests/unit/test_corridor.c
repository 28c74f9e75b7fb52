/* SPDX-License-Identifier: BSD-3-Clause */
/* Corridors between two clocks: what messages say of their offset and drift. Numbers of the small cases were computed
   by hand. */
#include "clocks/corridor.h"

#include "unit/hand_trace.h"
#include "unit/tap.h"

#include <math.h>

static bool near(double got, double want, double tolerance)
{
    if (fabs(got - want) <= tolerance)
        return true;
    printf("#  got %.9g\n# want %.9g\n", got, want);
    return false;
}

/* Corridors. A message from A to B: sent x, received y; from B to A: received x, sent y. */

static void to_b(struct corridor *corridor, double x, double y)
{
    corridor_add(corridor, true, x, y - x);
}

static void to_a(struct corridor *corridor, double x, double y)
{
    corridor_add(corridor, false, x, y - x);
}

static void test_corridor(void)
{
    struct corridor corridor = {0};
    to_b(&corridor, 200, 302);
    to_b(&corridor, 0, 105);
    to_b(&corridor, 100, 203);
    to_a(&corridor, 250, 349);
    to_a(&corridor, 50, 146);
    to_a(&corridor, 150, 248);
    struct corridor_fit fit = corridor_fit(&corridor);
    tap_ok(fit.kind == CORRIDOR_COMPLETE, "messages both ways, all the time: a complete corridor");
    tap_ok(near(1 + fit.steepest.slope, 1.04, 1e-12) && near(fit.steepest.offset, 94, 1e-9), "its steepest line");
    tap_ok(near(1 + fit.flattest.slope, 0.976, 1e-12) && near(fit.flattest.offset, 105, 1e-9), "its flattest line");
    tap_ok(near(125 + fit.steepest.offset + 125 * fit.steepest.slope, 224, 1e-9) &&
               near(125 + fit.flattest.offset + 125 * fit.flattest.slope, 227, 1e-9),
           "its width in the middle");
    tap_ok(near(fit.width, 11, 1e-9), "its width at 0");
    struct clock_line bisector = corridor_bisector(fit.steepest, fit.flattest);
    tap_ok(near(1 + bisector.slope, 1.007488, 5e-7) && near(bisector.offset, 99.588, 5e-4), "the bisector of both");
    tap_ok(corridor_contradiction(&corridor, bisector) == 0, "which no bound contradicts");
    tap_ok(near(fit.line.offset, 100, 1e-9) && fit.line.slope == 0, "an offset between 99 and 102 will do");
    corridor_clear(&corridor);
}

static void test_corridor_drift(void)
{
    struct corridor corridor = {0};
    /* d = 1000 + 0.01 x; every message takes 2. */
    for (int x = 0; x <= 1000; x += 100) {
        to_b(&corridor, x, x + 1000 + 0.01 * x + 2);
        to_a(&corridor, x + 50, x + 50 + 1000 + 0.01 * (x + 50) - 2);
    }
    struct corridor_fit fit = corridor_fit(&corridor);
    tap_ok(fit.kind == CORRIDOR_COMPLETE && near(fit.line.slope, 0.01, 3e-4) && near(fit.line.offset, 1000, 0.2),
           "no offset will do: the bisector of the steepest and the flattest line");
    tap_ok(corridor_contradiction(&corridor, fit.line) == 0, "which no bound contradicts");
    tap_ok(near(corridor_contradiction(&corridor, (struct clock_line){1000, 0}), 8.5, 1e-9),
           "how much a wrong one is contradicted");
    tap_ok(corridor.above.count == 2 && corridor.below.count == 2, "only the hulls are kept");
    corridor_clear(&corridor);
}

static void test_corridor_identity(void)
{
    struct corridor corridor = {0};
    to_b(&corridor, 0, 5);
    to_a(&corridor, 10, 9);
    to_b(&corridor, 20, 21);
    struct corridor_fit fit = corridor_fit(&corridor);
    tap_ok(fit.line.offset == 0 && fit.line.slope == 0, "equal clocks contradict nothing: no correction");
    corridor_clear(&corridor);
    fit = corridor_fit(&corridor);
    tap_ok(fit.kind == CORRIDOR_EMPTY && fit.line.offset == 0 && isinf(fit.width), "no bounds: no correction");
}

static void test_corridor_open(void)
{
    struct corridor corridor = {0};
    to_b(&corridor, 0, -7);
    to_b(&corridor, 100, 50);
    to_b(&corridor, 200, 201);
    struct corridor_fit fit = corridor_fit(&corridor);
    tap_ok(fit.kind == CORRIDOR_OPEN && fit.line.offset == -50 && fit.line.slope == 0 && isinf(fit.width),
           "traffic one way only is incomplete: the offset goes to the bound, no slope is made up");
    corridor_clear(&corridor);
    to_a(&corridor, 0, 30);
    to_a(&corridor, 10, 12);
    fit = corridor_fit(&corridor);
    tap_ok(fit.kind == CORRIDOR_OPEN && fit.line.offset == 30 && fit.line.slope == 0, "the other way round");
    corridor_clear(&corridor);
    to_b(&corridor, 0, 20);
    to_b(&corridor, 10, 40);
    to_a(&corridor, 100, 110);
    fit = corridor_fit(&corridor);
    tap_ok(fit.kind == CORRIDOR_OPEN && fit.line.offset == 15 && fit.line.slope == 0 && near(fit.width, 10, 1e-9),
           "first one way, then the other: incomplete, an offset between both");
    to_a(&corridor, 200, 260);
    fit = corridor_fit(&corridor);
    tap_ok(fit.kind == CORRIDOR_OPEN && near(fit.line.slope, 0.2, 1e-9) && near(fit.line.offset, 20, 1e-9),
           "no offset will do: the least drift that will");
    corridor_clear(&corridor);
}

static void test_corridor_crossed(void)
{
    struct corridor corridor = {0};
    to_b(&corridor, 0, 100);
    to_b(&corridor, 100, 200);
    to_a(&corridor, 0, 110);
    to_a(&corridor, 100, 204);
    struct corridor_fit fit = corridor_fit(&corridor);
    tap_ok(fit.kind == CORRIDOR_CROSSED && near(fit.width, 10, 1e-9), "bounds that contradict each other");
    tap_ok(near(fit.line.offset, 105, 1e-9) && fit.line.slope == 0, "the middle of the deepest contradiction");
    corridor_clear(&corridor);
    to_b(&corridor, 0, -3);
    to_b(&corridor, 100, 101);
    to_a(&corridor, 50, 52);
    fit = corridor_fit(&corridor);
    tap_ok(fit.line.offset == 0 && fit.line.slope == 0, "what hardly helps is left");
    corridor_clear(&corridor);
}

/* A random cloud of bounds: what is kept of it contradicts lines as all of it does. */
static void test_corridor_random(void)
{
    int wrong = 0;
    for (int run = 0; run < 200; run++) {
        struct corridor corridor = {0};
        double x[300], d[300], worst = 0;
        for (int i = 0; i < 300; i++) {
            x[i] = (double)random_below(1000);
            d[i] = 0.1 * x[i] + (i % 2 ? 1 : -1) * (double)random_below(50);
            corridor_add(&corridor, i % 2, x[i], d[i]);
        }
        struct corridor_fit fit = corridor_fit(&corridor);
        for (int i = 0; i < 300; i++)
            worst = fmax(worst, (i % 2 ? 1 : -1) * (fit.line.offset + fit.line.slope * x[i] - d[i]));
        wrong += worst > 1e-6 || fabs(worst - corridor_contradiction(&corridor, fit.line)) > 1e-6;
        wrong += fit.kind != CORRIDOR_COMPLETE || fabs(fit.line.slope - 0.1) > 0.05;
        corridor_clear(&corridor);
    }
    tap_equal_int(wrong, 0, "200 random clouds: the line contradicts no bound, kept or not");
}

/* Lines put together and turned round: d of B against A, and of C against B. */
static void test_lines(void)
{
    struct clock_line ab = {100, 0.25}, bc = {-40, 0.5};
    struct clock_line ba = clock_line_inverse(ab), ac = clock_line_chained(ab, bc);
    /* A's 400 is B's 400 + 200 = 600; B's 600 is C's 600 + 260 = 860. */
    tap_ok(near(600 + ba.offset + 600 * ba.slope, 400, 1e-9), "the way back");
    tap_ok(near(400 + ac.offset + 400 * ac.slope, 860, 1e-9), "two lines in a chain");
}

/* Clocks that run alike: the possible offset that is nearest. */
static void test_nearest(void)
{
    struct corridor corridor = {0};
    to_b(&corridor, 0, 30);
    to_a(&corridor, 50, 60);
    tap_ok(near(corridor_nearest(&corridor, 20), 20, 1e-9), "a possible offset stays");
    tap_ok(near(corridor_nearest(&corridor, 50), 30, 1e-9), "one that is too large goes to the bound");
    tap_ok(near(corridor_nearest(&corridor, -5), 10, 1e-9), "and one that is too small");
    to_a(&corridor, 60, 110);
    tap_ok(near(corridor_nearest(&corridor, 0), 40, 1e-9), "none is possible: the middle of the contradiction");
    corridor_clear(&corridor);
}

/* Corridors that leave one line only, or bounds at one time only. */
static void test_corridor_limits(void)
{
    struct corridor corridor = {0};
    for (int x = 0; x <= 100; x += 50) {
        to_b(&corridor, x, x + 10 + 0.5 * x);
        to_a(&corridor, x, x + 10 + 0.5 * x);
    }
    struct corridor_fit fit = corridor_fit(&corridor);
    tap_ok(near(fit.line.offset, 10, 1e-9) && near(fit.line.slope, 0.5, 1e-9), "bounds that touch: the one line");
    tap_ok(near(fit.width, 0, 1e-9) && corridor_contradiction(&corridor, fit.line) < 1e-9, "which leaves nothing open");
    corridor_clear(&corridor);

    to_b(&corridor, 50, 50 + 20);
    to_b(&corridor, 50, 50 + 30);
    to_a(&corridor, 50, 50 + 10);
    to_a(&corridor, 50, 50 + 4);
    fit = corridor_fit(&corridor);
    tap_ok(near(fit.line.offset, 15, 1e-9) && fit.line.slope == 0, "all at one time: between the tightest bounds");
    tap_ok(near(corridor_contradiction(&corridor, (struct clock_line){25, 0}), 5, 1e-9) &&
               near(corridor_contradiction(&corridor, (struct clock_line){3, 0}), 7, 1e-9),
           "what other lines contradict there");
    corridor_clear(&corridor);
}

int main(void)
{
    test_corridor();
    test_corridor_drift();
    test_corridor_identity();
    test_corridor_open();
    test_corridor_crossed();
    test_corridor_random();
    test_corridor_limits();
    test_lines();
    test_nearest();
    return tap_done();
}
