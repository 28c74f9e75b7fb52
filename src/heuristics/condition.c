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
    if (end == text || !isfinite(limit->value))
        return false;
    end += strspn(end, " ");
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
    return finding_find(name) < FINDING_KINDS ? VALUES : VALUES + 1;
}

/* One condition of at most `length` characters. */
static bool parse(const char *text, size_t length, struct condition *condition)
{
    char copy[128];
    if (length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    char *sign = strpbrk(copy, "<>");
    if (!sign || sign == copy)
        return false;
    condition->less = *sign == '<';
    *sign = '\0';
    snprintf(condition->name, sizeof condition->name, "%.*s", (int)strcspn(copy, " "), copy);
    size_t kind = name_kind(condition->name);
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
    bool known = guess.best && guess.distance == 0;
    return error_set(err, ERROR_USAGE, "--fail-on: '%.*s' is not a condition%s", (int)length, text,
                     known ? " (such as parallel-efficiency<0.8 or late-sender>5%)"
                           : guess_text(nearest, &guess, "", " (such as parallel-efficiency<0.8 or late-sender>5%)"));
}

enum status conditions_check(const char *conditions, struct error *err)
{
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
            return condition->limit.in_seconds ? findings->finding[i].saving_s : findings->finding[i].share;
    return 0;
}

bool conditions_hold(const char *conditions, const struct metrics *metrics, const struct findings *findings,
                     char text[CONDITION_TEXT_SIZE])
{
    for (const char *at = conditions;; at++) {
        struct condition condition;
        size_t length = strcspn(at, ",");
        if (parse(at, length, &condition)) {
            size_t kind = name_kind(condition.name);
            double value = kind < VALUES ? value_at(kind, metrics) : finding_value(findings, &condition);
            /* An unknown value fulfils no condition. */
            if (condition.less ? value < condition.limit.value : value > condition.limit.value) {
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
