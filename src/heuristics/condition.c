/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/condition.h"

#include "core/guess.h"
#include "core/numbers.h"
#include "heuristics/efficiency.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const value_names[] = {
#define CONDITION(name, expression) name,
#include "heuristics/conditions.def"
};
enum { VALUES = sizeof value_names / sizeof *value_names };

static double value_at(size_t index, const struct metrics *metrics)
{
    const struct analysis *analysis = metrics->analysis;
    /* All are computed for the one that is asked for: each takes a pass over the processes at most. */
    const double values[] = {
#define CONDITION(name, expression) expression,
#include "heuristics/conditions.def"
    };
    return values[index];
}

struct condition {
    char name[64];
    bool less; /* holds below the limit; else above */
    struct condition_limit limit;
};

bool condition_limit_parse(const char *text, struct condition_limit *limit)
{
    static const struct {
        const char *unit;
        double factor;
        bool seconds;
    } units[] = {{"", 1, false},     {"%", 0.01, false}, {"s", 1, true},
                 {"ms", 1e-3, true}, {"us", 1e-6, true}, {"ns", 1e-9, true}};
    char *end;
    limit->value = strtod(text, &end);
    /* strtod() also reads "inf" and "nan", which no number could be compared with. */
    if (end == text || !isfinite(limit->value))
        return false;
    end += strspn(end, " ");
    /* The whole rest must be a unit: "5x" and "5%x" are mistakes, not 5. */
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].unit) == 0) {
            limit->value *= units[i].factor;
            limit->in_seconds = units[i].seconds;
            limit->has_unit = *end != '\0';
            return true;
        }
    return false;
}

/* Index of the value with this name, VALUES for a finding, more if unknown. */
static size_t name_kind(const char *name)
{
    for (size_t i = 0; i < VALUES; i++)
        if (strcmp(value_names[i], name) == 0)
            return i;
    if (finding_find(name) < FINDING_KINDS)
        return VALUES;
    return VALUES + 1;
}

/* One condition of at most `length` characters. */
static bool parse(const char *text, size_t length, struct condition *condition)
{
    char copy[128];
    if (length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    /* Neither "<=" nor "==": equal is nothing that measured times are. */
    char *sign = strpbrk(copy, "<>");
    if (!sign || sign == copy)
        return false;
    condition->less = *sign == '<';
    *sign = '\0';
    snprintf(condition->name, sizeof condition->name, "%.*s", (int)strcspn(copy, " "), copy);
    size_t kind = name_kind(condition->name);
    /* Efficiencies and shares have no seconds to be compared with. */
    return condition_limit_parse(sign + 1, &condition->limit) && kind <= VALUES &&
           (kind == VALUES || !condition->limit.in_seconds);
}

static enum status not_a_condition(const char *text, size_t length, struct error *err)
{
    char nearest[GUESS_TEXT];
    size_t name = strcspn(text, "<> ,");
    struct guess guess = guess_of(text, smaller(name, length));
    for (size_t i = 0; i < VALUES; i++)
        guess_try(&guess, value_names[i]);
    for (enum finding_kind kind = 0; kind < FINDING_KINDS; kind++)
        guess_try(&guess, finding_id(kind));
    /* With a known name the rest is wrong: an example helps more than the name it already has. */
    const char *help = " (such as parallel-efficiency<0.8 or late-sender>5%)";
    if (!guess.best || guess.distance != 0)
        help = guess_text(nearest, &guess, "", help);
    return error_set(err, ERROR_USAGE, "--fail-on: '%.*s' is not a condition%s", (int)length, text, help);
}

enum status conditions_check(const char *conditions, struct error *err)
{
    /* Conditions are separated by commas; all are checked, so that a fault in the last shows before the trace is
     * read. */
    for (const char *at = conditions;; at++) {
        struct condition condition;
        size_t length = strcspn(at, ",");
        if (!parse(at, length, &condition))
            return not_a_condition(at, length, err);
        at += length;
        if (!*at)
            return STATUS_OK;
    }
}

/* A window or a part of the processes has no findings: a condition on one would always hold, or never. */
static bool is_known(const struct condition *condition, const struct metrics *metrics)
{
    size_t kind = name_kind(condition->name);
    bool is_whole = metrics->analysis && metrics->analysis->process_count == metrics->process_count;
    if (kind < VALUES)
        return !isnan(value_at(kind, metrics));
    return is_whole;
}

enum status conditions_known(const char *conditions, const struct metrics *metrics, struct error *err)
{
    for (const char *at = conditions;; at++) {
        struct condition condition;
        size_t length = strcspn(at, ",");
        if (parse(at, length, &condition) && !is_known(&condition, metrics))
            return error_set(err, ERROR_USAGE,
                             "--fail-on: %s is only known of a whole run: not with --from, --to or --processes, nor of "
                             "metrics made with them",
                             condition.name);
        at += length;
        if (!*at)
            return STATUS_OK;
    }
}

static double finding_value(const struct findings *findings, const struct condition *condition)
{
    for (size_t i = 0; i < findings->count; i++)
        if (strcmp(findings->finding[i].id, condition->name) == 0)
            /* In the unit of its limit: a finding has seconds and a share. */
            return condition->limit.in_seconds ? findings->finding[i].saving_s : findings->finding[i].share;
    /* A finding that is not reported saves nothing that could be seen: it is below any limit. */
    return 0;
}

static double value_of(const struct condition *condition, const struct metrics *metrics,
                       const struct findings *findings)
{
    size_t kind = name_kind(condition->name);
    if (kind < VALUES)
        return value_at(kind, metrics);
    return finding_value(findings, condition);
}

/* An unknown value (NaN) fulfils no condition: both comparisons are false. */
static bool holds(const struct condition *condition, double value)
{
    if (condition->less)
        return value < condition->limit.value;
    return value > condition->limit.value;
}

bool conditions_hold(const char *conditions, const struct metrics *metrics, const struct findings *findings,
                     char text[CONDITION_TEXT_SIZE])
{
    for (const char *at = conditions;; at++) {
        struct condition condition;
        size_t length = strcspn(at, ",");
        if (parse(at, length, &condition)) {
            double value = value_of(&condition, metrics, findings);
            if (holds(&condition, value)) {
                snprintf(text, CONDITION_TEXT_SIZE, "%s is %.3g%s: %.*s", condition.name, value,
                         condition.limit.in_seconds ? " s" : "", (int)length, at);
                return true;
            }
        }
        at += length;
        if (!*at)
            return false;
    }
}
