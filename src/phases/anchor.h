/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_PHASES_ANCHOR_H
#define SIGHT_PHASES_ANCHOR_H

#include "phases/fold.h"

/* Cuts a sequence into iterations that need not be equal: at a symbol that each of them has once, the anchor (rules of
   diagnosis, 5.3). If an iteration has one call more or less than the others, folding finds no loop; this does.

   A segment reaches from one occurrence of the anchor to the next, or, if it `ends` iterations, from after one to after
   the next: then the part before the first is a segment, too, if it is half of one or more. Segments are compared
   folded, each loop written as its body once, so that trip counts do not matter: equal ones are of one type, the most
   frequent is the modal one. An anchor is accepted if it occurs ANCHOR_LEAST times or more, from its first to its last
   occurrence is half of the sequence or more, the modal segment has at least half of the symbols that occur
   ANCHOR_LEAST times there, and the segments' mean similarity to the modal one, 2 * LCS / (sum of both lengths), is 0.8
   or more. The last segment, which has no end, is excluded from all this. The best accepted anchor is the most similar
   one; among those within 0.06 of it, the one with most occurrences; if equal, one that `ends` iterations, then the
   most similar, then the `preferred` symbol, then the first to occur.

   At most ANCHORS symbols are tried (of those that occur equally often, three), each in the time of folding. */

enum { ANCHOR_LEAST = 4, ANCHORS = 12 };

struct anchor {
    uint32_t symbol;
    double similarity;
    uint32_t *starts;       /* where each iteration begins; the last ends at `end`; owned */
    uint32_t *types;        /* by iteration, numbered in the order in which they occur; owned */
    size_t count;           /* iterations; 0: no anchor was accepted */
    uint32_t end;           /* after the last iteration */
    uint32_t modal;         /* the first iteration of the most frequent type */
    uint32_t modal_symbols; /* distinct symbols of the modal segment */
    uint32_t *modal_body;   /* the modal segment, each loop as its body once; owned */
    size_t modal_length;
    struct fold *fold; /* of the sequence, cut at the starts; owned */
};

/* The best anchor of `count` symbols, each below symbol_count; `ends` is by place in the sequence (NULL: not known),
   `preferred` may be FOLD_NONE. */
struct anchor anchor_of(const uint32_t *symbols, size_t count, uint32_t symbol_count, const bool *ends,
                        uint32_t preferred);
void anchor_clear(struct anchor *anchor);

/* How many iterations the order of types repeats after: 1 if all are alike, 3 for X X Y X X Y, 0 if it does not. */
uint32_t anchor_period(const struct anchor *anchor);

#endif
