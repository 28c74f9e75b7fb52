/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_WAIT_WORDS_H
#define SIGHT_HEURISTICS_WAIT_WORDS_H

#include "heuristics/finding.h"

/* Findings that are one kind of wait each differ in their words only. */
struct wait_words {
    enum wait_kind kind;
    const char *title;   /* with who waits, and for whom */
    const char *instead; /* what they wait for */
    const char *cause;   /* what the causes do wrong */
    const char *advice;
    const char *master_advice; /* where the cause is a master; NULL: the same */
};

/* Fills the finding from all waits of the kind; false: there are none, or their end saves nothing. */
bool find_waits(const struct finding_input *input, const struct wait_words *words, struct finding *finding);

#endif
