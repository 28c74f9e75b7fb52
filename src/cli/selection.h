/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_SELECTION_H
#define SIGHT_CLI_SELECTION_H

#include "cli/command.h"
#include "convert/reader.h"
#include "metrics/accumulator.h"

/* "0-7,12" as sorted ranks without repetition (free()); NULL text gives NULL: all. */
enum status selection_ranks(const char *text, uint32_t **ranks, size_t *count, struct error *err) MUST_CHECK;

/* A length of time: "2us", "1.5 ms"; without a unit seconds. */
enum status selection_time(const char *text, int64_t *ns, struct error *err) MUST_CHECK;

/* --from and --to as a window on the trace's clock. Reads the trace once to know where it begins and ends, and opens it
 *again: reader is replaced (NULL on a fault). Standard input cannot be opened twice: a fault. */
enum status selection_window(const struct options *options, struct reader **reader, struct accumulator_options *window,
                             struct error *err) MUST_CHECK;

/* --from and --to as a window of a run that begins and ends so, on its clock; without them all of it. `to_ns` is behind
   the last event where the window reaches to its end. */
enum status selection_times(const struct options *options, int64_t begin_ns, int64_t end_ns, int64_t *from_ns,
                            int64_t *to_ns, struct error *err) MUST_CHECK;

#endif
