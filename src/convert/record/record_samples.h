/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_RECORD_RECORD_SAMPLES_H
#define SIGHT_CONVERT_RECORD_RECORD_SAMPLES_H

#include "convert/record/record_run.h"

/* The call paths of a recording's samples: each file numbers its own nodes by addresses; the trace has one tree of
   places in the source. */

/* Takes definitions that stand in a file of the process. */
void record_samples_module(struct record_process *process, struct record_module *module);
void record_samples_path(struct record_file *file, const struct record_path *path);

/* After all definitions: the addresses become places (of record_run.places). After these have their sites
   (record_sites_resolve): they become paths of the trace. */
void record_samples_place(struct record_run *run);
void record_samples_resolve(struct record_run *run, struct defs *defs);

void record_samples_clear(struct record_process *process);

#endif
