/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RUNS_GATE_H
#define SIGHT_RUNS_GATE_H

#include "heuristics/finding.h"
#include "runs/significance.h"

/* Conditions of `sight compare --fail-on`, for continuous integration: "time > +3%, parallel-efficiency < -2%, new
   finding". A number of comparison.h or a finding's id, > or <, and the change that is too much, with its sign: per
   cent of the first version (of shares and findings: percentage points of the run), or seconds. A condition holds where
   the change is beyond its limit and is no chance: by permutation_test of this number alone, or of
   which runs have which findings, with Holm's correction (Scandinavian Journal of Statistics 6, 1979) for several
   conditions. */

struct gate_run {
    const struct metrics *metrics;
    const struct findings *findings; /* may be NULL where gate_needs_findings is false */
};
struct gate_version {
    const char *name;
    const struct gate_run *runs;
    size_t run_count;
};

/* A finding that no run of the first version has. */
struct gate_new {
    const struct finding *finding; /* of the first run that has it; borrowed */
    size_t runs;                   /* of the second version that have it */
    double p;
};

struct gate_check {
    char *text;              /* as it was written, without blanks around it */
    bool is_new_finding;     /* else a number: */
    struct tested tested;    /* its name is the condition's */
    enum quantity_unit unit; /* of the number */
    bool in_seconds;         /* the limit is; else of 1 */
    bool more;               /* too much is above the limit; else below */
    double limit;
    double change;                 /* in the limit's unit */
    const struct finding *finding; /* of the number, in the first run of the second version that has it; NULL */
    double p;                      /* by Holm's correction; 1 where nothing can be tested */
    bool is_beyond, fails;
};

struct gate {
    struct gate_check *checks;
    size_t count, failed;
    struct gate_new *new_findings; /* where a condition asks for them; the least p first */
    size_t new_count;
    size_t before, after; /* runs */
    bool is_possible;     /* so many runs can show something */
};

/* STATUS_FAILED and a fault (usage) where a condition cannot be understood. */
enum status gate_check_conditions(const char *conditions, struct error *err) MUST_CHECK;

/* True if a condition needs the analysis across processes. */
bool gate_needs_findings(const char *conditions);

/* Conditions were checked; NULL: none. STATUS_FAILED and a fault (usage) if one needs data that the runs lack.
   Free with gate_clear in any case. */
enum status gate_of(const char *conditions, const struct gate_version *before, const struct gate_version *after,
                    struct gate *gate, struct error *err) MUST_CHECK;
void gate_clear(struct gate *gate);

#endif
