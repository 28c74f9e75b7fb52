/* SPDX-License-Identifier: BSD-3-Clause */
/* Imbalance over iterations: the cases of the rules of diagnosis (7.1) to the digits given there, and one for each
   other class. */
#include "metrics/iteration_imbalance.h"

#include "unit/tap.h"

#include <math.h>
#include <stdint.h>

enum { RANKS = 4, STEPS = 4 };

struct expected {
    const char *name;
    enum iteration_class kind;
    double x[RANKS * STEPS], loss, of_ranks, dynamic, losses[STEPS], rank_share, mixed_share, concentration, growth;
    uint32_t worst;
};

static const struct expected cases[] = {
    {"static",
     ITERATION_STATIC,
     {10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 20, 20, 20, 20},
     30,
     30,
     0,
     {7.5, 7.5, 7.5, 7.5},
     1,
     0,
     0,
     0,
     0},
    {"rotating",
     ITERATION_ROTATING,
     {20, 10, 10, 10, 10, 20, 10, 10, 10, 10, 20, 10, 10, 10, 10, 20},
     30,
     0,
     30,
     {7.5, 7.5, 7.5, 7.5},
     0,
     1,
     0,
     0,
     0},
    {"transient",
     ITERATION_TRANSIENT,
     {10, 10, 10, 10, 10, 10, 50, 10, 10, 10, 10, 10, 10, 10, 10, 10},
     30,
     30,
     0,
     {0, 0, 30, 0},
     0.2,
     0.6,
     1,
     0.6,
     2},
    {"growing",
     ITERATION_GROWING,
     {10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 14, 18, 22},
     18,
     18,
     0,
     {0, 3, 6, 9},
     0.574,
     0.319,
     0.333,
     0.922,
     3},
    {"constant", ITERATION_BALANCED, {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}, 0, 0, 0, {0}, 0, 0, 0, 0, 0},
    {"nothing", ITERATION_BALANCED, {0}, 0, 0, 0, {0}, 0, 0, 0, 0, 0},
};

static void near(double got, double want, const char *name, const char *what)
{
    if (!tap_ok(fabs(got - want) < 0.0005, "%s: %s", name, what))
        printf("#  got %g\n# want %g\n", got, want);
}

static void test_case(const struct expected *want)
{
    struct iteration_imbalance got = iteration_imbalance_of(want->x, RANKS, STEPS);
    tap_equal_string(iteration_class_name(got.kind), iteration_class_name(want->kind), "%s: class", want->name);
    near(got.loss, want->loss, want->name, "L");
    near(got.static_loss, want->of_ranks, want->name, "S");
    near(got.dynamic_loss, want->dynamic, want->name, "D");
    for (size_t k = 0; k < STEPS; k++)
        near(got.losses[k], want->losses[k], want->name, "loss of an iteration");
    near(got.rank_share, want->rank_share, want->name, "R");
    near(got.mixed_share, want->mixed_share, want->name, "E");
    near(got.concentration, want->concentration, want->name, "q*");
    near(got.growth, want->growth, want->name, "b*K");
    tap_ok(want->loss == 0 || got.loss / got.longest >= 0.2, "%s: L / sum of M is more than nothing", want->name);
    tap_ok(got.worst_count == 1 && got.worst[0] == want->worst, "%s: the worst iteration", want->name);
    iteration_imbalance_clear(&got);
}

static uint64_t random_state = 1;
static double noise(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (double)(random_state >> 33) / (double)(UINT64_C(1) << 31);
}

static enum iteration_class class_of(double (*value)(size_t rank, size_t step), size_t ranks, size_t steps)
{
    static double x[64 * 256];
    for (size_t i = 0; i < ranks; i++)
        for (size_t k = 0; k < steps; k++)
            x[i * steps + k] = value(i, k);
    struct iteration_imbalance got = iteration_imbalance_of(x, ranks, steps);
    enum iteration_class kind = got.kind;
    tap_ok(got.dynamic_loss >= 0 && fabs(got.static_loss + got.dynamic_loss - got.loss) < 1e-9 &&
               (got.loss <= 0 || fabs(got.rank_share + got.iteration_share + got.mixed_share - 1) < 1e-9),
           "parts make the whole");
    iteration_imbalance_clear(&got);
    return kind;
}

static double noisy(size_t rank, size_t step)
{
    (void)rank;
    (void)step;
    return 10 + 10 * noise();
}
static double slightly_noisy(size_t rank, size_t step)
{
    (void)rank;
    (void)step;
    return 10 + 0.2 * noise();
}
static double falling(size_t rank, size_t step)
{
    return rank == 2 ? 30 - 0.2 * (double)step : 10;
}
/* A heavy place; the last iteration is cut so that it has no work. */
static double cut_short(size_t rank, size_t step)
{
    return step == 9 ? 0 : rank == 2 ? 20 : 10;
}
/* A heavy place that stays for a while, then moves. */
static double migrating(size_t rank, size_t step)
{
    return step / 8 * 3 % 8 == rank ? 30 : 10;
}
/* More than half of the loss is always the same rank's. */
static double both(size_t rank, size_t step)
{
    return 10 + (rank == 0 ? 8 : 0) + (rank == 1 + step * step * 7 % 5 ? 12 : 0);
}
/* One always computes 60 more, and all of them longer and longer: what is lost stays the same. */
static double constant_beside_growth(size_t rank, size_t step)
{
    return 5 + 0.5 * (double)step + (rank == 1 ? 60 : 0);
}
static double constant_beside_fall(size_t rank, size_t step)
{
    return constant_beside_growth(rank, 9 - step);
}
static double longer_together(size_t rank, size_t step)
{
    (void)rank;
    return 10 + (double)step;
}

/* Each time anew, of 1,024 ranks: one has far the largest total. */
static double few_of_many(size_t rank, size_t step)
{
    (void)rank;
    (void)step;
    return 7 + 6 * noise();
}
/* A quarter of them have more each time. */
static double some_of_many(size_t rank, size_t step)
{
    return few_of_many(rank, step) * (rank % 4 == 0 ? 1.25 : 1);
}

static void test_classes(void)
{
    tap_equal_string(iteration_class_name(class_of(few_of_many, 1024, 10)), "random", "noise of many ranks");
    tap_equal_string(iteration_class_name(class_of(some_of_many, 1024, 10)), "mixed", "some of many have more");
    tap_equal_string(iteration_class_name(class_of(noisy, 16, 200)), "random", "noise");
    tap_equal_string(iteration_class_name(class_of(slightly_noisy, 16, 200)), "balanced", "little noise");
    tap_equal_string(iteration_class_name(class_of(falling, 4, 100)), "falling", "a place that gets lighter");
    tap_equal_string(iteration_class_name(class_of(constant_beside_growth, 4, 10)), "static", "only the rest grows");
    tap_equal_string(iteration_class_name(class_of(constant_beside_fall, 4, 10)), "static", "only the rest falls");
    tap_ok(class_of(cut_short, 4, 10) != ITERATION_FALLING, "an iteration without work is no sign of less");
    tap_equal_string(iteration_class_name(class_of(migrating, 8, 64)), "rotating", "a place that moves now and then");
    tap_equal_string(iteration_class_name(class_of(longer_together, 4, 50)), "balanced", "all grow");
    tap_equal_string(iteration_class_name(class_of(both, 8, 50)), "mixed", "a heavy rank and others by turns");
    tap_equal_string(iteration_class_name(class_of(noisy, 1, 50)), "too-few", "one rank");
    tap_equal_string(iteration_class_name(class_of(falling, 4, 3)), "too-few", "three iterations");
    tap_equal_string(iteration_class_name(class_of(noisy, 0, 0)), "too-few", "nothing");
}

static void test_recoverable(void)
{
    struct iteration_imbalance got = iteration_imbalance_of(cases[1].x, RANKS, STEPS);
    near(iteration_imbalance_recoverable(&got, 120, RANKS), 30, "recoverable", "all of L is waited for");
    near(iteration_imbalance_recoverable(&got, 40, RANKS), 10, "recoverable", "iterations overlap: the waits");
    near(1 - got.loss / got.longest, 0.625, "rotating", "balance of the iterations is 0.625");
    iteration_imbalance_clear(&got);
}

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        test_case(&cases[i]);
    test_classes();
    test_recoverable();
    return tap_done();
}
