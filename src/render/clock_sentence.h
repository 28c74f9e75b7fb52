/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_CLOCK_SENTENCE_H
#define SIGHT_RENDER_CLOCK_SENTENCE_H

#include "heuristics/finding.h"
#include "timeline/overlay.h"

/* The sentence about clocks in every report: how many messages are received before they are sent, what that means for
   waits and findings, and the effect of --fix-clocks. "" if there is nothing to say. Returns the buffer. */
enum { CLOCK_SENTENCE_SIZE = 800 };
char *clock_sentence(char buffer[CLOCK_SENTENCE_SIZE], const struct metrics *metrics, const struct findings *findings);

/* The clocks of a timeline, as part of a line: "clocks corrected by up to 4.00 ms", "clocks err by up to
   3.03 ms (--fix-clocks corrects)". "" if there is nothing to say or, without an overlay, nothing is known. Returns the
   buffer. */
enum { CLOCK_NOTE_SIZE = 80 };
char *clock_note(char buffer[CLOCK_NOTE_SIZE], const struct timeline_info *info,
                 const struct timeline_overlay *overlay);

#endif
