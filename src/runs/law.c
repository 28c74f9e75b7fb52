/* SPDX-License-Identifier: BSD-3-Clause */
#include "runs/law.h"

#include "core/numbers.h"

#include <math.h>
#include <stdio.h>

/* Powers and logarithms that occur in the costs of algorithms and of communication. Simple ones come first: if laws
   predict equally well, the first is chosen. */
static const struct shape {
    double power;
    int logs;
    bool with_constant;
} shapes[] = {
    {0, 0, false},    {-1, 0, false},   {1, 0, false},     {0, 1, true},     {-1, 0, true},     {1, 0, true},
    {-0.5, 0, false}, {0.5, 0, false},  {2, 0, false},     {0, 1, false},    {1, 1, false},     {1, 1, true},
    {2, 0, true},     {0.5, 0, true},   {-0.5, 0, true},   {0, 2, true},     {-1, 1, true},     {3, 0, false},
    {1.5, 0, false},  {1.5, 0, true},   {3, 0, true},      {2, 1, true},     {2, 1, false},     {-2, 0, true},
    {-2, 0, false},   {0.5, 1, true},   {-0.5, 1, true},   {1, 2, true},     {0, 2, false},     {-1.5, 0, true},
    {-1.5, 0, false}, {0.25, 0, false}, {-0.25, 0, false}, {0.75, 0, false}, {-0.75, 0, false},
};
enum { SHAPES = sizeof shapes / sizeof *shapes, NO_POINT = -1 };

/* Student's t for a two-sided interval of 90 %, by degrees of freedom from 1 on. Beyond the table the normal quantile
   and the first term of its expansion, right to 0.01. */
static double student(size_t freedom)
{
    static const double t[] = {6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812};
    /* As many coefficients as points: nothing is known about the noise. */
    if (freedom == 0)
        return INFINITY;
    if (freedom <= sizeof t / sizeof *t)
        return t[freedom - 1];
    return 1.645 + 1.6 / (double)freedom;
}

static size_t coefficients(const struct shape *shape)
{
    return shape->with_constant ? 2 : 1;
}

static double term(const struct shape *shape, double p)
{
    return pow(p, shape->power) * pow(log2(p), shape->logs);
}

/* A fit of one shape: time = constant + factor * term. `inverse` is the inverse of the normal matrix, for intervals. */
struct fit {
    double constant, factor;
    double inverse[3]; /* of constant, of both, of factor */
    bool valid;
};

/* Least squares of relative errors, over all points but one. */
static struct fit fit_shape(const struct shape *shape, const struct law_point *points, size_t count, int without)
{
    double s11 = 0, s1x = 0, sxx = 0, s1y = 0, sxy = 0;
    for (size_t i = 0; i < count; i++) {
        if ((int)i == without)
            continue;
        /* Noise in proportion to the time: relative errors have the same weight; a mean of n runs has n times it. */
        double weight = points[i].repeats / (points[i].time_s * points[i].time_s);
        double x = term(shape, points[i].p);
        s11 += weight;
        s1x += weight * x;
        sxx += weight * x * x;
        s1y += weight * points[i].time_s;
        sxy += weight * x * points[i].time_s;
    }
    struct fit fit = {0};
    if (!shape->with_constant) {
        fit.factor = ratio_of(sxy, sxx);
        fit.inverse[2] = ratio_of(1, sxx);
        fit.valid = sxx > 0;
        return fit;
    }
    /* Nearly 0: the term hardly changes over the points, and is no different from the constant. */
    double determinant = s11 * sxx - s1x * s1x;
    if (!(determinant > 1e-12 * s11 * sxx))
        return fit;
    fit.constant = (s1y * sxx - sxy * s1x) / determinant;
    fit.factor = (s11 * sxy - s1x * s1y) / determinant;
    fit.inverse[0] = sxx / determinant;
    fit.inverse[1] = -s1x / determinant;
    fit.inverse[2] = s11 / determinant;
    /* A negative constant would predict negative times beyond the points. */
    fit.valid = fit.constant >= 0 && fit.factor > 0;
    return fit;
}

static double fitted(const struct shape *shape, const struct fit *fit, double p)
{
    return fit->constant + fit->factor * term(shape, p);
}

/* Cross-validation of a shape: the squares of its relative errors, a point left out each time, and their mean. */
enum { MOST_POINTS = 256 };
struct score {
    double mean;
    double squares[MOST_POINTS];
    bool valid;
};

static void score_shape(struct score *score, const struct shape *shape, const struct law_point *points, size_t count)
{
    score->valid = fit_shape(shape, points, count, NO_POINT).valid;
    double sum = 0;
    for (size_t i = 0; i < count && score->valid; i++) {
        struct fit fit = fit_shape(shape, points, count, (int)i);
        /* As logarithm: half and twice the time are equally wrong. */
        double error = log(fmax(fitted(shape, &fit, points[i].p), 1e-300) / points[i].time_s);
        score->squares[i] = error * error;
        score->valid = fit.valid;
        sum += error * error;
    }
    score->mean = sum / (double)count;
}

/* Scores of all shapes; returns the index of the best, or SHAPES. */
static size_t score_all(struct score scores[SHAPES], const struct law_point *points, size_t count)
{
    size_t best = SHAPES;
    for (size_t i = 0; i < SHAPES; i++) {
        score_shape(&scores[i], &shapes[i], points, count);
        if (scores[i].valid && (best == SHAPES || scores[i].mean < scores[best].mean))
            best = i;
    }
    return best;
}

/* True if the mean is not larger than the best by more than the standard error of the difference, point by point.
   Exact points have errors of rounding only. */
static bool is_as_good(const struct score *score, const struct score *best, size_t count)
{
    if (!score->valid)
        return false;
    double n = (double)count, mean = score->mean - best->mean, variance = 0;
    for (size_t i = 0; i < count; i++) {
        double off = score->squares[i] - best->squares[i] - mean;
        variance += off * off;
    }
    return mean <= sqrt(variance / (n * (n - 1))) + 1e-12;
}

struct law law_of(const struct law_point *points, size_t count)
{
    struct law law = {.points = count};
    struct score scores[SHAPES];
    /* With fewer points several shapes fit exactly; more are runs that nobody made by hand. */
    if (count < LAW_POINTS || count > MOST_POINTS)
        return law;
    size_t best = score_all(scores, points, count);
    if (best == SHAPES)
        return law;
    /* Ends at the best at the latest, which is as good as itself. */
    size_t chosen = 0;
    while (!is_as_good(&scores[chosen], &scores[best], count))
        chosen++;
    const struct shape *shape = &shapes[chosen];
    struct fit fit = fit_shape(shape, points, count, NO_POINT);
    double squares = 0;
    for (size_t i = 0; i < count; i++) {
        double error = fitted(shape, &fit, points[i].p) / points[i].time_s - 1;
        squares += error * error * points[i].repeats;
    }
    law.constant_s = fit.constant;
    law.factor_s = fit.factor;
    if (shape->power == 0 && shape->logs == 0) { /* the term is 1: the factor is the constant */
        law.constant_s = fit.factor;
        law.factor_s = 0;
    }
    law.power = shape->power;
    law.logs = shape->logs;
    law.error = sqrt(scores[chosen].mean);
    law.spread = sqrt(squares / (double)(count - coefficients(shape)));
    law.found = true;
    return law;
}

double law_at(const struct law *law, double p)
{
    return law->constant_s + law->factor_s * pow(p, law->power) * pow(log2(p), law->logs);
}

struct law_interval law_predict(const struct law_point *points, size_t count, const struct law *law, double p)
{
    double time = law_at(law, p);
    struct law_interval interval = {time, time, time};
    struct score scores[SHAPES];
    size_t best = score_all(scores, points, count);
    for (size_t i = 0; i < SHAPES; i++) {
        if (!is_as_good(&scores[i], &scores[best], count))
            continue;
        const struct shape *shape = &shapes[i];
        struct fit fit = fit_shape(shape, points, count, NO_POINT);
        double at = fitted(shape, &fit, p), x = term(shape, p);
        /* The variance of a prediction: that of the fit, (1 x) N^-1 (1 x)^T, and that of a run's own noise; both in
           units of the relative residual. The interval covers all laws that fit as well: which is true is not known. */
        double of_fit = fit.inverse[0] + 2 * x * fit.inverse[1] + x * x * fit.inverse[2];
        double half = student(count - coefficients(shape)) * law->spread * sqrt(fmax(of_fit, 0) + at * at);
        interval.low_s = fmin(interval.low_s, fmax(at - half, 0));
        interval.high_s = fmax(interval.high_s, at + half);
    }
    return interval;
}

char *law_text(char text[LAW_TEXT_SIZE], const struct law *law)
{
    /* A time that does not depend on the size. */
    if (law->factor_s == 0) {
        snprintf(text, LAW_TEXT_SIZE, "constant");
        return text;
    }
    char constant[24] = "", power[24] = "", logs[24] = "";
    if (law->constant_s > 0)
        snprintf(constant, sizeof constant, "%.3g + ", law->constant_s);
    if (law->power == 1)
        snprintf(power, sizeof power, "·p");
    else if (law->power != 0)
        snprintf(power, sizeof power, "·p^%g", law->power);
    if (law->logs == 1)
        snprintf(logs, sizeof logs, "·log p");
    else if (law->logs > 1)
        snprintf(logs, sizeof logs, "·log^%d p", law->logs);
    snprintf(text, LAW_TEXT_SIZE, "%s%.3g%s%s", constant, law->factor_s, power, logs);
    return text;
}
