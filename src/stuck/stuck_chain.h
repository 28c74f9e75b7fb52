/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_STUCK_STUCK_CHAIN_H
#define SIGHT_STUCK_STUCK_CHAIN_H

#include "stuck/judging.h"

/* Who waits for whom, from one process to the next. */

/* One step of a chain of waits: the place waits for a process by `edge`, and through `via` where that leads to a node
   that stands for several. */
struct step {
    const struct place *place, *next;
    const struct edge *edge, *via;
};

/* The chain of waits from a place: to a process that has left, or until it closes a cycle. */
struct chain {
    struct step *steps;
    size_t count, capacity;
    size_t begin; /* the first step of the cycle; `count`: it ends with a process that has left */
};

/* The process that the place waits for in vain: preferably one that has not left MPI. No `next`: there is none. */
struct step step_from(const struct judging *judging, const struct place *place);

/* Each place has one step, so that the chain ends: with a process that has left, or with a place seen before. */
struct chain chain_from(const struct judging *judging, const struct place *place);

/* Since when the chain cannot go on: its cycle is closed, or the process that has left is gone, whatever others do.
   Where one of several would be enough, only the last of all places that hang tells: INT64_MAX. */
int64_t chain_since(const struct judging *judging, const struct chain *chain);

/* It waits for the epoch of a process; for its entry of a collective. */
bool step_is_epoch(const struct step *step);
bool step_is_collective(const struct step *step);

/* The message that it waits for; NULL: it is none. */
const struct item *step_item(const struct step *step);

/* True if messages like the one that a step waits for were received before: one of a series is missing. */
bool step_had_messages(const struct judging *judging, const struct step *step);

/* True if the sender that a step waits for has sent messages with that tag, to this process or to others. */
bool step_has_siblings(const struct judging *judging, const struct step *step);

/* True if the message that a step waits for was begun and lacks parts. */
bool step_is_begun(const struct judging *judging, const struct step *step);

/* True if a message that nearly is what a step waits for was sent and never received. */
bool step_has_near_miss(const struct judging *judging, const struct step *step);

#endif
