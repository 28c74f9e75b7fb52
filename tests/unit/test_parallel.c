/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/parallel.h"

#include "unit/tap.h"

#include <stdatomic.h>

enum { TASKS = 5000 };

static atomic_int done[TASKS];

static void task(void *context, size_t index)
{
    atomic_fetch_add(&done[index], 1);
    atomic_fetch_add((atomic_int *)context, 1);
}

static void test_each_once(unsigned threads, size_t count)
{
    atomic_int all = 0;
    for (size_t i = 0; i < TASKS; i++)
        done[i] = 0;
    parallel_run(threads, count, task, &all);
    size_t wrong = 0;
    for (size_t i = 0; i < TASKS; i++)
        wrong += done[i] != (i < count);
    tap_ok(wrong == 0 && all == (int)count, "%zu tasks in %u threads: each once, all done", count, threads);
}

int main(void)
{
    static const unsigned threads[] = {0, 1, 2, 7};
    static const size_t counts[] = {0, 1, 3, TASKS};
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 4; k++)
            test_each_once(threads[i], counts[k]);
    tap_ok(parallel_processors() >= 1, "there is a processor");
    return tap_done();
}
