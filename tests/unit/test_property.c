/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts about a run: rows, their processes, hosts of locations, command lines, dates. */
#include "convert/record/launch_note.h"
#include "core/defs.h"
#include "core/event.h"
#include "core/shell_text.h"
#include "unit/tap.h"

#include <stdio.h>
#include <stdlib.h>

static void expect_ranks(const struct property *property, const char *expected, const char *name)
{
    char *ranks = property_ranks(property);
    tap_equal_string(ranks ? ranks : "", expected, "%s", name);
    free(ranks);
}

static void test_rows(void)
{
    struct property_list list = {0};
    property_add(&list, "date", "today");
    property_add(&list, "date", "today");
    property_add(&list, "empty", "");
    property_add(&list, "none", NULL);
    tap_ok(list.count == 1, "a fact is kept once, an empty one not at all");
    for (uint32_t rank = 0; rank < 4; rank++)
        property_add_of(&list, "program", rank == 2 ? "./b" : "./a", rank, rank);
    tap_ok(list.count == 3, "a row for each value");
    expect_ranks(&list.rows[0], "", "the whole run has no ranks");
    expect_ranks(&list.rows[1], "0-1,3", "ranks are joined");
    expect_ranks(&list.rows[2], "2", "one rank");
    static const uint32_t mixed[] = {9, 2, 0, 5, 2, 8, 1, 6, 4};
    for (size_t i = 0; i < sizeof mixed / sizeof *mixed; i++)
        property_add_of(&list, "mixed", "value", mixed[i], mixed[i]);
    expect_ranks(&list.rows[3], "0-2,4-6,8-9", "ranks in any order are put in order");
    property_add_of(&list, "mixed", "value", 3, 7);
    expect_ranks(&list.rows[3], "0-9", "a range joins those that it meets");
    tap_ok(property_has_rank(&list.rows[1], 3) && !property_has_rank(&list.rows[1], 2), "which ranks");
    tap_equal_string(property_find(&list, "program"), "./a", "the first value of a name");
    tap_ok(property_find(&list, "nothing") == NULL, "no value");
    property_list_clear(&list);
}

static void test_text(void)
{
    struct property_list list = {0};
    tap_ok(property_add_text(&list, "a", "1", "0-3,8") && property_add_text(&list, "b", "2", NULL), "ranks of text");
    expect_ranks(&list.rows[0], "0-3,8", "come back");
    const char *const wrong[] = {"x", "3-1", "4,2", "0-3,2", "16777216", "1-", "0;1", "-1", "99999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        tap_ok(!property_add_text(&list, "c", "3", wrong[i]), "no ranks: %s", wrong[i]);
    property_list_clear(&list);
}

static void test_hosts(void)
{
    struct defs *defs = defs_new();
    for (uint32_t rank = 0; rank < 6; rank++)
        defs_add_location(defs, &(struct location_def){.process = rank,
                                                       .host = rank < 4    ? "a"
                                                               : rank == 4 ? "b"
                                                                           : NULL});
    property_add(&defs->properties, "X::OWN", "value");
    property_add(&defs->properties, "mpi", "one");
    property_add(&defs->properties, "command", "app");
    struct property_list list = property_list_of(defs);
    tap_ok(list.count == 5, "properties and hosts");
    const char *const names[] = {"command", "host", "host", "mpi", "X::OWN"};
    for (size_t i = 0; i < list.count; i++)
        tap_equal_string(list.rows[i].name, names[i], "in the order of the known names");
    expect_ranks(&list.rows[1], "0-3", "processes of a host");
    property_list_clear(&list);
    defs_free(defs);
}

static void test_command(void)
{
    char text[40] = "", small[8] = "";
    tap_ok(shell_text_add(text, sizeof text, "./app") && shell_text_add(text, sizeof text, "it's a") &&
               shell_text_add(text, sizeof text, ""),
           "arguments fit");
    tap_equal_string(text, "./app 'it'\\''s a' ''", "as a shell takes them");
    tap_ok(!shell_text_add(small, sizeof small, "longer than that"), "an argument that does not fit");
}

static void test_date(void)
{
    char text[64];
    struct launch_note zone = {.has_zone = true, .zone_s = -(3 * 3600 + 1800)}, utc = {0};
    tap_ok(launch_note_date(&utc, 1763868336123, text, sizeof text), "a date");
    tap_equal_string(text, "2025-11-23T03:25:36.123Z", "in UTC");
    tap_ok(launch_note_date(&zone, 1763868336123, text, sizeof text), "a date");
    tap_equal_string(text, "2025-11-22T23:55:36.123-03:30", "in a time zone");
    tap_ok(!launch_note_date(&utc, INT64_MAX, text, sizeof text), "beyond the year 9999");
}

static bool records_all(const char *const (*facts)[2], size_t count)
{
    struct property_list list = {0};
    for (size_t i = 0; i < count; i++)
        property_add(&list, facts[i][0], facts[i][1]);
    bool all = property_records_all(&list);
    property_list_clear(&list);
    return all;
}

static void test_records_all(void)
{
    static const char *const ours[][2] = {{"recorder", "SIGHT 1.0.0"}, {"options", "samples=50"}},
                             *const chosen[][2] = {{"recorder", "SIGHT 1.0.0"}, {"options", "buffer=1M skip=Recv"}},
                             *const paused[][2] = {{"recorder", "SIGHT 1.0.0"}, {"paused", "for a time"}},
                             *const kept[][2] = {{"recorder", "SIGHT 1.0.0"}, {"totals", "1 2 3"}},
                             *const others[][2] = {{"recorder", "Score-P 8.0"}};
    tap_ok(records_all(ours, 2), "a recording has all");
    tap_ok(!records_all(chosen, 2), "but not with a choice of functions");
    tap_ok(!records_all(paused, 2), "nor with a pause");
    tap_ok(!records_all(kept, 2), "nor with a sample of the events");
    tap_ok(!records_all(others, 1), "of other recorders that is not known");
    tap_ok(!records_all(NULL, 0), "nor without any fact");
}

int main(void)
{
    test_records_all();
    test_rows();
    test_text();
    test_hosts();
    test_command();
    test_date();
    return tap_done();
}
