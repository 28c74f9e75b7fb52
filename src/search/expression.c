/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/expression.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/guess.h"
#include "core/numbers.h"
#include "core/text.h"

static const struct metric {
    const char *name, *meaning;
    struct search_unit unit;
    enum metric_source source;
} metrics[METRIC_WAITS] = {
#define METRIC(name, seconds, bytes, counts, source, meaning)                                                          \
    {#name, meaning, {seconds, bytes, counts}, SOURCE_##source},
#include "search/metrics.def"
};

/* Names of waits with underscores, by kind. */
static const char *const wait_names[WAIT_KIND_COUNT] = {
    NULL,
#define WAIT(kind, id, ...) id,
#include "metrics/waits.def"
};

const char *metric_name(unsigned metric)
{
    /* Time in calls on files has a name of its own: io. */
    if (metric == METRIC_WAITS + WAIT_IO)
        return NULL;
    if (metric < METRIC_WAITS)
        return metrics[metric].name;
    return wait_names[metric - METRIC_WAITS];
}

enum metric_source metric_source_of(unsigned metric)
{
    return metric < METRIC_WAITS ? metrics[metric].source : SOURCE_CALL;
}

/* Waits compare times of different processes: below the clock error they say nothing. */
bool metric_needs_clocks(unsigned metric)
{
    return metric > METRIC_WAITS || metric == METRIC_waiting || metric == METRIC_caused;
}

struct search_unit metric_unit(unsigned metric)
{
    return metric < METRIC_WAITS ? metrics[metric].unit : (struct search_unit){1, 0, 0};
}

static bool is_unit(struct search_unit unit, int seconds, int bytes, int counts)
{
    return unit.seconds == seconds && unit.bytes == bytes && unit.counts == counts;
}

char *search_unit_text(char buffer[TEXT_NUMBER_SIZE], struct search_unit unit, bool percent, double value)
{
    /* Beyond 9e9 s and 9e18 bytes a number does not fit into int64_t. */
    if (isnan(value))
        snprintf(buffer, TEXT_NUMBER_SIZE, "-");
    else if (percent)
        text_share(buffer, value);
    else if (is_unit(unit, 1, 0, 0) && fabs(value) < 9e9)
        text_duration(buffer, llrint(value * 1e9));
    else if (is_unit(unit, 0, 1, 0) && value >= 0 && value < 9e18)
        text_bytes(buffer, (uint64_t)llrint(value));
    else if (is_unit(unit, -1, 1, 0) && value >= 0 && value < 9e18)
        snprintf(buffer, TEXT_NUMBER_SIZE, "%s/s", text_bytes((char[TEXT_NUMBER_SIZE]){0}, (uint64_t)llrint(value)));
    else if (value >= 0 && value == floor(value) && value < 9e18)
        text_thousands(buffer, (uint64_t)value);
    else
        snprintf(buffer, TEXT_NUMBER_SIZE, "%.4g", value);
    return buffer;
}

/* A wait's name is its id, with underscores. */
static bool is_name(const char *id, const char *name, size_t length)
{
    if (!id || strlen(id) != length)
        return false;
    for (size_t i = 0; i < length; i++) {
        char letter = id[i];
        if (letter == '-') /* a minus in an expression */
            letter = '_';
        if (letter != name[i])
            return false;
    }
    return true;
}

unsigned metric_find(const char *name, size_t length)
{
    for (unsigned metric = 0; metric < METRIC_COUNT; metric++)
        if (is_name(metric_name(metric), name, length))
            return metric;
    return METRIC_COUNT;
}

/* A value under construction: where its steps begin, and its unit. Numbers match every unit: 2 in "2 * compute" and in
   "waiting - 2" alike. Steps are in reverse Polish order, so that a part is a run of them. */
struct part {
    size_t begin;
    struct search_unit unit;
    bool is_number;
};

struct parser {
    struct expression *expression;
    const struct expression_names *names;
    const char *at, *where;
    int depth;
    struct error *err;
};

static enum status parse_sum(struct parser *parser, struct part *part);

static enum status fault(struct parser *parser, const char *what)
{
    if (!*parser->at)
        return error_set(parser->err, ERROR_USAGE, "%s: %s, at the end of the line", parser->where, what);
    return error_set(parser->err, ERROR_USAGE, "%s: %s, at '%.20s'", parser->where, what, parser->at);
}

static void blanks(struct parser *parser)
{
    while (*parser->at == ' ' || *parser->at == '\t')
        parser->at++;
}

/* True if the next character is this one, which is then passed. */
static bool takes(struct parser *parser, char character)
{
    blanks(parser);
    if (*parser->at != character)
        return false;
    parser->at++;
    return true;
}

static enum status add_step(struct parser *parser, struct expression_step step)
{
    if (parser->expression->count == EXPRESSION_STEPS)
        return error_set(parser->err, ERROR_USAGE, "%s: the expression has more than %d parts", parser->where,
                         EXPRESSION_STEPS);
    parser->expression->steps[parser->expression->count++] = step;
    return STATUS_OK;
}

static bool same_unit(struct search_unit a, struct search_unit b)
{
    return a.seconds == b.seconds && a.bytes == b.bytes && a.counts == b.counts;
}

/* + - max min: of one unit. * /: units are multiplied; there are few factors enough for int8_t. */
static enum status join(struct parser *parser, struct part *left, const struct part *right, char op)
{
    if (op == '*' || op == '/') {
        int sign = 1;
        if (op == '/')
            sign = -1;
        left->unit = (struct search_unit){(int8_t)(left->unit.seconds + sign * right->unit.seconds),
                                          (int8_t)(left->unit.bytes + sign * right->unit.bytes),
                                          (int8_t)(left->unit.counts + sign * right->unit.counts)};
        left->is_number &= right->is_number;
    } else {
        if (!left->is_number && !right->is_number && !same_unit(left->unit, right->unit))
            return fault(parser, "operands have different units");
        if (left->is_number)
            left->unit = right->unit;
        left->is_number &= right->is_number;
    }
    return add_step(parser, (struct expression_step){.op = op});
}

static enum status parse_number(struct parser *parser, struct part *part)
{
    /* strtod alone would also take signs, exponents, "inf" and hexadecimal numbers. */
    char digits[32];
    size_t length = strspn(parser->at, "0123456789.");
    if (length >= sizeof digits)
        return fault(parser, "a number with too many digits");
    memcpy(digits, parser->at, length);
    digits[length] = '\0';
    char *end;
    double number = strtod(digits, &end);
    if (*end)
        return fault(parser, "not a number");
    parser->at += length;
    part->is_number = true;
    return add_step(parser, (struct expression_step){.op = '#', .number = number});
}

/* "(" sum { "," sum } ")" of max and min. */
static enum status parse_extreme(struct parser *parser, struct part *part, char op)
{
    if (!takes(parser, '('))
        return fault(parser, "max and min need parentheses");
    if (parse_sum(parser, part) != STATUS_OK)
        return STATUS_FAILED;
    while (takes(parser, ',')) {
        struct part next;
        if (parse_sum(parser, &next) != STATUS_OK || join(parser, part, &next, op) != STATUS_OK)
            return STATUS_FAILED;
    }
    if (!takes(parser, ')'))
        return fault(parser, "missing ) or ,");
    return STATUS_OK;
}

static bool own_find(const struct expression_names *names, const char *word, size_t length, unsigned *metric,
                     struct search_unit *unit)
{
    for (size_t i = 0; names && i < names->count; i++)
        if (strlen(names->list[i].name) == length && memcmp(names->list[i].name, word, length) == 0) {
            *metric = METRIC_COUNT + (unsigned)i;
            *unit = names->list[i].unit;
            return true;
        }
    return false;
}

/* A near name is better than a list, a list better than nothing. */
static enum status unknown_metric(struct parser *parser, const char *word, size_t length)
{
    char names[512] = "", nearest[GUESS_TEXT], waits[WAIT_KIND_COUNT][GUESS_WORD];
    int shown = (int)smaller(length, (size_t)40);
    struct guess guess = guess_of(word, length);
    for (unsigned metric = 0; metric < METRIC_WAITS; metric++) {
        text_append(names, sizeof names, " %s", metrics[metric].name);
        guess_try(&guess, metrics[metric].name);
    }
    for (int kind = 0; kind < WAIT_KIND_COUNT; kind++) {
        snprintf(waits[kind], sizeof waits[kind], "%s", wait_names[kind] ? wait_names[kind] : "");
        for (char *at = waits[kind]; *at; at++)
            if (*at == '-')
                *at = '_';
        guess_try(&guess, waits[kind]);
    }
    for (size_t i = 0; parser->names && i < parser->names->count; i++)
        guess_try(&guess, parser->names->list[i].name);
    if (guess.best)
        return error_set(parser->err, ERROR_USAGE, "%s: unknown metric '%.*s'%s", parser->where, shown, word,
                         guess_text(nearest, &guess, "", ""));
    return error_set(parser->err, ERROR_USAGE, "%s: unknown metric '%.*s'; there are:%s, and waits such as late_sender",
                     parser->where, shown, word, names);
}

static enum status parse_word(struct parser *parser, struct part *part)
{
    const char *word = parser->at;
    size_t length = 0;
    while (isalnum((unsigned char)word[length]) || word[length] == '_')
        length++;
    /* counter(NAME): names of counters have blanks and colons. */
    if (length == 7 && memcmp(word, "counter", 7) == 0 && word[length] == '(')
        length += strcspn(word + length, ")") + 1;
    if (strnlen(word, length) < length)
        return fault(parser, "missing )");
    if (length == 3 && (memcmp(word, "max", 3) == 0 || memcmp(word, "min", 3) == 0)) {
        parser->at += length;
        return parse_extreme(parser, part, word[1] == 'a' ? '>' : '<'); /* the steps of max and min */
    }
    unsigned metric = metric_find(word, length);
    if (metric < METRIC_COUNT)
        part->unit = metric_unit(metric);
    else if (!own_find(parser->names, word, length, &metric, &part->unit))
        return unknown_metric(parser, word, length);
    parser->at += length;
    return add_step(parser, (struct expression_step){.op = 'm', .metric = (uint8_t)metric});
}

static enum status parse_factor(struct parser *parser, struct part *part)
{
    blanks(parser);
    *part = (struct part){.begin = parser->expression->count};
    if (isdigit((unsigned char)*parser->at))
        return parse_number(parser, part);
    if (isalpha((unsigned char)*parser->at))
        return parse_word(parser, part);
    if (!takes(parser, '('))
        return fault(parser, "missing metric, number or (");
    if (parse_sum(parser, part) != STATUS_OK)
        return STATUS_FAILED;
    if (!takes(parser, ')'))
        return fault(parser, "missing )");
    return STATUS_OK;
}

/* The operator at hand if it is one of the two, which the parser then has passed; '\0'. */
static char takes_one(struct parser *parser, char one, char other)
{
    if (takes(parser, one))
        return one;
    return takes(parser, other) ? other : '\0';
}

static enum status parse_product(struct parser *parser, struct part *part)
{
    if (parse_factor(parser, part) != STATUS_OK)
        return STATUS_FAILED;
    for (;;) {
        char op = takes_one(parser, '*', '/');
        struct part next;
        if (!op)
            return STATUS_OK;
        if (parse_factor(parser, &next) != STATUS_OK)
            return STATUS_FAILED;
        /* The steps before the divisor are the numerator: its time is what a share costs. */
        parser->expression->numerator = 0;
        if (op == '/')
            parser->expression->numerator = next.begin;
        parser->expression->numerator_unit = part->unit;
        if (join(parser, part, &next, op) != STATUS_OK)
            return STATUS_FAILED;
    }
}

static enum status parse_sum(struct parser *parser, struct part *part)
{
    /* Parsing calls itself for each parenthesis: a file must not exhaust the stack. */
    if (++parser->depth > EXPRESSION_DEPTH)
        return error_set(parser->err, ERROR_USAGE, "%s: the expression is nested more than %d deep", parser->where,
                         EXPRESSION_DEPTH);
    if (parse_product(parser, part) != STATUS_OK)
        return STATUS_FAILED;
    for (;;) {
        char op = takes_one(parser, '+', '-');
        struct part next;
        if (!op)
            break;
        if (parse_product(parser, &next) != STATUS_OK || join(parser, part, &next, op) != STATUS_OK)
            return STATUS_FAILED;
    }
    parser->depth--;
    return STATUS_OK;
}

enum status expression_parse(struct expression *expression, const char *text, const struct expression_names *names,
                             const char *where, struct error *err)
{
    struct parser parser = {.expression = expression, .names = names, .at = text, .where = where, .err = err};
    struct part whole;
    *expression = (struct expression){0};
    if (parse_sum(&parser, &whole) != STATUS_OK)
        return STATUS_FAILED;
    blanks(&parser);
    if (*parser.at)
        return fault(&parser, "missing operator");
    expression->unit = whole.unit;
    /* The last fraction line is the whole's only if it is the last step. */
    if (expression->steps[expression->count - 1].op != '/')
        expression->numerator = 0;
    return STATUS_OK;
}

/* Cannot fail but by dividing: the parser has made sure that each operator has two operands. */
static bool run(const struct expression_step *steps, size_t count, const double *values, double *value)
{
    double stack[EXPRESSION_STEPS];
    size_t top = 0;
    for (size_t i = 0; i < count; i++) {
        if (steps[i].op == '#') {
            stack[top++] = steps[i].number;
            continue;
        }
        if (steps[i].op == 'm') {
            /* max and min would drop what is not known. */
            if (isnan(values[steps[i].metric]))
                return false;
            stack[top++] = values[steps[i].metric];
            continue;
        }
        double right = stack[--top], *left = &stack[top - 1];
        switch (steps[i].op) {
        case '+':
            *left += right;
            break;
        case '-':
            *left -= right;
            break;
        case '*':
            *left *= right;
            break;
        case '/':
            if (right == 0) /* the test is unknown, not infinite */
                return false;
            *left /= right;
            break;
        case '>':
            *left = fmax(*left, right);
            break;
        default:
            *left = fmin(*left, right);
        }
    }
    *value = stack[0];
    return isfinite(stack[0]);
}

bool expression_value(const struct expression *expression, const double *values, double *value)
{
    return run(expression->steps, expression->count, values, value);
}

bool expression_numerator(const struct expression *expression, const double *values, double *value)
{
    return expression->numerator > 0 && run(expression->steps, expression->numerator, values, value);
}

bool expression_uses(const struct expression *expression, unsigned metric)
{
    for (size_t i = 0; i < expression->count; i++)
        if (expression->steps[i].op == 'm' && expression->steps[i].metric == metric)
            return true;
    return false;
}

bool expression_needs_clocks(const struct expression *expression)
{
    for (size_t i = 0; i < expression->count; i++)
        if (expression->steps[i].op == 'm' && metric_needs_clocks(expression->steps[i].metric))
            return true;
    return false;
}

/* True if it is about computing only: titles and reasons speak of times between calls. */
bool expression_is_of_gaps(const struct expression *expression)
{
    for (size_t i = 0; i < expression->count; i++)
        if (expression->steps[i].op == 'm' && metric_source_of(expression->steps[i].metric) == SOURCE_CALL)
            return false;
    return true;
}
