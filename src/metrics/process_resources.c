/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/process_resources.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <stdlib.h>
#include <string.h>

struct process_resources process_resources_none(uint32_t rank)
{
    struct process_resources process = {.rank = rank};
    memset(process.first, 0xff, sizeof process.first);
    memset(process.last, 0xff, sizeof process.last);
    return process;
}

static int by_rank(const void *key, const void *row)
{
    return order_by(*(const uint32_t *)key, ((const struct process_resources *)row)->rank);
}

const struct process_resources *resources_of(const struct resources *resources, uint32_t rank)
{
    if (!resources)
        return NULL;
    return bsearch(&rank, resources->process, resources->count, sizeof *resources->process, by_rank);
}

void resources_free(struct resources *resources)
{
    if (resources)
        free(resources->process);
    free(resources);
}

int64_t resources_used(const struct process_resources *process, enum resource_counter counter)
{
    if (process->last[counter] < 0 || !resource_counter_is_sum(counter))
        return process->last[counter];
    /* Sums count from the start of the thread, which is before the trace begins. One that falls is damage. */
    return larger(process->last[counter] - process->first[counter], 0);
}
