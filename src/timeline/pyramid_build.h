/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_PYRAMID_BUILD_H
#define SIGHT_TIMELINE_PYRAMID_BUILD_H

#include "timeline/pyramid.h"
#include "timeline/pyramid_changes.h"
#include "timeline/spill.h"
#include "timeline/tape.h"
#include "timeline/walk.h"

/* Internal: makes the pyramid while the trace is read, in order of time. Who follows the states of rows notes what
   changes; others add it up, at the same time if they like. */
struct pyramid_build;

/* `share`: its maximum size relative to the trace; 0: the default. NULL and a fault. */
struct pyramid_build *pyramid_build_new(struct reader *reader, double share, struct error *err);
void pyramid_build_free(struct pyramid_build *build);

/* The shards of its processes. */
struct pyramid_shards pyramid_build_shards(const struct pyramid_build *build);

/* Takes those changes that belong to one of so many parts; each part may be taken by another thread. Numbers of states
   are the first ones of their names, as cells say what is drawn alike. */
void pyramid_build_take(struct pyramid_build *build, const struct pyramid_changes *changes, unsigned part,
                        unsigned parts);

/* What is known of the rows at the end. */
struct pyramid_rows {
    const struct rows *rows;
    const uint32_t *places;    /* their final numbers */
    int64_t begin_ns, last_ns; /* of the first and the last event of all */
};

/* Fills the tables from SECTION_LEVELS on, but for skips and cells. */
enum status pyramid_build_end(struct pyramid_build *build, const struct pyramid_rows *about, unsigned threads,
                              struct spill *tables, struct error *err) MUST_CHECK;

/* These two, in parts that follow each other: part 0, 1, ...; NULL after the last. */
struct tape *pyramid_build_skips(struct pyramid_build *build, size_t part);
struct tape *pyramid_build_cells(struct pyramid_build *build, size_t part);

#endif
