/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RUNS_FINDING_CHANGES_H
#define SIGHT_RUNS_FINDING_CHANGES_H

#include "heuristics/comparison.h"
#include "runs/gate.h"

/* What costs more or less in one version of a program than in another: its findings, side by side. */

struct finding_change {
    const struct finding
        *finding; /* in the first run that has it, of the last version, else the first, else another; borrowed */
    struct averaged *saving_s; /* by version: what fixing it could save; 0 in a run without it */
    size_t *runs;              /* by version: how many have it */
    enum change *changes;      /* by version, against the first; CHANGE_SAME: less than 1 % of the run */
    double moved_s;            /* how much more it could save in the last version than in the first */
};

struct finding_changes {
    struct finding_change *change; /* the largest between first and last version first */
    size_t count;
    bool known; /* false: a run has no findings, as they were not asked for or are not known */
};

/* True if both are about the same problem: late senders in MPI_Recv and in MPI_Waitall are two, but which processes
   wait may differ from run to run. */
bool finding_is_same(const struct finding *a, const struct finding *b);

/* The finding about the same problem as `wanted`; NULL: there is none. */
const struct finding *finding_same_in(const struct findings *findings, const struct finding *wanted);

/* At least two versions. The findings must live as long. Free with finding_changes_clear. */
struct finding_changes finding_changes_of(const struct gate_version *versions, size_t count);
void finding_changes_clear(struct finding_changes *changes);

#endif
