/* SPDX-License-Identifier: BSD-3-Clause */
/* The glossary: everything that has a name is in it, once in each table, and worded like the others.
   tests/cli/help.test compares the names in JSON that are in no table. */
#include "heuristics/finding.h"
#include "heuristics/glossary.h"
#include "render/reports/metrics_report.h"
#include "unit/tap.h"

static void expect_term(const char *name, const char *kind)
{
    tap_ok(glossary_find(name, 0) < glossary_count(), "%s %s", kind, name);
}

static void expect_fields(const struct field *fields, size_t count, const char *kind)
{
    for (size_t i = 0; i < count; i++)
        expect_term(fields[i].name, kind);
}

static void test_tables(void)
{
    for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++)
        expect_term(wait_kind_name((enum wait_kind)kind), "wait state");
    for (enum finding_kind kind = 0; kind < FINDING_KINDS; kind++)
        expect_term(finding_id(kind), "finding");
    for (size_t i = 0; i < heuristic_count(); i++)
        expect_term(heuristic_at(i)->id, "heuristic");
#define EXPECT_NUMBER(member, type) expect_term(#member, "number of the analysis");
    ANALYSIS_NUMBERS(EXPECT_NUMBER)
#undef EXPECT_NUMBER
#define CONDITION(name, expression) expect_term(name, "condition");
#include "heuristics/conditions.def"
    size_t count;
    const struct field *fields = metrics_process_fields(&count);
    expect_fields(fields, count, "field of a process");
    fields = metrics_function_fields(&count);
    expect_fields(fields, count, "field of a function");
}

static bool ends_in(const char *text, char last)
{
    return *text && text[strlen(text) - 1] == last;
}

static void test_rows(void)
{
    static const char *const units[] = {"", "s", "count", "bytes", "share", "s or share", "ratio", "0 to 1"};
    for (size_t i = 0; i < glossary_count(); i++) {
        struct term term = glossary_at(i);
        bool known = false, twice = false;
        for (size_t k = 0; k < sizeof units / sizeof *units; k++)
            known |= strcmp(term.unit, units[k]) == 0;
        for (size_t k = glossary_find(term.name, i + 1); k < glossary_count(); k = glossary_find(term.name, k + 1))
            twice |= glossary_at(k).group == term.group;
        tap_ok(known && !twice && *term.meaning && !ends_in(term.meaning, '.') && *term.group->shown,
               "row %s: a known unit, once in its table, a meaning without a stop", term.name);
    }
}

static void test_find(void)
{
    tap_ok(glossary_find("load_balance", 0) == glossary_find("load-balance", 0), "'-' and '_' are the same");
    size_t first = glossary_find("serialisation", 0), second = glossary_find("serialisation", first + 1);
    tap_ok(second < glossary_count() && glossary_at(second).group != glossary_at(first).group,
           "one name in two tables: both are found");
    tap_ok(glossary_find("late", 0) == glossary_count() && glossary_find("late-senders", 0) == glossary_count(),
           "no part of a name, no more than a name");
    size_t overhead = glossary_find("communication-overhead", 0);
    tap_ok(overhead < glossary_count() && strstr(glossary_at(overhead).source, "3.1.3"),
           "heuristics come from their own table");
}

int main(void)
{
    test_tables();
    test_rows();
    test_find();
    return tap_done();
}
