/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/hang.h"

#include "core/memory.h"

#include <string.h>

static const char *const kind_names[STUCK_KINDS] = {
    [STUCK_SLOW] = "slow",           [STUCK_CYCLE] = "cycle",         [STUCK_MISSING] = "missing",
    [STUCK_MISMATCH] = "mismatch",   [STUCK_UNMATCHED] = "unmatched", [STUCK_ENDED] = "ended",
    [STUCK_COMPUTING] = "computing", [STUCK_POLLING] = "polling",     [STUCK_UNEXPLAINED] = "unexplained"};

const char *stuck_kind_name(enum stuck_kind kind)
{
    return kind_names[kind];
}

enum stuck_kind stuck_kind_find(const char *name)
{
    for (enum stuck_kind kind = STUCK_SLOW; kind < STUCK_KINDS; kind++)
        if (strcmp(kind_names[kind], name) == 0)
            return kind;
    return STUCK_NOT;
}

void stuck_free(struct stuck *stuck)
{
    if (!stuck)
        return;
    free(stuck->text);
    free(stuck->processes);
    free(stuck->cycle);
    free(stuck->calls);
    free(stuck);
}
