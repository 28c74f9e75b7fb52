/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_STUCK_JUDGING_H
#define SIGHT_STUCK_JUDGING_H

#include "stuck/stuck_place.h"
#include "stuck/stuck_text.h"

/* A verdict in the making. */
struct judging {
    struct stuck *stuck;
    struct stuck_state *state;
    struct stuck_graph graph;
    char text[STUCK_TEXT_SIZE];
    size_t process_capacity, cycle_capacity;
};

/* True for places that hang: in a call or a loop of tests that can never end. */
bool judging_is_dead(const struct judging *judging, const struct place *place);

/* Left MPI, or about to. */
bool judging_is_leaving(const struct judging *judging, const struct place *place);

/* One of the processes that are the problem. */
void judging_add_process(struct judging *judging, uint32_t process);

/* The relevant place of a process: preferably one that hangs. */
struct place *judging_place(const struct judging *judging, uint32_t process);

/* Words of the verdict; "Process 3 " at the begin of a sentence, "process 3 " within one. */
void judging_say(struct judging *judging, const char *words);
void judging_say_process(struct judging *judging, bool begins, uint32_t process);

/* The order of ranks, for qsort(). */
int judging_compare_ranks(const void *a, const void *b);

#endif
