/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_PROFILE_RESOURCES_H
#define SIGHT_PROFILE_RESOURCES_H

#include "core/sink.h"
#include "metrics/process_resources.h"

/* Collects what processes got of the machine, and makes counters of it.

   Waiting for disks is added up over the intervals between two readings. Of an interval it is at most the time in which
   the thread neither had a core nor was ready for one, and at most what the kernel counted as its waiting for disks:
   without such an account, the time in which anything on the host waited for a disk, and only where the process itself
   had faults on pages that were on a disk, or read from one: RESOURCE_FAULT_NS for a fault and RESOURCE_BYTE_NS for a
   byte at most. What is written later waits for nothing: of writing only the time in fsync counts. */
#define RESOURCE_FAULT_NS 20000000.0
#define RESOURCE_BYTE_NS 100.0

struct process_resources_builder;
struct process_resources_builder *process_resources_builder_new(void);
struct sink *process_resources_builder_sink(struct process_resources_builder *builder); /* owned by the builder */

/* Frees the builder. NULL: the trace has no readings. */
struct resources *process_resources_builder_end(struct process_resources_builder *builder);

#endif
