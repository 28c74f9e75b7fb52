/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_ENGINE_OPENING_H
#define SIGHT_ENGINE_OPENING_H

#include "engine/engine.h"

/* For the engine: inputs opened, and watched while they are read. */

/* True if the request reads its trace more than once. */
bool opening_reads_twice(const struct engine_request *request);

/* How many threads the request may use for work that more than `most` would not make faster. */
unsigned opening_threads(const struct engine_request *request, unsigned most);

/* A trace, or where `metrics_file` is given and the input is one, that (NULL is returned then). NULL and a fault. */
struct reader *opening_inputs(const struct engine_request *request, struct input **metrics_file, struct error *err);

/* Passes on how far a reader is to the request's watch: the context of opening_watch. */
struct watching {
    const struct engine_request *request;
    enum engine_step step;
    unsigned parts; /* what is watched is the first of so many equal parts of the trace, all as far as it is; 0: one */
    uint32_t calls;
};
bool opening_watch(void *watching, const struct reader *reader); /* a stream_watch */

#endif
