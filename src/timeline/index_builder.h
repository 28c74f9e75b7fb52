/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_INDEX_BUILDER_H
#define SIGHT_TIMELINE_INDEX_BUILDER_H

#include "timeline/index_format.h"
#include "timeline/pyramid_build.h"

/* Internal: an index while it is made. The tables are filled while events are read (index_build.c), and what was
   numbered by occurrence is put in order at the end (index_write.c). */

/* Data of a row besides its walk_row. */
struct row_build {
    uint32_t mpi_depth; /* MPI functions open */
    uint32_t state;     /* as the pyramid has it */
    uint32_t name;      /* of pyramid_note_row */
    int64_t mpi_since_ns;
};

struct builder {
    const struct index_order *order;
    struct reader *reader;
    struct rows rows;
    struct walk walk;
    struct walk_visitor visitor;
    struct row_build *row;
    size_t row_capacity;
    struct spill table[SECTION_COUNT]; /* skips and cells are the pyramid's */
    struct checkpoint now;             /* the last checkpoint, while its bits are filled in */
    uint64_t events;
    int64_t begin_ns, last_ns; /* of the first and the last event */
    bool unsorted;
    size_t states_defined, marks_defined; /* by definitions of the trace */
    struct pyramid_build *pyramid;
    struct pyramid_notes notes;
    struct curves_build curves;
};

/* Puts the tables in order, once all events were taken, and writes the file. */
enum status index_write(struct builder *builder, struct error *err) MUST_CHECK;

#endif
