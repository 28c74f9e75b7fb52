/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_STUCK_STUCK_TEXT_H
#define SIGHT_STUCK_STUCK_TEXT_H

#include "stuck/stuck_graph.h"

/* The words for places and what they wait for. All append to a text (core/text.h). */

enum { STUCK_TEXT_SIZE = 2400 };

/* "MPI_Recv (ring.c:12)"; of a state and site. */
void say_call(char text[STUCK_TEXT_SIZE], const struct stuck_state *state, uint32_t function, uint32_t site);

/* "process 3", "processes 0, 2 and 3", "processes 0, 1, 2 and 61 more". */
void say_processes(char text[STUCK_TEXT_SIZE], const uint32_t *processes, size_t count);

/* What an edge of the place waits for: " for a message of process 1 with tag 7". */
void say_wait(char text[STUCK_TEXT_SIZE], const struct stuck_graph *graph, const struct place *place,
              const struct edge *edge);

/* "is in MPI_Finalize", "has left MPI", "crashed with signal 11 (SIGSEGV) in MPI_Recv (x.c:3)", "computes since
   MPI_Barrier (x.c:3) returned", "waits in MPI_Recv (x.c:3) for ...". */
void say_doing(char text[STUCK_TEXT_SIZE], const struct stuck_graph *graph, const struct place *place);

/* Of a process that left no note: "was killed (SIGKILL, as by the kernel for lack of memory) in MPI_Recv (x.c:3)". */
void say_died(char text[STUCK_TEXT_SIZE], const struct stuck_state *state, const struct place *place);

/* "MPI_COMM_WORLD", "communicator 5". */
void say_comm(char text[STUCK_TEXT_SIZE], const struct stuck_state *state, int32_t comm);

/* A message that would be what a process waits for, had its probe not taken it. */
bool say_taken(char text[STUCK_TEXT_SIZE], const struct stuck_state *state, const struct place *place,
               const struct item *item);

/* Unreceived messages to a process that nearly match what it waits for; of anybody, or of the sender it waits for. */
bool say_near_misses(char text[STUCK_TEXT_SIZE], const struct stuck_state *state, const struct place *place,
                     const struct item *item, bool of_anybody);

#endif
