/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_RESOURCE_SENTENCES_H
#define SIGHT_RENDER_RESOURCE_SENTENCES_H

#include "heuristics/finding.h"
#include "metrics/metrics.h"

/* What a run got of the machine, and what it did with it: a sentence or two for each resource that something is known
   of, as in performance reports of one page. */
enum { RESOURCE_SENTENCES = 5, RESOURCE_SENTENCE_SIZE = 1000 };

struct resource_sentence {
    const char *resource; /* "CPU", "MPI", "I/O", "Memory", "Energy" */
    char text[RESOURCE_SENTENCE_SIZE];
};

/* How many there are; 0 for a run without processes. Findings that name the resource that was short are repeated in
   its sentence; `findings` NULL: none are known. */
size_t resource_sentences(struct resource_sentence sentences[RESOURCE_SENTENCES], const struct metrics *metrics,
                          const struct findings *findings);

#endif
