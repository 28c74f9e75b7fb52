/* SPDX-License-Identifier: BSD-3-Clause */
#include "runs/gate.h"

#include "core/guess.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "heuristics/condition.h"
#include "runs/finding_changes.h"
#include "runs/permutation.h"
#include "runs/statistics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* SPREAD_LEAST: as in significance.c, relative to a value. */
enum { NAME_SIZE = 64, CONDITION_SIZE = 128 };
static const double SPREAD_LEAST = 0.0005;

/* Values that only the analysis has. */
enum { WAITING, SERIALISATION, TRANSFER, ANALYSED };
static const struct {
    const char *name;
    enum quantity_unit unit;
} analysed[ANALYSED] = {{"waiting", QUANTITY_SECONDS},
                        {"serialisation-efficiency", QUANTITY_SHARE},
                        {"transfer-efficiency", QUANTITY_SHARE}};

/* The meaning of a name: a quantity, then a value of the analysis, then a finding. */
enum source { SOURCE_QUANTITY, SOURCE_ANALYSED, SOURCE_FINDING, SOURCE_NEW_FINDING, SOURCE_NONE };

struct condition {
    char name[NAME_SIZE];
    enum source source;
    size_t index;
    bool more;
    struct condition_limit limit;
};

/* "parallel-efficiency" of parallel_efficiency, "compute" of compute_s. */
static void quantity_name(size_t index, char name[NAME_SIZE])
{
    size_t length = (size_t)snprintf(name, NAME_SIZE, "%s", quantity_at(index)->id);
    if (length > 2 && strcmp(name + length - 2, "_s") == 0)
        name[length - 2] = '\0';
    for (char *at = strchr(name, '_'); at; at = strchr(at, '_'))
        *at = '-';
}

static void find_source(struct condition *condition)
{
    char name[NAME_SIZE];
    condition->source = SOURCE_NONE;
    /* The duration is the first row of quantities.def, and has a name that says less: "time" is what people write. */
    if (strcmp(condition->name, "time") == 0)
        condition->source = SOURCE_QUANTITY;
    for (size_t i = 0; i < quantity_count(); i++)
        if (quantity_name(i, name), strcmp(condition->name, name) == 0) {
            condition->source = SOURCE_QUANTITY;
            condition->index = i;
        }
    for (size_t i = 0; i < ANALYSED; i++)
        if (strcmp(condition->name, analysed[i].name) == 0) {
            condition->source = SOURCE_ANALYSED;
            condition->index = i;
        }
    enum finding_kind kind = finding_find(condition->name);
    /* Quantities have the precedence: a finding of the same name would be found by "new finding" only. */
    if (condition->source == SOURCE_NONE && kind < FINDING_KINDS) {
        condition->source = SOURCE_FINDING;
        condition->index = kind;
    }
}

static enum quantity_unit unit_of(const struct condition *condition)
{
    if (condition->source == SOURCE_QUANTITY)
        return quantity_at(condition->index)->unit;
    if (condition->source == SOURCE_ANALYSED)
        return analysed[condition->index].unit;
    return QUANTITY_SHARE;
}

/* "+3%", "-0.5s": a change has its sign and its unit. "time > 3%" could mean 3 % more or 3 % of something. */
static bool parse_change(const char *text, struct condition_limit *limit)
{
    text += strspn(text, " ");
    /* Without a unit "+3" could be seconds or per cent. */
    return (*text == '+' || *text == '-') && condition_limit_parse(text, limit) && limit->has_unit;
}

/* The words of one condition, without blanks at both ends. */
static bool copy_words(const char *text, size_t length, char copy[CONDITION_SIZE])
{
    while (length > 0 && *text == ' ') {
        text++;
        length--;
    }
    while (length > 0 && text[length - 1] == ' ')
        length--;
    if (length == 0 || length >= CONDITION_SIZE)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return true;
}

static bool parse(const char *text, size_t length, struct condition *condition)
{
    char copy[CONDITION_SIZE];
    *condition = (struct condition){.source = SOURCE_NONE};
    if (!copy_words(text, length, copy))
        return false;
    /* The only condition without a number. */
    if (strcmp(copy, "new finding") == 0 || strcmp(copy, "new-finding") == 0) {
        condition->source = SOURCE_NEW_FINDING;
        return true;
    }
    char *sign = strpbrk(copy, "<>");
    if (!sign || sign == copy)
        return false;
    condition->more = *sign == '>';
    *sign = '\0';
    snprintf(condition->name, sizeof condition->name, "%.*s", (int)strcspn(copy, " "), copy);
    find_source(condition);
    /* A finding has a saving in seconds, and a share; other shares have no seconds. */
    bool seconds_fit = condition->source == SOURCE_FINDING || unit_of(condition) == QUANTITY_SECONDS;
    return condition->source != SOURCE_NONE && parse_change(sign + 1, &condition->limit) &&
           (seconds_fit || !condition->limit.in_seconds);
}

static enum status not_a_condition(const char *text, size_t length, struct error *err)
{
    char nearest[GUESS_TEXT], name[NAME_SIZE];
    static const char example[] = " (such as 'time > +3%', 'parallel-efficiency < -2%' or 'new finding')";
    text += strspn(text, " ");
    length = strcspn(text, ",");
    size_t words = strcspn(text, "<> ,");
    struct guess guess = guess_of(text, smaller(words, length));
    /* The guess keeps no copy: `name` is overwritten, so only a whole match may be tried. */
    for (size_t i = 0; i < quantity_count(); i++) {
        quantity_name(i, name);
        if (strlen(name) == words && strncmp(name, text, words) == 0)
            guess_try(&guess, name);
    }
    for (size_t i = 0; i < ANALYSED; i++)
        guess_try(&guess, analysed[i].name);
    for (enum finding_kind kind = 0; kind < FINDING_KINDS; kind++)
        guess_try(&guess, finding_id(kind));
    const char *help = example;
    if (!guess.best || guess.distance != 0)
        help = guess_text(nearest, &guess, "", example);
    return error_set(err, ERROR_USAGE, "--fail-on: '%.*s' is not a condition on a change%s", (int)length, text, help);
}

enum status gate_check_conditions(const char *conditions, struct error *err)
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

bool gate_needs_findings(const char *conditions)
{
    /* Conditions on quantities need no analysis, which takes most of the time. */
    for (const char *at = conditions; at && *at; at += *at == ',') {
        struct condition condition;
        size_t length = strcspn(at, ",");
        if (parse(at, length, &condition) && condition.source != SOURCE_QUANTITY)
            return true;
        at += length;
    }
    return false;
}

static double waiting_s(const struct analysis *analysis)
{
    double waiting = 0;
    for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++)
        waiting += (double)analysis->waits[kind].ns / 1e9;
    return waiting;
}

static const struct finding *finding_in(const struct gate_run *run, size_t kind)
{
    for (size_t i = 0; run->findings && i < run->findings->count; i++)
        if (run->findings->finding[i].kind == (enum finding_kind)kind)
            return &run->findings->finding[i];
    return NULL;
}

/* The number that a condition is about; NAN if the run does not have it. */
static double number_of(const struct condition *condition, const struct gate_run *run)
{
    const struct metrics *metrics = run->metrics;
    if (condition->source == SOURCE_QUANTITY) {
        struct heuristic_result *results = heuristics_judge(metrics);
        double value = quantity_at(condition->index)->get(metrics, results);
        heuristics_free(results);
        return value;
    }
    /* An analysis of other processes than these is none of the run. */
    if (!metrics->analysis || metrics->analysis->process_count != metrics->process_count)
        return NAN;
    if (condition->source == SOURCE_ANALYSED) {
        const double values[ANALYSED] = {waiting_s(metrics->analysis), metrics->analysis->serialisation,
                                         metrics->analysis->transfer};
        return values[condition->index];
    }
    /* A finding that is not reported saves nothing. */
    const struct finding *finding = finding_in(run, condition->index);
    if (!finding)
        return 0;
    if (condition->limit.in_seconds)
        return finding->saving_s;
    return finding->share;
}

/* The runs of both versions as one row, those of the first before those of the second. */
static const struct gate_run *run_at(const struct gate_version *before, const struct gate_version *after, size_t index)
{
    if (index < before->run_count)
        return &before->runs[index];
    return &after->runs[index - before->run_count];
}

/* Values of all runs of both versions, and what changed. */
static enum status measure(struct gate_check *check, const struct condition *condition,
                           const struct gate_version *before, const struct gate_version *after, struct error *err)
{
    size_t runs = before->run_count + after->run_count;
    struct tested *tested = &check->tested;
    tested->values = memory_new(runs * sizeof *tested->values);
    for (size_t i = 0; i < runs; i++) {
        const struct gate_run *run = run_at(before, after, i);
        tested->values[i] = number_of(condition, run);
        if (isnan(tested->values[i]))
            return error_set(err, ERROR_USAGE,
                             "--fail-on: %s is only known of a whole run: not with --processes, nor of metrics made "
                             "without an analysis",
                             condition->name);
        /* The first run that has it supplies the words and the place. */
        if (i >= before->run_count && condition->source == SOURCE_FINDING && !check->finding)
            check->finding = finding_in(run, condition->index);
    }
    check->unit = unit_of(condition);
    if (condition->limit.in_seconds)
        check->unit = QUANTITY_SECONDS;
    tested->kind = TESTED_CELL;
    if (check->unit == QUANTITY_SHARE)
        tested->kind = TESTED_QUANTITY;
    /* Any quantity that is a share, or none: the scale of the test depends on that alone. */
    for (size_t i = 0; i < quantity_count() && tested->kind == TESTED_QUANTITY; i++)
        if (quantity_at(i)->unit == QUANTITY_SHARE)
            tested->quantity = i;
    tested_measure(tested, before->run_count, after->run_count);
    return STATUS_OK;
}

/* The probability of this number alone. Differences of logarithms are relative changes. */
static double chance(const struct tested *tested, size_t before, size_t after)
{
    double *scaled = memory_new((before + after) * sizeof *scaled), p = 1;
    memcpy(scaled, tested->values, (before + after) * sizeof *scaled);
    for (size_t i = 0; tested->is_relative && i < before + after; i++)
        scaled[i] = log(scaled[i]);
    permutation_test(scaled, 1, before, after, SPREAD_LEAST, &p);
    free(scaled);
    return p;
}

static bool has_finding(const struct gate_run *run, const struct finding *finding)
{
    return finding_same_in(run->findings, finding) != NULL;
}

static size_t runs_with(const struct gate_version *version, const struct finding *finding)
{
    size_t runs = 0;
    for (size_t i = 0; i < version->run_count; i++)
        runs += has_finding(&version->runs[i], finding);
    return runs;
}

static bool is_listed(const struct gate_new *listed, size_t count, const struct finding *finding)
{
    for (size_t i = 0; i < count; i++)
        if (finding_is_same(listed[i].finding, finding))
            return true;
    return false;
}

static int by_chance(const void *a, const void *b)
{
    const struct gate_new *left = a, *right = b;
    if (left->p != right->p)
        return order_by(left->p, right->p);
    return order_by(right->finding->saving_s, left->finding->saving_s);
}

/* Adds the findings of a version's runs that are not listed yet. */
static void list_findings(struct gate_new **listed, size_t *count, size_t *capacity, const struct gate_version *version)
{
    for (size_t r = 0; r < version->run_count; r++)
        for (size_t i = 0; i < version->runs[r].findings->count; i++) {
            const struct finding *finding = &version->runs[r].findings->finding[i];
            if (!is_listed(*listed, *count, finding))
                ARRAY_PUSH(*listed, *count, *capacity, (struct gate_new){finding, 0, 1});
        }
}

/* Tests all findings at once: a number of each run that is 1 where it has the finding. Those that are not new are
   tested, too: choosing by the versions what is tested would make chance look like an effect. */
static void test_findings(struct gate_new *listed, size_t count, const struct gate_version *before,
                          const struct gate_version *after)
{
    size_t runs = before->run_count + after->run_count;
    double *values = memory_new(count * runs * sizeof *values), *adjusted = memory_new(count * sizeof *adjusted);
    for (size_t i = 0; i < count; i++)
        for (size_t r = 0; r < runs; r++) {
            values[i * runs + r] = has_finding(run_at(before, after, r), listed[i].finding);
        }
    permutation_test(values, count, before->run_count, after->run_count, SPREAD_LEAST, adjusted);
    for (size_t i = 0; i < count; i++)
        listed[i].p = adjusted[i];
    free(values);
    free(adjusted);
}

static void find_new(struct gate *gate, const struct gate_version *before, const struct gate_version *after)
{
    struct gate_new *listed = NULL;
    size_t count = 0, capacity = 0;
    list_findings(&listed, &count, &capacity, after);
    list_findings(&listed, &count, &capacity, before);
    if (gate->is_possible)
        test_findings(listed, count, before, after);
    for (size_t i = 0; i < count; i++) {
        /* Only findings of the second version that no run of the first has. */
        listed[i].runs = runs_with(after, listed[i].finding);
        if (listed[i].runs > 0 && runs_with(before, listed[i].finding) == 0)
            listed[gate->new_count++] = listed[i];
    }
    gate->new_findings = listed;
    if (gate->new_count > 0)
        qsort(listed, gate->new_count, sizeof *listed, by_chance);
}

static enum status findings_known(const struct gate_version *version, struct error *err)
{
    for (size_t i = 0; i < version->run_count; i++)
        /* Without an analysis a run would pass for one without findings. */
        if (!version->runs[i].findings || !version->runs[i].metrics->analysis)
            return error_set(err, ERROR_USAGE,
                             "--fail-on: findings are only known of a whole run: not with --processes, nor of metrics "
                             "made without an analysis");
    return STATUS_OK;
}

static enum status judge_new(struct gate *gate, struct gate_check *check, const struct gate_version *before,
                             const struct gate_version *after, struct error *err)
{
    if (findings_known(before, err) != STATUS_OK || findings_known(after, err) != STATUS_OK)
        return STATUS_FAILED;
    check->is_new_finding = true;
    find_new(gate, before, after);
    if (gate->new_count > 0) {
        check->is_beyond = true;
        check->p = gate->new_findings[0].p;
        check->finding = gate->new_findings[0].finding;
    }
    return STATUS_OK;
}

static enum status judge(struct gate *gate, struct gate_check *check, const struct condition *condition,
                         const struct gate_version *before, const struct gate_version *after, struct error *err)
{
    check->p = 1;
    if (condition->source == SOURCE_NEW_FINDING)
        return judge_new(gate, check, before, after, err);
    check->more = condition->more;
    check->limit = condition->limit.value;
    check->in_seconds = condition->limit.in_seconds;
    check->tested.name = check->text;
    if (measure(check, condition, before, after, err) != STATUS_OK)
        return STATUS_FAILED;
    const struct tested *tested = &check->tested;
    /* In the unit of the limit: seconds, or a share of the first version. Without logarithms (a run with 0) the share
       is of the mean. */
    bool needs_share = !condition->limit.in_seconds && check->unit != QUANTITY_SHARE && !tested->is_relative;
    check->change = tested->change;
    if (condition->limit.in_seconds)
        check->change = tested->now - tested->mean;
    else if (needs_share && tested->mean > 0)
        check->change = (tested->now - tested->mean) / tested->mean;
    /* Exactly at the limit is within it. */
    check->is_beyond = check->change < check->limit;
    if (check->more)
        check->is_beyond = check->change > check->limit;
    /* With too few runs nothing is tested: p stays 1, and no condition fails. */
    if (gate->is_possible)
        check->p = chance(tested, before->run_count, after->run_count);
    return STATUS_OK;
}

/* Holm's correction for the conditions together: the least of n probabilities counts n times, the next n - 1 times, and
   none less than the one before it. So a build with unchanged code fails once in twenty, however many conditions. */
static void correct(struct gate *gate)
{
    double worst = 0;
    bool *done = memory_new(gate->count * sizeof *done);
    for (size_t step = 0; step < gate->count; step++) {
        size_t least = gate->count;
        for (size_t i = 0; i < gate->count; i++)
            if (!done[i] && (least == gate->count || gate->checks[i].p < gate->checks[least].p))
                least = i;
        done[least] = true;
        worst = fmax(worst, fmin(1, gate->checks[least].p * (double)(gate->count - step)));
        gate->checks[least].p = worst;
    }
    free(done);
    for (size_t i = 0; i < gate->count; i++) {
        struct gate_check *check = &gate->checks[i];
        check->fails = gate->is_possible && check->is_beyond && check->p <= SIGNIFICANCE_LEVEL;
        gate->failed += check->fails;
    }
}

static size_t count_conditions(const char *conditions)
{
    size_t count = 1;
    for (const char *at = conditions; at && *at; at++)
        count += *at == ',';
    return count;
}

enum status gate_of(const char *conditions, const struct gate_version *before, const struct gate_version *after,
                    struct gate *gate, struct error *err)
{
    size_t capacity = 0;
    *gate = (struct gate){.before = before->run_count, .after = after->run_count};
    gate->is_possible = significance_possible(before->run_count, after->run_count, count_conditions(conditions));
    for (const char *at = conditions; at && *at; at += *at == ',') {
        struct condition condition;
        char words[CONDITION_SIZE];
        size_t length = strcspn(at, ",");
        if (parse(at, length, &condition) && copy_words(at, length, words)) {
            ARRAY_PUSH(gate->checks, gate->count, capacity, (struct gate_check){.text = memory_copy_string(words)});
            if (judge(gate, &gate->checks[gate->count - 1], &condition, before, after, err) != STATUS_OK)
                return STATUS_FAILED;
        }
        at += length;
    }
    correct(gate);
    return STATUS_OK;
}

void gate_clear(struct gate *gate)
{
    for (size_t i = 0; i < gate->count; i++) {
        free(gate->checks[i].text);
        free(gate->checks[i].tested.values);
    }
    free(gate->checks);
    free(gate->new_findings);
    *gate = (struct gate){0};
}
