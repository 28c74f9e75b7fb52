/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_PIPELINE_H
#define SIGHT_CORE_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>

/* Work in stages. Items go through all stages one after the other; each stage takes the items in order, one at a time,
   and different stages work at the same time, on different items. So a stage may keep what it needs from one item to
   the next, and the result is the same with any number of threads. */
struct pipeline {
    size_t stages;
    size_t items; /* that are under way at most: step gets the numbers 0 to items - 1 again and again */
    /* Takes an item through a stage. False: from stage 0 that there are no more items, and this is none; from others
       that all work ends at once. */
    bool (*step)(void *context, size_t stage, size_t item);
    void *context;
};

/* Runs in up to `threads` threads, including the caller's; returns when all is done. True if all items went through all
   stages. If no thread can be created, the caller does everything. */
bool pipeline_run(const struct pipeline *pipeline, unsigned threads);

#endif
