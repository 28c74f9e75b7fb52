/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_RESOURCE_SENTENCES_H
#define SIGHT_RENDER_RESOURCE_SENTENCES_H

#include "metrics/metrics.h"

/* What a run got of the machine, and what it did with it: a sentence or two for each resource that something is known
   of, as in performance reports of one page. */
enum { RESOURCE_SENTENCES = 4, RESOURCE_SENTENCE_SIZE = 400 };

struct resource_sentence {
    const char *resource; /* "CPU", "MPI", "I/O", "Memory" */
    char text[RESOURCE_SENTENCE_SIZE];
};

/* How many there are; 0 for a run without processes. */
size_t resource_sentences(struct resource_sentence sentences[RESOURCE_SENTENCES], const struct metrics *metrics);

#endif
