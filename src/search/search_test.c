/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/search_test.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>

enum { REASON_SIZE = 160 };

/* A time as ns, within what they hold. */
static int64_t ns_of(double seconds)
{
    return llround(fmax(-9e18, fmin(seconds * 1e9, 9e18)));
}

static bool is_time(struct search_unit unit)
{
    return unit.seconds == 1 && unit.bytes == 0 && unit.counts == 0;
}

/* The time of the test: the part above the fraction line, or the value itself. */
static void take_time(struct search_node *node, const struct expression *value, const double *values)
{
    /* "waiting / time": what costs time is the waiting, not the share. */
    double seconds;
    if (expression_numerator(value, values, &seconds) && is_time(value->numerator_unit))
        node->has_time = true;
    else if (node->has_value && is_time(value->unit)) {
        seconds = node->value;
        node->has_time = true;
    }
    if (node->has_time)
        node->ns = ns_of(seconds);
}

/* Why the result is unknown, or NULL. */
static const char *too_little(const struct hypotheses *all, const struct expression *value, const double *values,
                              char reason[REASON_SIZE])
{
    char count[TEXT_NUMBER_SIZE], time[TEXT_NUMBER_SIZE];
    double calls = values[METRIC_calls], processes = values[METRIC_processes];
    /* Computing has no calls: only its time can be too short. */
    if (!expression_is_of_gaps(value) && calls < (double)all->least_calls) {
        if (calls < 1)
            return "there are no calls";
        snprintf(reason, REASON_SIZE, "too few calls to judge: %s", text_thousands(count, (uint64_t)calls));
        return reason;
    }
    /* The time of one process: of thousands, even nothing adds up. */
    int64_t each_ns = ns_of(ratio_of(values[METRIC_time], processes));
    if (each_ns < all->least_ns) {
        snprintf(reason, REASON_SIZE, "too short to judge: %s", text_duration(time, each_ns));
        return reason;
    }
    return NULL;
}

static const char *below_clock(const struct cube *cube, const struct expression *value, const struct search_node *node,
                               const double *values, char reason[REASON_SIZE])
{
    char time[TEXT_NUMBER_SIZE];
    /* The clock error is that of one process: compared with the time of one. */
    double each = node->value * values[METRIC_time];
    if (node->has_time)
        each = (double)node->ns / 1e9;
    if (values[METRIC_processes] > 0)
        each /= values[METRIC_processes];
    if (!expression_needs_clocks(value) || each * 1e9 > (double)cube->graph->clock_error_ns)
        return NULL;
    snprintf(reason, REASON_SIZE, "not more than the trace's clock error (%s)",
             text_duration(time, cube->graph->clock_error_ns));
    return reason;
}

/* The state, and of an unknown one why. */
static const char *judge(const struct search_input *input, const struct cube *cube, const struct expression *value,
                         struct search_node *node, const double *values, const double *doubts, char reason[REASON_SIZE])
{
    const char *why = too_little(input->hypotheses, value, values, reason);
    double other;
    if (why)
        return why;
    if (!node->has_value)
        return "division by zero";
    bool is_true = node->value > node->threshold;
    node->state = SEARCH_FALSE;
    if (is_true)
        node->state = SEARCH_TRUE;
    /* If what is missing could turn the answer, there is none. */
    if (doubts && (!expression_value(value, doubts, &other) || (other > node->threshold) != is_true))
        return "the trace lacks data: partners, roots or sizes of messages";
    if (!is_true)
        return NULL;
    return below_clock(cube, value, node, values, reason);
}

struct search_node search_test_node(const struct search_input *input, const struct cube *cube,
                                    const struct hypothesis *hypothesis, const struct cube_focus *focus,
                                    enum search_axis axis, const struct cube_cell *cell)
{
    double values[METRIC_COUNT], doubts[METRIC_COUNT];
    char reason[REASON_SIZE];
    const struct expression *value = &hypothesis->value;
    bool doubtful = cube_values(cube, focus, axis, cell, values, doubts);
    struct search_node node = {.axis = axis,
                               .hypothesis = memory_copy_string(hypothesis->name),
                               .threshold = hypothesis->threshold,
                               .unit = value->unit,
                               .calls = (uint64_t)cell->sums[METRIC_calls]};
    node.has_value = expression_value(value, values, &node.value);
    take_time(&node, value, values);
    const double *other = NULL;
    if (doubtful)
        other = doubts;
    const char *why = judge(input, cube, value, &node, values, other, reason);
    if (why) {
        node.state = SEARCH_UNKNOWN;
        node.reason = memory_copy_string(why);
    }
    return node;
}
