/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics of a user's own: the file that they come from. What they are on a trace is tested by tests/cli/query.test. */
#include "search/definitions.h"
#include "search/word_file.h"

#include "unit/random.h"
#include "unit/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char good[] = "# mine\n"
                           "metric a_1\n"
                           "  base  mpi / time\n"
                           "\n"
                           "metric rate\r\n"
                           "  title  bytes of each second of sending\n"
                           "  unit  bytes / s\n"
                           "  base\tbytes / p2p\n"
                           "  aggregate  mean\n"
                           "  constraint  /Code/MPI_Send /Machine/0-3\n"
                           "  fair  10 %\n"
                           "  poor  3\n"
                           "metric share\n"
                           "  unit  %\n"
                           "  base  waiting / mpi\n";

static const char counted[] = "counter lines\n"
                              "  spelled  L3 misses: all\n"
                              "  spelled  PAPI_L3_TCM\n"
                              "  each  64 bytes\n"
                              "metric bandwidth\n"
                              "  unit  bytes/s\n"
                              "  base  lines / time\n"
                              "counter PAPI_TOT_CYC\n"
                              "  wraps  4294967296\n"
                              "  mode  accumulated\n"
                              "metric clock\n"
                              "  base  PAPI_TOT_CYC / time\n"
                              "  better  higher\n"
                              "  fair  2\n"
                              "  poor  1\n";

static void test_counters(void)
{
    struct error err = {0};
    struct definitions *all = definitions_parse(counted, strlen(counted), "f", &err);
    if (!tap_ok(all && all->count == 2 && all->counter_count == 2, "two metrics of two counters %s", err.text))
        return;
    const struct counter_name *lines = &all->counters[0], *cycles = &all->counters[1];
    tap_ok(lines->spellings == 2 && lines->each == 64 && lines->unit.bytes == 1 && lines->unit.counts == 0,
           "what one is worth");
    tap_equal_string(lines->spelled[0], "L3 misses: all", "a spelling may be any text");
    tap_ok(cycles->spellings == 0 && cycles->wraps == 4294967296.0 && cycles->mode == COUNTER_MODE_ACCUMULATED &&
               cycles->each == 1 && cycles->unit.counts == 1,
           "another one");
    tap_ok(definition_counter(&all->list[0]) == 0 && definition_counter(&all->list[1]) == 1, "which they use");
    const struct definition *clock = &all->list[1];
    const char *verdict = definition_verdict(clock->limits, clock->higher, 1);
    tap_equal_string(verdict ? verdict : "none", "poor", "more is better: at the limit it is poor");
    verdict = definition_verdict(clock->limits, clock->higher, 1.5);
    tap_equal_string(verdict ? verdict : "none", "fair", "above it fair");
    tap_ok(!definition_verdict(clock->limits, clock->higher, NAN), "no verdict of nothing");
    definitions_free(all);
}

static void test_good(void)
{
    struct error err = {0};
    struct definitions *all = definitions_parse(good, strlen(good), "f", &err);
    if (!tap_ok(all && all->count == 3, "three metrics %s", err.text))
        return;
    const struct definition *rate = &all->list[1];
    tap_equal_string(all->list[0].name, "a_1", "a name");
    tap_equal_string(all->list[0].title, "a_1", "is the title where there is none");
    tap_ok(!all->list[0].constraint && all->list[0].aggregate == AGGREGATE_SUM, "by default the whole run, as sums");
    tap_ok(isnan(all->list[0].limits[0]) && isnan(all->list[0].limits[1]), "without a verdict");
    tap_equal_string(rate->title, "bytes of each second of sending", "a title");
    tap_equal_string(rate->constraint, "/Code/MPI_Send /Machine/0-3", "a constraint");
    tap_equal_string(rate->where, "f:5", "where it stands");
    tap_ok(rate->aggregate == AGGREGATE_MEAN && rate->base.unit.bytes == 1 && rate->base.unit.seconds == -1,
           "its aggregation and unit");
    tap_ok(rate->limits[0] == 0.1 && rate->limits[1] == 3, "limits: a share and a number");
    tap_ok(all->list[2].percent && !rate->percent, "a share");
    struct expression_name list[] = {{all->list[0].name, all->list[0].base.unit},
                                     {all->list[1].name, all->list[1].base.unit},
                                     {all->list[2].name, all->list[2].base.unit}};
    struct expression_names names = {list, 3};
    struct expression expression;
    tap_ok(expression_parse(&expression, "max(share, 2) * rate", &names, "x", &err) == STATUS_OK &&
               expression.unit.bytes == 1 && expression_uses(&expression, METRIC_COUNT + 1) &&
               expression_uses(&expression, METRIC_COUNT + 2) && !expression_uses(&expression, METRIC_COUNT),
           "expressions have them");
    tap_ok(expression_parse(&expression, "share + rate", &names, "x", &err) == STATUS_FAILED, "and their units");
    double values[METRIC_COUNT + 3] = {0}, value;
    tap_ok(expression_parse(&expression, "max(share, 2)", &names, "x", &err) == STATUS_OK, "one more");
    values[METRIC_COUNT + 2] = NAN;
    tap_ok(!expression_value(&expression, values, &value), "what is not known makes all unknown");
    definitions_free(all);
}

static void expect_fault(const char *text, const char *want)
{
    struct error err = {0};
    tap_ok(!definitions_parse(text, strlen(text), "f", &err) && err.kind == ERROR_USAGE, "refused: %.30s", want);
    tap_equal_string(err.text, want, "  with the line and the word");
}

static void test_faults(void)
{
    expect_fault("", "f: defines no metric");
    expect_fault("# nothing\n", "f: defines no metric");
    expect_fault("base mpi\n", "f:1: no metric before 'base'");
    expect_fault("metric\n", "f:1: missing value after 'metric'");
    expect_fault("metric a\n", "f:1: metric 'a' has no base");
    expect_fault("metric a\nmetric b\nbase mpi\n", "f:1: metric 'a' has no base");
    expect_fault("metric a\nbase mpi\nmetric a\n", "f:3: there is already a metric 'a'");
    expect_fault("metric mpi\n", "f:1: sight has a metric of this name: 'mpi'");
    expect_fault("metric late_sender\n", "f:1: sight has a metric of this name: 'late_sender'");
    expect_fault("metric max\n", "f:1: sight has a metric of this name: 'max'");
    expect_fault("metric A\n", "f:1: a name is up to 40 characters a-z, 0-9 and _, and begins with a letter, not 'A'");
    expect_fault("metric 1a\n",
                 "f:1: a name is up to 40 characters a-z, 0-9 and _, and begins with a letter, not '1a'");
    expect_fault("metric a\nbase mpi + bytes\n", "f:2: operands have different units, at the end of the line");
    expect_fault("metric a\nbase mpii\n", "f:2: unknown metric 'mpii' (did you mean 'mpi'?)");
    expect_fault("metric mpi2\nbase mpi\nmetric b\nbase mpi2\n", "f:4: unknown metric 'mpi2' (did you mean 'mpi'?)");
    expect_fault("metric a\nunit s\nbase bytes\n",
                 "f:1: metric 'a': the base has another unit than the one that is given");
    expect_fault("metric a\nunit hours\n",
                 "f:2: a unit is s, bytes, count, 1 or %, or several with * or /, not 'hours'");
    expect_fault("metric a\nunit s /\n", "f:2: a unit is s, bytes, count, 1 or %, or several with * or /, not ''");
    expect_fault("metric a\naggregate median\n",
                 "f:2: values of processes become one by sum, mean, min or max, not by 'median'");
    expect_fault("metric a\nconstraint Code\n", "f:2: a constraint is paths as /Code/p2p without * and @, not 'Code'");
    expect_fault("metric a\nconstraint /Code/*\n",
                 "f:2: a constraint is paths as /Code/p2p without * and @, not '/Code/*'");
    expect_fault("metric a\nfair bad\n", "f:2: not a number or a percentage: 'bad'");
    expect_fault("metric a\nwhat is this\n", "f:2: unknown keyword 'what'");
    expect_fault("metric a\n\xff\n", "f:2: not UTF-8 text");
}

static void test_many(void)
{
    char text[8000] = "";
    size_t length = 0;
    struct error err = {0};
    for (int i = 0; i <= DEFINITIONS_MOST; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "metric m%d\nbase mpi\n", i);
    tap_ok(!definitions_parse(text, length, "f", &err), "too many are refused");
    tap_equal_string(err.text, "f:201: more than 100 metrics", "  with the line");
    char *large = calloc(1, WORD_FILE_MOST + 2);
    if (large)
        memset(large, '\n', WORD_FILE_MOST + 1);
    tap_ok(!large || !definitions_parse(large, WORD_FILE_MOST + 1, "f", &err), "so is a large file");
    free(large);
    tap_ok(!definitions_read("/nowhere/at/all", &err) && strstr(err.text, "cannot read the definitions"),
           "and one that is not there");
}

/* Any bytes end in definitions, or in one line. */
static void test_any_bytes(void)
{
    bool sound = true;
    for (int round = 0; round < 3000; round++) {
        char text[sizeof good];
        memcpy(text, good, sizeof good);
        for (int i = 0; i < 4; i++)
            text[random_below(sizeof good - 1)] = (char)(random_below(96) + 32);
        struct error err = {0};
        struct definitions *all = definitions_parse(text, strlen(text), "f", &err);
        sound = sound && (all || (*err.text && !strchr(err.text, '\n')));
        definitions_free(all);
    }
    tap_ok(sound, "changed bytes");
}

int main(void)
{
    test_good();
    test_counters();
    test_faults();
    test_many();
    test_any_bytes();
    return tap_done();
}
