/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_CLOG2_READ_CLOG2_PASSES_H
#define SIGHT_CONVERT_CLOG2_READ_CLOG2_PASSES_H

#include "convert/clog2/read_clog2_state.h"

/* The two passes over a CLOG-2 trace: the first one finds all definitions, the second one reads events. */

/* Whether reading can go on at any record. Local files number communicators by records before, and their clocks shift:
   they can be read from the begin only. */
bool clog2_pass_can_seek(const struct reader *reader);

/* Goes on at byte `from`; the reader stops at `to` (struct format_places). */
enum status clog2_pass_seek(struct reader *reader, uint64_t from, uint64_t to, struct error *err);

/* Goes back to the first record of part `index`. */
enum status clog2_part_start(struct reader *reader, size_t index, struct error *err);

/* The first pass over all parts; then the reader is at the first record. */
enum status clog2_scan(struct reader *reader, struct error *err);

/* The same, if clog2_known has found where the definitions are. */
enum status clog2_scan_known(struct reader *reader, const struct clog2_range *ranges, size_t count, bool end_of_log,
                             struct error *err);

#endif
