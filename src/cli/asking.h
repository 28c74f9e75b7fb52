/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_ASKING_H
#define SIGHT_CLI_ASKING_H

#include "cli/command.h"
#include "cli/progress.h"
#include "engine/engine.h"

/* Options as a request to the engine. It points into itself and into the options: not to be copied. */
struct asking {
    struct engine_request request;
    struct progress progress;
};

/* `wants` is of enum engine_want. */
void asking_begin(struct asking *asking, const struct common_options *common, const struct trace_options *trace,
                  unsigned wants);

/* Wipes the progress from the screen. */
void asking_end(struct asking *asking);

/* How the trace was read, if that is asked for: in so many slices (0: in one pass). */
void asking_say_slices(const struct common_options *common, unsigned slices);

/* From a request that was begun to its result, and its end. NULL and a fault. */
struct engine_result *asking_run(struct asking *asking, const struct common_options *common, struct error *err);

/* From options to result. NULL and a fault. */
struct engine_result *ask(const struct common_options *common, const struct trace_options *trace, unsigned wants,
                          struct error *err);

/* The same, with what processes wait between looks for messages (engine/polling.h), or a note that it is not known. */
struct engine_result *ask_polling(const struct common_options *common, const struct trace_options *trace,
                                  unsigned wants, struct error *err);

/* From options to a trace to look at. Notes of the timeline are printed unless `silent`, and so is progress. */
enum status ask_look(const struct common_options *common, const struct trace_options *trace, bool silent,
                     struct engine_look *look, struct error *err) MUST_CHECK;

#endif
