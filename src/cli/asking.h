/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_ASKING_H
#define SIGHT_CLI_ASKING_H

#include "cli/command.h"
#include "cli/progress.h"
#include "engine/engine.h"

/* Options as a request to the engine. It points into itself: not to be copied. */
struct asking {
    struct engine_request request;
    uint32_t *ranks;
    struct progress progress;
};

/* A fault where --from, --to, --processes or --threshold cannot be understood. `wants` is of enum engine_want. */
enum status asking_begin(struct asking *asking, const struct options *options, unsigned wants,
                         struct error *err) MUST_CHECK;

/* Wipes the progress from the screen. */
void asking_end(struct asking *asking);

/* From options to result. NULL and a fault. */
struct engine_result *ask(const struct options *options, unsigned wants, struct error *err);

/* From options to a trace to look at. Notes of the timeline are printed unless `silent`, and so is progress. */
enum status ask_look(const struct options *options, bool silent, struct engine_look *look,
                     struct error *err) MUST_CHECK;

#endif
