/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions in which some processes compute more than others, from samples with known rates: the planted line is named,
   and in even runs nothing. */
#include "profile/profile_excess.h"

#include "core/memory.h"
#include "unit/random.h"
#include "unit/tap.h"

#include <math.h>
#include <stdlib.h>

/* So many of `trials` with this probability. */
static uint64_t binomial(uint64_t trials, double probability)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < trials; i++)
        count += random_uniform() < probability;
    return count;
}

static void tails(void)
{
    tap_ok(fabs(profile_binomial_tail(10, 8, 0.5) - 56.0 / 1024) < 1e-12, "8 or more of 10 coins");
    tap_ok(fabs(profile_binomial_tail(5, 5, 1.0 / 3) - 1.0 / 243) < 1e-12, "5 of 5 at a third");
    tap_ok(profile_binomial_tail(5, 0, 0.5) == 1 && profile_binomial_tail(5, 6, 0.5) == 0, "all and none");
    tap_ok(fabs(profile_binomial_tail(1000000, 501000, 0.5) - 0.02275) < 1e-4, "two deviations of a million coins");
}

enum { PROCESSES = 4, FUNCTIONS = 6, TRIES = 200 };

/* A run in which every process samples 6 functions, each on a path of its own below main. Process 3 has `more` times as
   many of function 2. */
static struct profile *run(struct defs *defs, double more)
{
    struct profile_builder *builder = profile_builder_new(&(struct profile_select){0});
    struct sink *sink = profile_builder_sink(builder);
    struct error err = {0};
    struct batch *batch = memory_new(sizeof *batch);
    if (sink->begin(sink, defs, &err) != STATUS_OK)
        abort();
    for (uint32_t process = 0; process < PROCESSES; process++)
        for (uint32_t function = 0; function < FUNCTIONS; function++) {
            uint64_t count = binomial(400, 0.1 * (function == 2 && process == 3 ? more : 1));
            for (uint64_t i = 0; i < count; i++) {
                batch->events[0] = EVENT_NOTHING;
                batch->events[0].kind = EVENT_SAMPLE;
                batch->events[0].process = process;
                batch->events[0].state = function + 1;
                batch->events[0].value = 10000000;
                batch->count = 1;
                if (sink->events(sink, batch, &err) != STATUS_OK)
                    abort();
            }
        }
    free(batch);
    return profile_builder_end(builder);
}

static struct defs *functions(void)
{
    struct defs *defs = defs_new();
    for (uint32_t i = 0; i <= FUNCTIONS; i++) {
        char name[2] = {(char)(i == 0 ? 'm' : '0' + i - 1), 0};
        defs_add_site(defs, &(struct site_def){.file = (char *)"a.c", .function = name, .line = (int32_t)i + 1});
        defs_add_path(defs, &(struct path_def){i > 0, PATH_NO_STATE, i + 1});
    }
    return defs;
}

static void planted(void)
{
    static const uint32_t all[] = {0, 1, 2, 3}, culprit[] = {3};
    const struct profile_groups groups = {culprit, 1, all, PROCESSES};
    struct defs *defs = functions();
    size_t right = 0, caller = 0, false_named = 0;
    for (int i = 0; i < 2 * TRIES; i++) {
        struct profile *profile = run(defs, i < TRIES ? 2.5 : 1);
        struct profile_rows rows = profile_rows_of(profile, PROFILE_BY_FUNCTION);
        struct profile_excess found[3];
        size_t count = profile_excess_find(profile, &rows, &groups, found, 3);
        if (i >= TRIES) {
            false_named += count > 0;
        } else if (count > 0 && strcmp(rows.row[found[0].row].name, "2") == 0) {
            right++;
            caller += found[0].caller != UINT32_MAX && strcmp(rows.row[found[0].caller].name, "m") == 0;
        }
        profile_rows_clear(&rows);
        profile_free(profile);
    }
    tap_ok(right >= TRIES * 19 / 20, "planted: the function is named first in %zu of %d runs", right, TRIES);
    tap_ok(caller == right, "planted: and who calls it");
    tap_ok(false_named == 0, "even: nothing is named in %d runs, but in %zu", TRIES, false_named);
    defs_free(defs);
}

int main(void)
{
    tails();
    planted();
    return tap_done();
}
