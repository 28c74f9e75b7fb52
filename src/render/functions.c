/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/functions.h"

#include "core/memory.h"

#include <string.h>

struct sum {
    int32_t state;
    int64_t ns;
};

static int by_time(const void *a, const void *b)
{
    const struct sum *left = a, *right = b;
    if (left->ns != right->ns)
        return left->ns > right->ns ? -1 : 1;
    return (left->state > right->state) - (left->state < right->state);
}

struct functions functions_of(const struct metrics *metrics)
{
    struct functions functions = {0};
    size_t states = metrics->defs->state_count, found = 0;
    struct sum *sums = memory_new((states ? states : 1) * sizeof *sums);
    for (size_t i = 0; i < metrics->process_count; i++)
        for (size_t k = 0; k < metrics->process[i].function_count; k++) {
            const struct function_row *row = &metrics->process[i].functions[k];
            if (metrics->defs->states[row->state].is_mpi && row->exclusive_ns > 0)
                sums[row->state].ns += row->exclusive_ns;
        }
    for (size_t i = 0; i < states; i++)
        if (sums[i].ns > 0)
            sums[found++] = (struct sum){(int32_t)i, sums[i].ns};
    qsort(sums, found, sizeof *sums, by_time);
    for (size_t i = 0; i < found; i++) {
        size_t place = i < FUNCTIONS_MAX ? i : FUNCTIONS_MAX;
        if (i < FUNCTIONS_MAX)
            functions.state[functions.count++] = sums[i].state;
        functions.seconds[place] += (double)sums[i].ns / 1e9;
        functions.others += i >= FUNCTIONS_MAX;
    }
    free(sums);
    return functions;
}

void functions_of_process(const struct functions *functions, const struct metrics *metrics,
                          const struct process_row *row, double seconds[FUNCTIONS_MAX + 1])
{
    memset(seconds, 0, (FUNCTIONS_MAX + 1) * sizeof *seconds);
    for (size_t k = 0; k < row->function_count; k++) {
        const struct function_row *function = &row->functions[k];
        if (!metrics->defs->states[function->state].is_mpi || function->exclusive_ns <= 0)
            continue;
        size_t place = 0;
        while (place < functions->count && functions->state[place] != (int32_t)function->state)
            place++;
        seconds[place < functions->count ? place : FUNCTIONS_MAX] += (double)function->exclusive_ns / 1e9;
    }
}
