/* SPDX-License-Identifier: BSD-3-Clause */
/* Scaling laws of times whose law is known, with 5 % noise: the class is right, and so is the time at 4 times the
   largest run. */
#include "runs/law.h"

#include "unit/random.h"
#include "unit/tap.h"

#include <math.h>

static const struct known {
    const char *name;
    double constant, factor, power;
    int logs;
    double first; /* smallest p */
} laws[] = {
    {"constant", 3, 0, 0, 0, 1},           {"1/p", 0, 10, -1, 0, 1},
    {"serial and 1/p", 1, 20, -1, 0, 1},   {"p", 0, 2, 1, 0, 1},
    {"constant and p", 1, 2, 1, 0, 1},     {"root of p", 0, 4, 0.5, 0, 1},
    {"constant and log p", 1, 1, 0, 1, 1}, {"p log p", 0, 0.1, 1, 1, 2},
    {"p squared", 0, 0.5, 2, 0, 1},        {"1/root of p", 0, 8, -0.5, 0, 1},
};
enum { LAWS = sizeof laws / sizeof *laws, SIZES = 6, REPEATS = 3, ROUNDS = 200 };

static double truth(const struct known *law, double p)
{
    return law->constant + law->factor * pow(p, law->power) * pow(log2(p), law->logs);
}

static void make_points(const struct known *law, double spread, struct law_point points[SIZES])
{
    for (int i = 0; i < SIZES; i++) {
        double p = law->first * pow(2, i), sum = 0;
        for (int r = 0; r < REPEATS; r++)
            sum += truth(law, p) * (1 + spread * random_normal());
        points[i] = (struct law_point){p, sum / REPEATS, REPEATS};
    }
}

static bool same_class(const struct known *known, const struct law *law)
{
    if (known->factor == 0)
        return law->found && law->factor_s == 0;
    return law->found && law->factor_s > 0 && law->power == known->power && law->logs == known->logs;
}

static void exact_laws(void)
{
    for (size_t i = 0; i < LAWS; i++) {
        struct law_point points[SIZES];
        make_points(&laws[i], 0, points);
        struct law law = law_of(points, SIZES);
        double far = law.found ? law_at(&law, 1000) : 0;
        tap_ok(same_class(&laws[i], &law), "exact: %s: class", laws[i].name);
        tap_ok(fabs(far / truth(&laws[i], 1000) - 1) < 1e-9, "exact: %s: at 1,000", laws[i].name);
    }
}

static void noisy_laws(void)
{
    int right = 0, close = 0, covered = 0, all = 0;
    for (size_t i = 0; i < LAWS; i++)
        for (int round = 0; round < ROUNDS; round++) {
            struct law_point points[SIZES];
            make_points(&laws[i], 0.05, points);
            struct law law = law_of(points, SIZES);
            double p = 4 * points[SIZES - 1].p, at = truth(&laws[i], p);
            struct law_interval interval = law_predict(points, SIZES, &law, p);
            right += same_class(&laws[i], &law);
            close += fabs(law_at(&law, p) / at - 1) <= 0.15;
            covered += interval.low_s <= at && at <= interval.high_s;
            all++;
        }
    tap_ok(right >= 0.9 * all, "5 %% noise: class right in %d of %d", right, all);
    tap_ok(close >= 0.8 * all, "5 %% noise: within 15 %% at 4 times the largest in %d of %d", close, all);
    tap_ok(covered >= 0.9 * all, "5 %% noise: interval holds the truth in %d of %d", covered, all);
}

static void texts(void)
{
    char text[LAW_TEXT_SIZE];
    struct law law = {.found = true, .constant_s = 0.125, .factor_s = 3, .power = 1, .logs = 1};
    tap_equal_string(law_text(text, &law), "0.125 + 3·p·log p", "a law as text");
    law = (struct law){.found = true, .factor_s = 3.5, .power = -0.5, .logs = 2};
    tap_equal_string(law_text(text, &law), "3.5·p^-0.5·log^2 p", "another");
    law = (struct law){.found = true, .constant_s = 2};
    tap_equal_string(law_text(text, &law), "constant", "a constant");
}

int main(void)
{
    struct law_point few[] = {{1, 4, 1}, {2, 2, 1}, {4, 1, 1}};
    tap_ok(!law_of(few, 3).found, "three points are too few");
    exact_laws();
    noisy_laws();
    texts();
    return tap_done();
}
