/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_CLOCK_SENTENCE_H
#define SIGHT_RENDER_CLOCK_SENTENCE_H

#include "heuristics/finding.h"

/* What every report says of the clocks: how many messages are received before they are sent, what that means for waits
   and findings, and what --fix-clocks did. "" where there is nothing to say. Returns the buffer. */
enum { CLOCK_SENTENCE_SIZE = 600 };
char *clock_sentence(char buffer[CLOCK_SENTENCE_SIZE], const struct metrics *metrics, const struct findings *findings);

#endif
