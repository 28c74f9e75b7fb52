/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_STRUCTURE_H
#define SIGHT_HEURISTICS_STRUCTURE_H

#include "heuristics/traffic_features.h"

/* Finds the parallel structure of a run, or a phase of it, from which process sends to which: templates are compared
   with the messages (rules of diagnosis, 6; after Kerbyson, Barker 2005). The score of a template is the share of the
   bytes (messages, where no bytes are known) that it explains:

   - master-worker: of one process, the master. star: the same, where that process receives from all, or sends to all,
   in rounds (advice.c), as a reduction by hand does: it hands out no work.
   - pipeline: along a chain in one direction, always the same number of ranks on, and none back to its begin.
   - ring: the same, modulo the number of processes, and round.
   - halo: between neighbours of a grid in row-major numbering (the last dimension changes fastest), open or periodic;
   with corners if without them it is less than 0.9 and half of the corners are used; times the symmetry where that is
   below 0.9, or below 0.5 where as many messages come back. Of the grids of n dimensions the best; of n the smallest
   that is within 0.02 of the best. A grid so small that nearly all are neighbours is none.
   - butterfly: between ranks that differ in one bit, if all bits have at least half of an equal share of the messages;
   times the symmetry as above.
   - tree: between i and i without its lowest bit (binomial).
   - all-to-all: the share of pairs that have messages, if it is 0.9 at least; less where they differ (variation 0.5 or
   more).

   A template of which less than half of the pairs have messages does not fit. Of templates that explain the same (to
   0.02) the one with the largest part of its pairs used is best; if equal, the one that the order of steps shows, then
   the first in this list, but all-to-all before the others. Below 0.8 the structure is irregular. */
#define STRUCTURE_KINDS(X)                                                                                             \
    X(TOO_FEW, "too-few")                                                                                              \
    X(COLLECTIVE, "collective")                                                                                        \
    X(MASTER_WORKER, "master-worker")                                                                                  \
    X(PIPELINE, "pipeline")                                                                                            \
    X(RING, "ring")                                                                                                    \
    X(HALO, "halo")                                                                                                    \
    X(BUTTERFLY, "butterfly")                                                                                          \
    X(TREE, "tree")                                                                                                    \
    X(ALL_TO_ALL, "all-to-all")                                                                                        \
    X(STAR, "star")                                                                                                    \
    X(IRREGULAR, "irregular")

enum structure_kind {
#define STRUCTURE_MEMBER(name, word) STRUCTURE_##name,
    STRUCTURE_KINDS(STRUCTURE_MEMBER)
#undef STRUCTURE_MEMBER
};

/* "master-worker" */
const char *structure_name(enum structure_kind kind);

/* Whether the partners of an iteration are served all at once (requests posted together) or one after the other:
   distinguishes a halo of 2 x 2 x 2 from a butterfly, which has the same matrix. */
enum step_order { STEPS_UNKNOWN, STEPS_TOGETHER, STEPS_IN_ORDER };

/* What is known. Shares below 0: not known. */
struct structure_input {
    const struct traffic_pair *pairs;
    size_t pair_count;
    uint32_t processes;
    double message_time;  /* share of the time in MPI that is in messages between two processes */
    double message_bytes; /* share of the bytes that is in them, the rest being in collectives */
    bool alltoall;        /* MPI_Alltoall(v) has most of the bytes */
    enum step_order order;
};

struct structure_match {
    enum structure_kind kind;
    double score;
    double used;               /* part of the template's pairs that have messages */
    uint32_t dimensions;       /* halo: 1 to 3 */
    uint32_t size[3];          /* the last changes fastest */
    bool periodic[3], corners; /* halo */
    uint32_t centre;           /* master-worker */
    int64_t step;              /* pipeline and ring: ranks on; below 0: backwards */
};

struct structure {
    enum structure_kind kind;
    struct structure_match best, second; /* templates; score 0: none fits */
    bool clear;                          /* it explains 0.9, of a master 0.95: workers less than 5 % among themselves */
    bool ambiguous;                      /* the second explains as much with as few pairs */
    bool by_bytes;
    uint32_t processes, least_degree, most_degree;
    double mean_degree;
};

/* Time O(pairs) for each template and possible grid. Fewer than four processes have no structure. */
struct structure structure_of(const struct structure_input *input);

/* A sentence without its stop: "a 2 × 4 halo exchange, open borders: 97 % of the bytes". */
enum { STRUCTURE_TEXT_SIZE = 256 };
char *structure_text(char buffer[STRUCTURE_TEXT_SIZE], const struct structure *structure);

/* How well each template fits, in structure_template.c; the kind is set, and a score of 0 means that it does not fit.
 */
enum { STRUCTURE_TEMPLATES = 7 };
void structure_templates(const struct traffic_features *features, struct structure_match matches[STRUCTURE_TEMPLATES]);

#endif
