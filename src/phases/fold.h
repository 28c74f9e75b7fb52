/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_PHASES_FOLD_H
#define SIGHT_PHASES_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Folds repetition in a sequence of symbols into nested loops: bottom-up tandem folding (rules of diagnosis, 5.2, after
   the RSDs and PRSDs of ScalaTrace: Noeth, Ratn, Mueller, Schulz, de Supinski, JPDC 2009). Loops of the same body are
   the same loop whatever their number of iterations, so the trip counts of inner loops may vary. loops.h is based on
   it.

   In a round at most 256 lengths of bodies are tried, each in O(n / length) where nothing repeats after it, in O(n) at
   worst; the total is bounded by FOLD_EFFORT * n steps, after which the rest stays unfolded. Memory is O(n). */

enum { FOLD_NONE = UINT32_MAX, FOLD_LONGEST_BODY = 4096, FOLD_LENGTHS = 256, FOLD_EFFORT = 1024 };

/* A repeating unit: a symbol (length 0), a cut, or a loop of this body whatever its count. */
struct fold_shape {
    uint32_t body;   /* index of its first shape in fold.bodies */
    uint32_t length; /* shapes of the body; 0: no loop */
    uint32_t chain;  /* internal: next shape of the same hash */
};

/* A symbol or a loop at its place. */
struct fold_node {
    uint32_t shape;
    uint32_t begin, end;  /* symbols [begin, end) of the sequence */
    uint32_t count;       /* iterations of a loop; 1 of a symbol */
    uint32_t child, last; /* nodes of all its iterations, count * length of them */
    uint32_t next;        /* after it in the same chain; FOLD_NONE: the last */
};

/* A node of a shape beyond the symbols is a loop if its shape has a length, else a cut. */
struct fold {
    struct fold_node *nodes;
    size_t node_count, node_capacity;
    struct fold_shape *shapes; /* shape s < symbols: symbol s */
    size_t shape_count, shape_capacity;
    uint32_t *bodies;
    size_t body_count, body_capacity;
    uint32_t symbols;
    uint32_t first; /* node of the outermost chain; FOLD_NONE: the sequence is empty */
    size_t steps;   /* steps spent */
};

/* Folds `count` symbols, each below `symbol_count`. No loop spans a cut, which is before the symbol of its index
   (ascending; NULL: none). Free with fold_free. */
struct fold *fold_new(const uint32_t *symbols, size_t count, uint32_t symbol_count, const uint32_t *cuts,
                      size_t cut_count);
void fold_free(struct fold *fold);

static inline bool fold_is_loop(const struct fold *fold, uint32_t node)
{
    return fold->shapes[fold->nodes[node].shape].length > 0;
}
static inline bool fold_is_cut(const struct fold *fold, uint32_t node)
{
    return fold->nodes[node].shape >= fold->symbols && !fold_is_loop(fold, node);
}

/* Where iterations begin. After a prologue that shares symbols with it, a loop is found as (b a)^n b instead of (a b)^n
   (rules of diagnosis, 5.2, "canonical rotation"). Rotates such bodies so that they begin after a symbol that `ends` an
   iteration (a collective of the world) or, if the body has none, after the longest gap. Only if the nodes after the
   loop complete its last iteration, so that none is lost. Both arrays are by place in the sequence; NULL: not known. */
void fold_rotate(struct fold *fold, const bool *ends, const int64_t *gaps_ns);

#endif
