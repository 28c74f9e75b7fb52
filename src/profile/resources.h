/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_PROFILE_RESOURCES_H
#define SIGHT_PROFILE_RESOURCES_H

#include "core/sink.h"
#include "metrics/process_resources.h"

/* Collects what processes got of the machine. */

struct process_resources_builder;
struct process_resources_builder *process_resources_builder_new(void);
struct sink *process_resources_builder_sink(struct process_resources_builder *builder); /* owned by the builder */

/* Frees the builder. NULL: the trace has no readings. */
struct resources *process_resources_builder_end(struct process_resources_builder *builder);

#endif
