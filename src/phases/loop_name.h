/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_PHASES_LOOP_NAME_H
#define SIGHT_PHASES_LOOP_NAME_H

#include "phases/loops.h"

enum { LOOP_NAME_SIZE = 120 };

/* The functions in the body of a loop of the location, each once, those of loops inside in brackets, where
   these have others: "MPI_Send, (MPI_Recv, MPI_Wait)". Cut with dots at its end. Returns a hash of all of them, in
   order. */
uint64_t loop_name(const struct graph *graph, uint32_t location, const struct loop_tree *tree, uint32_t loop,
                   char name[LOOP_NAME_SIZE]);

#endif
