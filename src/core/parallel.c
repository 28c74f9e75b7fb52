/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/parallel.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

struct work {
    void (*task)(void *context, size_t index);
    void *context;
    size_t count;
    atomic_size_t next;
};

static void *do_work(void *argument)
{
    struct work *work = argument;
    /* Tasks differ in length, so each thread takes the next one when it is done, instead of a fixed share. */
    size_t index;
    while ((index = atomic_fetch_add(&work->next, 1)) < work->count)
        work->task(work->context, index);
    return NULL;
}

void parallel_run(unsigned threads, size_t count, void (*task)(void *context, size_t index), void *context)
{
    struct work work = {.task = task, .context = context, .count = count};
    size_t wanted = smaller(threads, count), started = 0;
    pthread_t *helpers = memory_new(wanted * sizeof *helpers);
    /* A thread less is no fault: this thread takes part and would do all the tasks alone. */
    while (started + 1 < wanted && pthread_create(&helpers[started], NULL, do_work, &work) == 0)
        started++;
    do_work(&work);
    for (size_t i = 0; i < started; i++)
        pthread_join(helpers[i], NULL);
    free(helpers);
}

unsigned parallel_processors(void)
{
    /* Not the machine's processors: a batch system gives a job some of them. */
    cpu_set_t processors;
    int count = sched_getaffinity(0, sizeof processors, &processors) == 0 ? CPU_COUNT(&processors) : 1;
    if (count > 0)
        return (unsigned)count;
    return 1;
}
