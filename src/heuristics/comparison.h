/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_COMPARISON_H
#define SIGHT_HEURISTICS_COMPARISON_H

#include "heuristics/heuristic.h"

/* Versions of one program side by side. A version has one run or several; several are averaged, with their spread. All
   changes are against the first version. */

struct version {
    const char *name;
    const struct metrics *const *runs;
    size_t run_count; /* at least 1 */
};

/* The quantities of a whole run that are compared. */
enum quantity_unit { QUANTITY_SECONDS, QUANTITY_SHARE, QUANTITY_COUNT, QUANTITY_BYTES };
enum better { BETTER_NEITHER, BETTER_LOWER, BETTER_HIGHER };
struct quantity {
    const char *id, *title;
    enum quantity_unit unit;
    enum better better;
    double (*get)(const struct metrics *metrics, const struct heuristic_result *results);
};
size_t quantity_count(void);
const struct quantity *quantity_at(size_t index);

/* A number of a version: over its runs. */
struct averaged {
    double mean, least, most;
};

/* A change against the first version is only reported if it is larger than the noise. For versions with several runs
   each, statistical tests decide (runs/significance.h); else a rough rule: the ranges of the runs do not overlap, and
   the means differ by at least 2 % of the first (or anything, where that was 0). */
enum change { CHANGE_SAME, CHANGE_BETTER, CHANGE_WORSE, CHANGE_OTHER };
enum change change_of(struct averaged first, struct averaged now, enum better better);
const char *change_name(enum change change); /* "same", "better", "worse", "changed" */

/* A function or state, by its shown name: exclusive time and calls of all processes together. */
struct compared_function {
    const char *name;
    enum function_class class;
    struct averaged *seconds, *calls; /* for each version; 0 where it does not occur */
    enum change *changes;             /* of its seconds, for each version */
};

/* A process, by rank. */
struct compared_process {
    uint32_t rank;
    struct averaged *compute, *communication, *total; /* seconds, for each version; 0 where it is missing */
};

struct comparison {
    const struct version *versions;
    size_t version_count;
    struct averaged *quantities;         /* quantity_count() of each version, version by version */
    enum change *changes;                /* of the same, against the first version */
    struct compared_function *functions; /* sorted by the change between first and last version, the largest first */
    size_t function_count;
    struct compared_process *processes; /* by rank */
    size_t process_count;
    bool sizes_differ; /* numbers of processes are not the same */
};

/* Free with comparison_clear. The versions are borrowed. */
struct comparison comparison_of(const struct version *versions, size_t count);
void comparison_clear(struct comparison *comparison);

static inline struct averaged comparison_quantity(const struct comparison *comparison, size_t version, size_t quantity)
{
    return comparison->quantities[version * quantity_count() + quantity];
}

static inline enum change comparison_change(const struct comparison *comparison, size_t version, size_t quantity)
{
    return comparison->changes[version * quantity_count() + quantity];
}

#endif
