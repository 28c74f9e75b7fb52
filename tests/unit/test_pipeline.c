/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/pipeline.h"

#include "unit/tap.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

enum { STAGES = 4, ITEMS_MOST = 5 };

/* Each item has the number that stage 0 gave it, and how many stages it went through. */
struct run {
    size_t count;   /* items that there are */
    size_t stop_at; /* item at which stage 2 ends all work */
    size_t next[STAGES];
    struct {
        size_t number, stages;
    } item[ITEMS_MOST];
    atomic_int inside[STAGES];
    atomic_bool wrong;
};

static bool step(void *context, size_t stage, size_t item)
{
    struct run *run = context;
    bool more = true;
    if (atomic_fetch_add(&run->inside[stage], 1) != 0)
        run->wrong = true; /* a stage takes one item at a time */
    if (stage == 0) {
        more = run->next[0] < run->count;
        run->item[item].number = run->next[0];
        run->item[item].stages = 0;
    } else if (run->item[item].number != run->next[stage] || run->item[item].stages != stage) {
        run->wrong = true; /* and all in order */
    }
    if (stage == 2 && run->next[2] == run->stop_at)
        more = false;
    run->item[item].stages++;
    run->next[stage] += more;
    atomic_fetch_sub(&run->inside[stage], 1);
    return more;
}

static void test_run(unsigned threads, size_t items, size_t count, size_t stop_at)
{
    static struct run run;
    memset(&run, 0, sizeof run);
    run.count = count;
    run.stop_at = stop_at;
    struct pipeline pipeline = {.stages = STAGES, .items = items, .step = step, .context = &run};
    bool all = pipeline_run(&pipeline, threads);
    if (stop_at < count) {
        tap_ok(!all && !run.wrong && run.next[2] == stop_at && run.next[3] <= stop_at,
               "%u threads, %zu items at once, %zu in all: ended at item %zu", threads, items, count, stop_at);
        return;
    }
    tap_ok(all && !run.wrong && run.next[0] == count && run.next[STAGES - 1] == count,
           "%u threads, %zu items at once, %zu in all: each through all stages, in order", threads, items, count);
}

int main(void)
{
    static const unsigned threads[] = {0, 1, 2, 3, 7};
    static const size_t counts[] = {0, 1, 5, 3000};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++)
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            test_run(threads[i], 1, counts[k], SIZE_MAX);
            test_run(threads[i], 3, counts[k], SIZE_MAX);
            test_run(threads[i], ITEMS_MOST, counts[k], SIZE_MAX);
            test_run(threads[i], 3, counts[k], counts[k] / 2);
        }
    return tap_done();
}
