/* SPDX-License-Identifier: BSD-3-Clause */
/* Results from few runs: distributions against tables, analysis of variance as in Sprof's test of intrusion, means
   without outliers, and how often identical and different versions are distinguished, on generated runs. */
#include "runs/permutation.h"
#include "runs/significance.h"
#include "runs/statistics.h"

#include "unit/hand_metrics.h"
#include "unit/random.h"

#include <stdlib.h>

enum { PROCESSES = 8, RUNS_MOST = 20 };

static void near_to(double got, double want, double off, const char *name)
{
    if (!tap_ok(fabs(got - want) <= off, "%s", name))
        printf("#  got %.9g\n# want %.9g\n", got, want);
}

/* Values of printed tables of Student's t and of F. */
static void distributions(void)
{
    near_to(statistics_t_limit(0.05, 4), 2.776445, 1e-6, "t of 95 % with 4 degrees of freedom");
    near_to(statistics_t_limit(0.05, 18), 2.100922, 1e-6, "t of 95 % with 18");
    near_to(statistics_t_limit(0.01, 1), 63.656741, 1e-5, "t of 99 % with 1");
    near_to(statistics_f_tail(3.888853, 1, 198), 0.05, 1e-6, "critical F of 1 and 198");
    near_to(statistics_f_tail(3.098391, 3, 20), 0.05, 1e-6, "critical F of 3 and 20");
    near_to(statistics_t_tail(2, 1e9), 0.045500, 1e-6, "t is normal in the end");
    tap_ok(statistics_f_tail(NAN, 1, 2) >= 1 && statistics_f_tail(INFINITY, 1, 2) <= 0,
           "what is no F, and what is all");
}

/* Jales Costa 2016, Table 4: 100 runs with Sprof and 100 without. */
static void sprof_intrusion(void)
{
    static const struct {
        const char *name;
        struct anova_group groups[2];
        double f, p;
    } programs[] = {
        {"Blackscholes", {{60.642, 0.472, 100}, {60.749, 0.337, 100}}, 3.403864, 0.066537},
        {"Bodytrack", {{8.285, 0.070, 100}, {8.304, 0.071, 100}}, 3.631425, 0.058147},
        {"Freqmine", {{18.456, 0.264, 100}, {18.472, 0.212, 100}}, 0.223308, 0.637051},
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct anova anova = anova_of(programs[i].groups, 2);
        near_to(anova.f, programs[i].f, 0.5e-6, programs[i].name);
        near_to(anova.p, programs[i].p, 1e-6, "  and its p");
        tap_ok(anova.between >= 1 && anova.between <= 1 && anova.within >= 198 && anova.within <= 198,
               "  with 1 and 198 degrees of freedom");
    }
}

static void means(void)
{
    static const double few[] = {1, 2, 3, 4}, more[] = {3, 4, 5, 6};
    struct welch welch = welch_of(few, 4, more, 4);
    near_to(welch.error, sqrt(2 * (5.0 / 3) / 4), 1e-12, "Welch's standard error");
    near_to(welch.freedom, 6, 1e-9, "degrees of freedom");
    near_to(welch.high, 2 + 2.446912 * sqrt(5.0 / 6), 1e-5, "and interval");
    static const double before[] = {5, 1, 2, 3, 400}, after[] = {13, 12, 11, 15, -90};
    welch = welch_of(before, 5, after, 5);
    /* Distances from 3 and 12: 0 0 1 1 1 2 2 3 102 397, their median 1.5. */
    double reach = 3.5 * 1.482602 * 1.5;
    near_to(welch.before, (5 + 1 + 2 + 3 + 3 + reach) / 5, 1e-6, "an outlier counts as far as what is none can be");
    near_to(welch.after, (13 + 12 + 11 + 15 + 12 - reach) / 5, 1e-6, "on the other side, too");
    tap_ok(isinf(welch_of(few, 1, more, 4).high), "one run has no interval");
    tap_equal_int((long long)statistics_runs_needed(2), 7, "a difference of two deviations takes 7 runs");
    tap_equal_int((long long)statistics_runs_needed(0.6), 60, "3 %% of 5 %% noise takes 60");
    tap_equal_int((long long)statistics_runs_needed(0), 0, "no difference takes no number of runs");
}

static void permutations(void)
{
    static const double apart[] = {1, 2, 3, 4, 5, 11, 12, 13, 14, 15, 1, 2, 3, 4, 5, 3.5, 1.5, 4.5, 2.5, 0.5};
    double adjusted[2];
    permutation_test(apart, 2, 5, 5, 0.001, adjusted);
    near_to(adjusted[0], 2.0 / 252, 1e-12, "two of 252 divisions are as far apart");
    tap_ok(adjusted[1] > 0.5, "the other number is not apart");
    static const double equal[] = {7, 7, 7, 7, 7, 7, 7, 7};
    permutation_test(equal, 1, 4, 4, 0.001, adjusted);
    tap_ok(adjusted[0] >= 1, "equal values");
    tap_ok(!significance_possible(3, 3, 1) && significance_possible(4, 4, 1) && !significance_possible(4, 4, 2) &&
               significance_possible(5, 5, 2),
           "what so many runs can show at all");
}

/* How a generated program spreads: every part of every process by itself, and the whole run. */
struct spread {
    double part, run, outlier; /* share of runs with an outlier of half the run */
};

/* A run of 10 s: process 3 takes this much longer in its update, which all others wait for. */
static struct metrics *generate(const struct defs *defs, const struct spread *spread, double longer_s)
{
    struct metrics *metrics = hand_metrics(defs, PROCESSES, 10, 0);
    double all = (1 + spread->run * random_normal()) * (random_uniform() < spread->outlier ? 1.5 : 1);
    double network = 2 * (1 + spread->part * random_normal()), end = 0, computing[PROCESSES];
    for (size_t i = 0; i < PROCESSES; i++) {
        double solve = all * 4 * (1 + spread->part * random_normal());
        double update = all * (2 + (i == 3 ? longer_s : 0)) * (1 + spread->part * random_normal());
        computing[i] = solve + update + all * 2;
        end = fmax(end, computing[i]);
        hand_calls(metrics, i, "solve", solve);
        hand_calls(metrics, i, "update", update);
    }
    for (size_t i = 0; i < PROCESSES; i++) {
        hand_calls(metrics, i, "MPI_Allreduce", end - computing[i] + network);
        hand_times(metrics, i, computing[i], end - computing[i] + network);
    }
    return metrics;
}

static struct significance compare_generated(const struct defs *defs, const struct spread *spread, double longer_s,
                                             size_t runs, struct metrics **made)
{
    struct version versions[2] = {{.name = "old", .run_count = runs}, {.name = "new", .run_count = runs}};
    for (size_t i = 0; i < 2 * runs; i++)
        made[i] = generate(defs, spread, i < runs ? 0 : longer_s);
    versions[0].runs = (const struct metrics *const *)made;
    versions[1].runs = (const struct metrics *const *)(made + runs);
    return significance_of(&versions[0], &versions[1]);
}

/* Whether update on process 3 is shown to be slower. */
static bool names_culprit(const struct significance *significance)
{
    for (size_t i = 0; i < significance->count; i++) {
        const struct tested *tested = &significance->tested[i];
        if (tested->kind == TESTED_CELL && tested->rank == 3 && strcmp(tested->name, "update") == 0)
            return tested->is_shown && tested->change > 0;
    }
    return false;
}

/* How many of the comparisons report anything, or the culprit. */
static int reported(const struct spread *spread, double longer_s, size_t runs, int rounds, int *anything)
{
    static const char *const names[] = {"solve", "update", "MPI_Allreduce"};
    struct defs *defs = hand_defs(names, 3);
    int culprits = 0;
    *anything = 0;
    for (int i = 0; i < rounds; i++) {
        struct metrics *made[2 * RUNS_MOST];
        struct significance significance = compare_generated(defs, spread, longer_s, runs, made);
        *anything += significance.shown > 0;
        culprits += names_culprit(&significance);
        significance_clear(&significance);
        for (size_t k = 0; k < 2 * runs; k++)
            metrics_free(made[k]);
    }
    defs_free(defs);
    return culprits;
}

/* More by hand: test_statistics ROUNDS RUNS LONGER PART RUN OUTLIER. */
static int by_hand(char **argv)
{
    struct spread spread = {atof(argv[4]), atof(argv[5]), atof(argv[6])};
    int rounds = atoi(argv[1]), anything;
    int culprits = reported(&spread, atof(argv[3]), (size_t)atoi(argv[2]), rounds, &anything);
    printf("%d comparisons of %s runs: %d report something, %d the culprit\n", rounds, argv[2], anything, culprits);
    return 0;
}

/* A part of so many comparisons in brief. */
static int rounds_of(int all)
{
    return getenv("SIGHT_TEST_BRIEF") ? all / 5 : all;
}

static void alarms(void)
{
    static const struct spread spreads[] = {{0.05, 0, 0}, {0.05, 0.02, 0}, {0.05, 0.02, 0.1}, {0.02, 0.05, 0.02}};
    int all = 0, rounds = rounds_of(250), anything;
    for (size_t i = 0; i < sizeof spreads / sizeof *spreads; i++) {
        reported(&spreads[i], 0, 5, rounds, &anything);
        all += anything;
    }
    if (!tap_ok(all <= rounds / 5, "%d comparisons of identical versions: at most 5 %% report anything", 4 * rounds))
        printf("# %d\n", all);
}

static void power(void)
{
    int rounds = rounds_of(60), anything;
    int found = reported(&(struct spread){0.05, 0, 0}, 0.3, 10, rounds, &anything);
    if (!tap_ok(found * 10 >= rounds * 9,
                "3 %% of the run, in a function on a process, under 5 %% noise: 10 runs find it"))
        printf("# %d of %d\n", found, rounds);
    found = reported(&(struct spread){0.05, 0.05, 0}, 0.3, 10, rounds, &anything);
    if (!tap_ok(found * 10 >= rounds * 9,
                "also where the whole run has 5 %% noise, too, by its share of the computing"))
        printf("# %d of %d\n", found, rounds);
}

int main(int argc, char **argv)
{
    if (argc == 7)
        return by_hand(argv);
    distributions();
    sprof_intrusion();
    means();
    permutations();
    alarms();
    power();
    return tap_done();
}
