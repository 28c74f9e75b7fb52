/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/free_waits.h"

#include "core/memory.h"
#include "replay/arrival_order.h"
#include "replay/handed_over.h"

#include <stdlib.h>

static const unsigned ORDERS = 1u << WAIT_WRONG_ORDER_SAME | 1u << WAIT_WRONG_ORDER_OTHER;

unsigned free_waits_with(enum wait_kind kind)
{
    if (kind == WAIT_LATE_SENDER)
        return ORDERS | 1u << kind;
    if (ORDERS >> kind & 1)
        return ORDERS;
    return 1u << kind;
}

void free_waits_add(const struct graph *graph, enum wait_kind kind, struct replay_options *options)
{
    if (kind == WAIT_IO && !options->handed)
        options->handed = handed_over_of(graph);
    if (!(ORDERS >> kind & 1))
        options->free_waits |= free_waits_with(kind);
    else if (!options->instead)
        options->instead = arrival_order_of(graph);
}

void free_waits_clear(struct replay_options *options)
{
    free((uint32_t *)(uintptr_t)options->instead);
    handed_over_free((struct handed_over *)(uintptr_t)options->handed);
    options->instead = NULL;
    options->handed = NULL;
}
