/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/phase_pack.h"

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

static size_t iteration_cells(const struct iteration_metrics *iterations)
{
    return iterations->computing_ns ? iterations->group_count * iterations->row_count : 0;
}

static void put_name(struct packing *packing, const char *name)
{
    packing_put_array(packing, name, strlen(name) + 1, 1);
}

void phase_metrics_pack(const struct phase_metrics *phases, struct packing *packing)
{
    const struct iteration_metrics *iterations = &phases->iterations;
    packing_put(packing, phases, sizeof *phases);
    PACK_ARRAY(packing, phases->phases, phases->phase_count);
    PACK_ARRAY(packing, phases->cells, phases->group_count * phases->phase_count);
    PACK_ARRAY(packing, phases->loops, phases->loop_count);
    PACK_ARRAY(packing, iterations->rows, iterations->row_count);
    PACK_ARRAY(packing, iterations->computing_ns, iteration_cells(iterations));
    for (size_t i = 0; i < phases->phase_count; i++)
        put_name(packing, phases->phases[i].name);
    for (size_t i = 0; i < phases->loop_count; i++)
        put_name(packing, phases->loops[i].name);
}

/* The pointers of the process that packed them must not survive. */
static void take_names(struct phase_metrics *phases, struct unpacking *unpacking)
{
    size_t length, capacity;
    for (size_t i = 0; i < phases->phase_count; i++)
        phases->phases[i].name = NULL;
    for (size_t i = 0; i < phases->loop_count; i++)
        phases->loops[i].name = NULL;
    for (size_t i = 0; i < phases->phase_count; i++)
        UNPACK_ARRAY(unpacking, phases->phases[i].name, length, capacity);
    for (size_t i = 0; i < phases->loop_count; i++)
        UNPACK_ARRAY(unpacking, phases->loops[i].name, length, capacity);
}

struct phase_metrics *phase_metrics_unpack(struct unpacking *unpacking)
{
    struct phase_metrics *phases = memory_new(sizeof *phases);
    struct iteration_metrics *iterations = &phases->iterations;
    size_t count, capacity;
    unpacking_take(unpacking, phases, sizeof *phases);
    UNPACK_ARRAY(unpacking, phases->phases, phases->phase_count, capacity);
    UNPACK_ARRAY(unpacking, phases->cells, count, capacity);
    UNPACK_ARRAY(unpacking, phases->loops, phases->loop_count, capacity);
    UNPACK_ARRAY(unpacking, iterations->rows, iterations->row_count, capacity);
    UNPACK_ARRAY(unpacking, iterations->computing_ns, count, capacity);
    take_names(phases, unpacking);
    if (!unpacking->failed)
        return phases;
    phase_metrics_free(phases);
    return NULL;
}
