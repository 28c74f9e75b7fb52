/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_PYRAMID_BUILD_H
#define SIGHT_TIMELINE_PYRAMID_BUILD_H

#include "timeline/pyramid.h"
#include "timeline/spill.h"
#include "timeline/walk.h"

/* Internal: makes the pyramid while the trace is read, in order of time. */
struct pyramid_build;

/* `share`: its maximum size relative to the trace; 0: the default. NULL and a fault. */
struct pyramid_build *pyramid_build_new(struct reader *reader, double share, struct error *err);
void pyramid_build_free(struct pyramid_build *build);

/* From time_ns on the row, of this process, is in this state (TIMELINE_NONE: outside all). */
void pyramid_build_state(struct pyramid_build *build, uint32_t row, uint32_t process, int64_t time_ns, uint32_t state);

/* A message was sent or received. */
void pyramid_build_message(struct pyramid_build *build, uint32_t row, uint32_t process, int64_t time_ns);

/* Fills the tables from SECTION_LEVELS on; `places` are the final numbers of the rows. */
enum status pyramid_build_end(struct pyramid_build *build, const struct rows *rows, const uint32_t *places,
                              struct spill *tables, struct error *err) MUST_CHECK;

#endif
