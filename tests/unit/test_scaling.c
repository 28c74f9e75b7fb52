/* SPDX-License-Identifier: BSD-3-Clause */
/* Speed-ups, efficiencies and serial parts of the programs that Sprof was tried on, recomputed from the printed times
   (Jales Costa 2016, Table 1). */
#include "runs/scaling.h"

#include "unit/tap.h"

#include <math.h>

enum { SIZES = 7 };
static const unsigned threads[SIZES] = {1, 2, 4, 8, 16, 32, 64};
static const struct program {
    const char *name;
    double times[SIZES], speedups[SIZES], efficiencies[SIZES], serial[SIZES];
} programs[] = {
    {"Blackscholes",
     {501.448, 277.952, 166.025, 109.301, 80.887, 68.272, 60.688},
     {1, 1.804081, 3.020316, 4.587771, 6.199365, 7.344856, 8.262721},
     {1, 0.9020, 0.7551, 0.5735, 0.3875, 0.2295, 0.1291},
     {0, .10860, .10812, .10625, .10539, .10828, .10707}},
    {"Bodytrack",
     {559.482, 294.442, 156.550, 91.201, 54.815, 39.922, 31.270},
     {1, 1.900143, 3.573823, 6.134604, 10.206732, 14.014378, 17.891973},
     {1, 0.9501, 0.8935, 0.7668, 0.6379, 0.4379, 0.2796},
     {0, .05255, .03975, .04344, .03784, .04140, .04091}},
    {"Freqmine",
     {188.090, 99.929, 54.985, 32.531, 22.903, 18.309, 17.381},
     {1, 1.882236, 3.420751, 5.781870, 8.212461, 10.273090, 10.821587},
     {1, 0.9411, 0.8552, 0.7227, 0.5133, 0.3210, 0.1691},
     {0, .06257, .05644, .05481, .06322, .06822, .07800}},
};

static void check_program(const struct program *program)
{
    struct scaling_run runs[SIZES];
    struct error err = {0};
    /* The order of the runs does not matter. */
    for (int i = 0; i < SIZES; i++)
        runs[i] = (struct scaling_run){
            .processes = 1, .threads = threads[SIZES - 1 - i], .time_s = program->times[SIZES - 1 - i]};
    struct scaling *scaling = scaling_of(runs, SIZES, false, &err);
    double worst_speedup = 0, worst_efficiency = 0, worst_serial = 0;
    for (int i = 0; i < SIZES; i++) {
        const struct scaling_size *size = &scaling->sizes[i];
        worst_speedup = fmax(worst_speedup, fabs(size->speedup - program->speedups[i]));
        worst_efficiency = fmax(worst_efficiency, fabs(size->efficiency - program->efficiencies[i]));
        worst_serial = i ? fmax(worst_serial, fabs(size->serial - program->serial[i])) : worst_serial;
    }
    tap_ok(worst_speedup <= 0.5e-6 + 1e-12, "%s: speed-ups to 6 decimals", program->name);
    tap_ok(worst_efficiency <= 0.5e-4 + 1e-12, "%s: efficiencies to 4 decimals", program->name);
    tap_ok(worst_serial <= 0.5e-5 + 1e-12, "%s: Karp and Flatt to 5 decimals", program->name);
    tap_ok(isnan(scaling->sizes[0].serial), "%s: the reference has none", program->name);
    tap_ok(scaling->half_measured && scaling->half_n == (program == &programs[0] ? 16 : 32),
           "%s: efficiency falls below 50 %%", program->name);
    tap_ok(scaling->rows[0].law.found && scaling->rows[0].law.power < 0, "%s: more threads are faster", program->name);
    scaling_free(scaling);
}

/* Runs of a program that obeys Amdahl's law exactly, with f = 2/17: T(n) = 1 + 7.5 / n. */
static void amdahl(void)
{
    struct scaling_run runs[10];
    struct error err = {0};
    for (unsigned i = 0; i < 5; i++)
        for (unsigned r = 0; r < 2; r++) /* repeats whose mean is exact */
            runs[2 * i + r] = (struct scaling_run){
                .processes = 1u << i, .threads = 1, .time_s = (1 + 7.5 / (double)(1u << i)) * (r ? 1.25 : 0.75)};
    struct scaling *scaling = scaling_of(runs, 10, false, &err);
    tap_equal_int((long long)scaling->size_count, 5, "repeats are one size");
    tap_equal_int((long long)scaling->sizes[2].repeats, 2, "of two runs");
    tap_ok(fabs(scaling->amdahl - 2.0 / 17) < 1e-12, "Amdahl's serial part");
    tap_ok(fabs(scaling->sizes[4].serial - 2.0 / 17) < 1e-12, "Karp and Flatt's as well");
    tap_ok(fabs(scaling->sizes[1].least_s - 0.75 * 4.75) < 1e-12 &&
               fabs(scaling->sizes[1].most_s - 1.25 * 4.75) < 1e-12,
           "shortest and longest run");
    tap_ok(scaling->forecasts[1].n == 64 && fabs(scaling->forecasts[1].time.time_s - (1 + 7.5 / 64)) < 1e-9,
           "time at 4 times the largest run");
    /* E = 8.5 / (n + 7.5) < 1/2 from n = 10 on: 16 is measured. */
    tap_ok(scaling->half_measured && scaling->half_n == 16, "efficiency below 50 %%: measured at 16");
    scaling_free(scaling);
    scaling = scaling_of(runs, 8, false, &err);
    tap_ok(!scaling->half_measured && scaling->half_n == 10, "by the law at 10, where 8 is the largest run");
    scaling_free(scaling);
}

static void weak(void)
{
    struct scaling_run runs[] = {{.processes = 2, .time_s = 4}, {.processes = 8, .time_s = 5}};
    struct error err = {0};
    struct scaling *scaling = scaling_of(runs, 2, true, &err);
    tap_ok(scaling->sizes[1].efficiency == 0.8 && scaling->sizes[1].speedup == 3.2,
           "weak: efficiency, scaled speed-up");
    tap_ok(scaling->too_few && !scaling->rows[0].law.found, "two sizes give no law");
    scaling_free(scaling);
    runs[1].processes = 2;
    tap_ok(!scaling_of(runs, 2, true, &err), "one size is refused");
}

int main(void)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        check_program(&programs[i]);
    amdahl();
    weak();
    return tap_done();
}
