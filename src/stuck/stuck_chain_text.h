/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_STUCK_STUCK_CHAIN_TEXT_H
#define SIGHT_STUCK_STUCK_CHAIN_TEXT_H

#include "stuck/stuck_chain.h"

/* The sentences for each way in which processes wait in vain. All add the processes that are the problem. */

/* "2 processes wait for each other: ...", of the cycle that a chain ends with. */
void say_cycle(struct judging *judging, const struct chain *chain);

/* "Members of a communicator are in different collectives: ...", or those of two communicators. */
void say_mismatch(struct judging *judging, const struct step *step);

/* Members called different collectives before, and went on. False: they did not, and nothing is said. */
bool say_former_mismatch(struct judging *judging, const struct step *step);

/* Members that never enter a collective, and what they do instead. */
void say_missing(struct judging *judging, const struct step *step);

/* A message that is never sent or never received, with near misses. */
void say_unmatched(struct judging *judging, const struct step *step);

/* An epoch of a window, or the end of a lock, that never comes. */
void say_epoch(struct judging *judging, const struct step *step);

#endif
