/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_CLOG2_WRITE_CLOG2_DEFS_H
#define SIGHT_CONVERT_CLOG2_WRITE_CLOG2_DEFS_H

#include "convert/clog2/write_clog2_record.h"

/* Definitions among the records of a CLOG-2 file: states, marks, constants, places in the source, call paths, and what
   is known of the run. */

/* Before the first record of a process: if no record makes it a member of the world, which MPE's tools need, writes one
   as MPE does at the start. */
void clog2_introduce(struct clog2_writer *clog2, uint32_t process, int64_t time_ns);

/* One definition, of enum definition_kind. */
void clog2_write_definition(struct clog2_writer *clog2, const struct clog2_place *place, int64_t kind, uint32_t index);

/* Definitions without a place in the stream come at its end, written by process 0, as MPE does with its own. */
void clog2_write_missing_definitions(struct clog2_writer *clog2);

/* Call paths, parents first, and the mark of samples where the source has none. */
void clog2_write_paths(struct clog2_writer *clog2);

/* The properties of the run. */
void clog2_write_properties(struct clog2_writer *clog2);

#endif
