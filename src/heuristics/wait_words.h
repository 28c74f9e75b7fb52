/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_WAIT_WORDS_H
#define SIGHT_HEURISTICS_WAIT_WORDS_H

#include "heuristics/finding.h"

/* The findings for a single kind of wait differ only in their words. */
struct wait_words {
    enum wait_kind kind;
    const char *title;   /* with the waiting processes, and those waited for */
    const char *instead; /* what they wait for */
    const char *cause;   /* the fault of the causing processes */
    const char *advice;
    const char *master_advice; /* if the cause is a master; NULL: the same */
};

/* Fills the finding from all waits of the kind; false: there are none, or removing them saves nothing. */
bool find_waits(const struct finding_input *input, const struct wait_words *words, struct finding *finding);

#endif
