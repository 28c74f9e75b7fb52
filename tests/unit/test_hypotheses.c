/* SPDX-License-Identifier: BSD-3-Clause */
/* Hypotheses are data: expressions, and the file they come from. */
#include "search/hypotheses.h"
#include "search/word_file.h"

#include "unit/tap.h"

#include <math.h>
#include <stdlib.h>

static void expect_value(const char *text, double want)
{
    struct expression expression;
    struct error err = {0};
    double values[METRIC_COUNT] = {0}, value = NAN;
    values[METRIC_mpi] = 6;
    values[METRIC_compute] = 3;
    values[METRIC_time] = 9;
    values[METRIC_WAITS + WAIT_LATE_SENDER] = 2;
    bool known = expression_parse(&expression, text, NULL, "test:1", &err) == STATUS_OK &&
                 expression_value(&expression, values, &value);
    if (!tap_ok(isnan(want) ? !known : known && fabs(value - want) < 1e-12, "%s", text))
        printf("#  got %.17g, %s\n# want %.17g\n", value, err.text, want);
}

/* Paradyn's operators on (6, 3), and the usual rules. */
static void test_values(void)
{
    expect_value("mpi + compute", 9);
    expect_value("mpi - compute", 3);
    expect_value("mpi * compute", 18);
    expect_value("mpi / compute", 2);
    expect_value("max(mpi, compute)", 6);
    expect_value("min(mpi,compute, 7)", 3);
    expect_value("2 + 3 * 4", 14);
    expect_value("(2 + 3) * 4", 20);
    expect_value("20 - 3 - 4", 13);
    expect_value("24 / 3 / 4", 2);
    expect_value("mpi-compute", 3);
    expect_value(" 0.5*late_sender ", 1);
    expect_value("late_sender / time", 2.0 / 9);
    expect_value("mpi / (compute - 3)", NAN);
    expect_value("mpi / io", NAN);
}

static void expect_fault(const char *text, const char *want)
{
    struct expression expression;
    struct error err = {0};
    enum status status = expression_parse(&expression, text, NULL, "f:7", &err);
    tap_ok(status == STATUS_FAILED, "refused: %.40s", text);
    tap_equal_string(err.text, want, "  with the reason");
}

static void test_faults(void)
{
    char deep[200] = "", wide[600] = "1";
    expect_fault("", "f:7: missing metric, number or (, at the end of the line");
    expect_fault("mpi +", "f:7: missing metric, number or (, at the end of the line");
    expect_fault("mpi compute", "f:7: missing operator, at 'compute'");
    expect_fault("(mpi", "f:7: missing ), at the end of the line");
    expect_fault("max mpi", "f:7: max and min need parentheses, at 'mpi'");
    expect_fault("max(mpi", "f:7: missing ) or ,, at the end of the line");
    expect_fault("mip / time", "f:7: unknown metric 'mip' (did you mean 'mpi'?)");
    expect_fault("late-sender", "f:7: unknown metric 'late'; there are: run time duration processes compute imbalance "
                                "overload alone serial calls mpi p2p collective sync probe io rma setup setup_again "
                                "waiting caused messages small_messages small_time bytes, and waits such as "
                                "late_sender");
    expect_fault("1.2.3", "f:7: not a number, at '1.2.3'");
    expect_fault("-mpi", "f:7: missing metric, number or (, at '-mpi'");
    expect_fault("mpi + bytes", "f:7: operands have different units, at the end of the line");
    for (int i = 0; i < 100; i++)
        strcat(deep, "(");
    expect_fault(deep, "f:7: the expression is nested more than 16 deep");
    for (int i = 0; i < 40; i++)
        strcat(wide, "+mpi");
    expect_fault(wide, "f:7: the expression has more than 64 parts");
}

static void expect_unit(const char *text, int seconds, int bytes, int counts, bool has_numerator)
{
    struct expression e;
    struct error err = {0};
    bool parsed = expression_parse(&e, text, NULL, "f", &err) == STATUS_OK;
    tap_ok(parsed && e.unit.seconds == seconds && e.unit.bytes == bytes && e.unit.counts == counts &&
               (e.numerator > 0) == has_numerator,
           "unit of %s", text);
}

static void test_units(void)
{
    expect_unit("mpi / time", 0, 0, 0, true);
    expect_unit("bytes / mpi", -1, 1, 0, true);
    expect_unit("messages / run", -1, 0, 1, true);
    expect_unit("mpi * 2", 1, 0, 0, false);
    expect_unit("mpi / 2 + 1", 1, 0, 0, false);
    expect_unit("(mpi / 2) / time", 0, 0, 0, true);
}

static struct hypotheses *parsed(const char *text, struct error *err)
{
    *err = (struct error){0};
    return hypotheses_parse(text, strlen(text), "my", err);
}

static void test_file(void)
{
    struct error err;
    struct hypotheses *h = parsed("# a comment\r\n\n  threshold 0.1\nleast-calls 7\nleast-time 2.5 us\n"
                                  "hypothesis a\n title A  b\n value mpi/time\n refine tags processes\n"
                                  "hypothesis b\nparent a\nvalue io / time\nthreshold 35 %\nadvice do it",
                                  &err);
    tap_equal_string(err.text, "", "a file is read");
    if (!h)
        return;
    tap_equal_int((long long)h->count, 2, "both hypotheses");
    tap_ok(h->least_calls == 7 && h->least_ns == 2500, "limits");
    tap_equal_string(h->list[0].title, "A  b", "title");
    tap_ok(h->list[0].axis_count == 2 && h->list[0].axes[0] == AXIS_TAGS && h->list[0].axes[1] == AXIS_PROCESSES,
           "axes in their order");
    tap_equal_int((long long)h->list[1].axis_count, SEARCH_AXIS_COUNT - 1, "all axes where none is named");
    tap_equal_string(h->list[1].title, "b", "without title its name");
    tap_ok(h->list[1].parent_count == 1 && h->list[1].parents[0] == 0 && h->list[0].parent_count == 0, "parents");
    tap_ok(h->list[0].threshold == 0.1 && h->list[1].threshold == 0.35, "thresholds: the file's, its own");
    hypotheses_set_threshold(h, 0.5);
    tap_ok(h->list[0].threshold == 0.5 && h->list[1].threshold == 0.35, "another default changes only that");
    hypotheses_free(h);
}

static void expect_file_fault(const char *text, const char *want)
{
    struct error err;
    struct hypotheses *h = parsed(text, &err);
    tap_equal_string(h ? "(none)" : err.text, want, "a fault in the file");
    hypotheses_free(h);
}

static void test_file_faults(void)
{
    expect_file_fault("", "my: contains no hypothesis");
    expect_file_fault("title x\n", "my:1: no hypothesis before 'title'");
    expect_file_fault("hypothesis A\n", "my:1: a name has up to 40 characters a-z, 0-9 and -, not 'A'");
    expect_file_fault("hypothesis a\nhypothesis a\n", "my:2: there is already a hypothesis 'a'");
    expect_file_fault("hypothesis a\nparent a\n", "my:2: no earlier hypothesis is named 'a'");
    expect_file_fault("hypothesis a\nparent b\nhypothesis b", "my:2: no earlier hypothesis is named 'b'");
    expect_file_fault("hypothesis a\nhypothesis b\nparent a a\n", "my:3: duplicate parent 'a'");
    expect_file_fault("hypothesis a\nhypothesis b\nparent a c\n", "my:3: no earlier hypothesis is named 'c'");
    expect_file_fault("hypothesis a\nhypothesis b\nhypothesis c\nhypothesis d\nhypothesis e\nhypothesis f\n"
                      "parent a b c d e\n",
                      "my:7: more than 4 parents");
    expect_file_fault("hypothesis a\nvalue\n", "my:2: missing value after 'value'");
    expect_file_fault("hypothesis a\nvalues 1\n", "my:2: unknown keyword 'values'");
    expect_file_fault("hypothesis a\nleast-calls 1\n", "my:2: this must precede all hypotheses: 'least-calls'");
    expect_file_fault("least-calls x\n", "my:1: not a number of calls: 'x'");
    expect_file_fault("least-time 3\n", "my:1: a time needs a unit (ns us ms s), as in 1 ms, not '3'");
    expect_file_fault("threshold x\n", "my:1: a threshold is a number from 0 to 1000 or a percentage, not 'x'");
    expect_file_fault("threshold -1\n", "my:1: a threshold is a number from 0 to 1000 or a percentage, not '-1'");
    expect_file_fault("hypothesis a\nrefine when\n", "my:2: unknown axis 'when'");
    expect_file_fault("hypothesis a\nrefine tags tags\n", "my:2: duplicate axis 'tags'");
    expect_file_fault("hypothesis a\ntitle \xff\n", "my:2: not UTF-8 text");
    expect_file_fault("hypothesis a\nvalue mpi /\n", "my:2: missing metric, number or (, at the end of the line");
}

static void test_limits(void)
{
    struct error err;
    size_t size = WORD_FILE_MOST + 2;
    char *text = malloc(size);
    if (!text)
        return;
    memset(text, '#', size);
    tap_ok(!hypotheses_parse(text, size - 1, "big", &err), "a file that is too large");
    tap_ok(!hypotheses_parse(text, WORD_LINE_MOST + 1, "big", &err), "a line that is too long");
    char *at = text;
    for (int i = 0; i < HYPOTHESIS_DEPTH + 1; i++)
        at += sprintf(at, i ? "hypothesis h%d\nparent h%d\n" : "hypothesis h%d\n", i, i - 1);
    tap_ok(!parsed(text, &err) && strstr(err.text, "nested more than 8 deep"), "parents that are too deep");
    at = text;
    for (int i = 0; i < HYPOTHESES_MOST + 1; i++)
        at += sprintf(at, "hypothesis h%d\n", i);
    tap_ok(!parsed(text, &err) && strstr(err.text, "more than 200 hypotheses"), "too many");
    tap_ok(!hypotheses_parse("hypothesis a\0b", 14, "zero", &err), "a zero byte");
    tap_ok(!hypotheses_read("/nonexistent/file", &err) && strstr(err.text, "cannot read the hypotheses: No such file"),
           "no such file");
    free(text);
}

static void test_default(void)
{
    struct hypotheses *h = hypotheses_default();
    tap_ok(h->count > 15 && h->threshold == 0.2 && h->least_calls == 3 && h->least_ns == 1000000,
           "sight's own hypotheses: 20 %%, 3 calls, 1 ms");
    bool whole = true;
    for (size_t i = 0; i < h->count; i++)
        whole &= h->list[i].title && h->list[i].advice && h->list[i].value.count > 0;
    tap_ok(whole, "all have words, advice and a value");
    hypotheses_free(h);
    for (unsigned metric = 0; metric < METRIC_COUNT; metric++) {
        const char *name = metric_name(metric);
        char spelt[80];
        if (!name)
            continue;
        snprintf(spelt, sizeof spelt, "%s", name);
        for (char *c = spelt; *c; c++)
            *c = *c == '-' ? '_' : *c;
        tap_equal_int(metric_find(spelt, strlen(spelt)), metric, "metric %s", spelt);
    }
}

int main(void)
{
    test_values();
    test_faults();
    test_units();
    test_file();
    test_file_faults();
    test_limits();
    test_default();
    return tap_done();
}
