/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_SEARCH_EXPRESSION_H
#define SIGHT_SEARCH_EXPRESSION_H

#include "core/error.h"
#include "core/text.h"
#include "metrics/analysis.h"
#include "metrics/search.h"

/* Metrics joined by + - * / max min, as Paradyn's PCmetric joins them:

       sum     := product { ("+" | "-") product }
       product := factor { ("*" | "/") factor }
       factor  := number | metric | "counter(" name ")" | ("max" | "min") "(" sum { "," sum } ")" | "(" sum ")"

   Numbers are decimal, without sign or exponent. Added or compared values must have the same unit. */

/* The metrics: those of metrics.def, then the kinds of waits, METRIC_WAITS + kind. */
enum metric_source { SOURCE_RUN, SOURCE_SPAN, SOURCE_GAP, SOURCE_CALL };
enum search_metric {
#define METRIC(name, ...) METRIC_##name,
#include "search/metrics.def"
    METRIC_WAITS,
    METRIC_COUNT = METRIC_WAITS + WAIT_KIND_COUNT
};

/* NULL if there is no such metric (WAIT_NONE). */
const char *metric_name(unsigned metric);
enum metric_source metric_source_of(unsigned metric);
struct search_unit metric_unit(unsigned metric);

/* True for metrics that depend on the clocks of several processes: waits and metrics derived from them. */
bool metric_needs_clocks(unsigned metric);

/* A number of a unit as people read it: "1.23 ms", "66 kB/s", "12 %" of a share; "-" of NAN. */
char *search_unit_text(char buffer[TEXT_NUMBER_SIZE], struct search_unit unit, bool percent, double value);

/* The metric of this name, or METRIC_COUNT. */
unsigned metric_find(const char *name, size_t length);

/* In postfix order. */
enum { EXPRESSION_STEPS = 64, EXPRESSION_DEPTH = 16 };
struct expression {
    struct expression_step {
        char op;        /* + - * / > (max) < (min) # (number) m (metric) */
        uint8_t metric; /* enum search_metric; METRIC_COUNT + n: the nth of the names besides */
        double number;
    } steps[EXPRESSION_STEPS];
    size_t count;
    size_t numerator; /* steps of what is above the last fraction line; 0: there is none */
    struct search_unit unit, numerator_unit;
};

/* Metrics besides those of metrics.def, by number from METRIC_COUNT on. */
struct expression_names {
    struct expression_name {
        const char *name;
        struct search_unit unit;
    } * list;
    size_t count;
};

/* An error message begins with `where` ("FILE:LINE"). `names`: NULL: none. */
enum status expression_parse(struct expression *expression, const char *text, const struct expression_names *names,
                             const char *where, struct error *err);

/* False if the value is not known: a division by zero, an overflow, or a metric that is NAN. `values` by metric. */
bool expression_value(const struct expression *expression, const double *values, double *value);
bool expression_numerator(const struct expression *expression, const double *values, double *value);

/* True if one of its metrics is of this kind. */
bool expression_uses(const struct expression *expression, unsigned metric);
bool expression_needs_clocks(const struct expression *expression);

/* True if it only uses computing and spans, not calls. */
bool expression_is_of_gaps(const struct expression *expression);

#endif
