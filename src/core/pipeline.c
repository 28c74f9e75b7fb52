/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/pipeline.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/parallel.h"

#include <pthread.h>
#include <stdint.h>

struct stage {
    uint64_t done; /* items that it has taken */
    bool busy;
};

struct work {
    const struct pipeline *pipeline;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct stage *stage;
    unsigned waiting; /* threads */
    bool ended;       /* stage 0 has no more items */
    bool stopped;
};

/* Called with the mutex. */
static bool is_ready(const struct work *work, size_t stage)
{
    const struct stage *at = &work->stage[stage];
    if (at->busy)
        return false;
    if (stage > 0)
        return at->done < work->stage[stage - 1].done;
    return !work->ended && at->done < work->stage[work->pipeline->stages - 1].done + work->pipeline->items;
}

/* The stage to go on with, given that of the last step: the same one, since what it works with is in the processor's
   cache; else the latest that can, so that items leave. `stages`: none can. */
static size_t next_stage(const struct work *work, size_t last)
{
    size_t stages = work->pipeline->stages;
    if (is_ready(work, last))
        return last;
    for (size_t stage = stages; stage-- > 0;)
        if (is_ready(work, stage))
            return stage;
    return stages;
}

static bool is_over(const struct work *work)
{
    return work->stopped || (work->ended && work->stage[work->pipeline->stages - 1].done == work->stage[0].done);
}

static void take_step(struct work *work, size_t stage)
{
    struct stage *at = &work->stage[stage];
    at->busy = true;
    pthread_mutex_unlock(&work->mutex);
    bool good = work->pipeline->step(work->pipeline->context, stage, (size_t)(at->done % work->pipeline->items));
    pthread_mutex_lock(&work->mutex);
    at->busy = false;
    if (good)
        at->done++;
    else if (stage == 0)
        work->ended = true;
    else
        work->stopped = true;
    if (work->waiting > 0)
        pthread_cond_broadcast(&work->changed);
}

static void do_work(void *context, size_t index)
{
    struct work *work = context;
    size_t stages = work->pipeline->stages, last = smaller(index, stages - 1);
    pthread_mutex_lock(&work->mutex);
    while (!is_over(work)) {
        size_t stage = next_stage(work, last);
        if (stage < stages) {
            take_step(work, stage);
            last = stage;
            continue;
        }
        work->waiting++;
        pthread_cond_wait(&work->changed, &work->mutex);
        work->waiting--;
    }
    pthread_mutex_unlock(&work->mutex);
}

bool pipeline_run(const struct pipeline *pipeline, unsigned threads)
{
    struct work work = {.pipeline = pipeline, .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    work.stage = memory_new(pipeline->stages * sizeof *work.stage);
    threads = larger(threads, 1U);
    parallel_run(threads, threads, do_work, &work);
    pthread_mutex_destroy(&work.mutex);
    pthread_cond_destroy(&work.changed);
    free(work.stage);
    return !work.stopped;
}
