/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_INDEX_H
#define SIGHT_TIMELINE_INDEX_H

#include "convert/clog2/read_clog2.h"
#include "timeline/cache.h"
#include "timeline/curves_build.h"
#include "timeline/pyramid.h"
#include "timeline/spill.h"
#include "timeline/walk.h"

/* Internal: the index of a CLOG-2 trace or an event file, a file in the cache. Numbers have the machine's format: an
   index that cannot be read is made again.

   A checkpoint is a place between two records at which reading can begin: its byte, the states open there and the
   messages in transit. States and messages that span a checkpoint are stored once in a table with their ends, so that a
   window knows what reaches beyond it. Checkpoints are far enough apart that these tables stay small compared with the
   trace. Tiles are made from the pyramid (pyramid.h). */

/* X(name, type): the tables of the file, in their order. */
#define INDEX_SECTIONS(X)                                                                                              \
    X(ROWS, struct timeline_row)                                                                                       \
    X(CHECKPOINTS, struct checkpoint)                                                                                  \
    X(OPEN, uint32_t)                  /* of checkpoints: entries of SPANS, per row the oldest first */                \
    X(SPANS, struct span)              /* states that are open at a checkpoint */                                      \
    X(WAITING, uint32_t)               /* of checkpoints: entries of TRANSITS, channel by channel */                   \
    X(TRANSITS, struct transit)        /* ends of messages that wait for the other end at a checkpoint */              \
    X(DEFINED, int32_t)                /* event ids without a definition, in order of occurrence */                    \
    X(DEFINITIONS, struct clog2_range) /* where definitions stand in the trace */                                      \
    X(LEVELS, struct pyramid_level)                                                                                    \
    X(GROUPS, struct pyramid_group)                                                                                    \
    X(SKIPS, struct pyramid_skip)                                                                                      \
    X(CELLS, unsigned char)                                                                                            \
    X(CURVES, struct counter_curve) /* by mark and row */                                                              \
    X(STEPS, struct counter_step)

enum index_section {
#define INDEX_SECTION(name, type) SECTION_##name,
    INDEX_SECTIONS(INDEX_SECTION)
#undef INDEX_SECTION
        SECTION_COUNT
};

/* The bits describe the part up to the next one: bit n % 64 is set for a number n that occurs. */
struct checkpoint {
    uint64_t offset; /* of the next record */
    int64_t time_ns; /* of the last event before it; of the first one: INT64_MIN */
    uint64_t events; /* before it */
    uint64_t open_at, waiting_at;
    uint32_t open, waiting;  /* entries of OPEN and WAITING */
    uint64_t states, rows;   /* bits: that are entered */
    uint64_t partners, tags; /* bits: of messages */
};

struct span {
    int64_t enter_ns, leave_ns;
    uint32_t row, state, depth;
    uint32_t open; /* never left */
};

struct index_header {
    char magic[8];
    uint32_t version, size;
    uint64_t file_size;
    struct trace_identity identity; /* of the trace that was given */
    uint64_t trace_size;            /* of the file that is read */
    uint32_t stored;                /* that one is in the cache */
    uint64_t end_of_log;            /* it has its end, and the rest */
    uint32_t complete;
    int64_t begin_ns, end_ns;
    uint64_t events;
    uint64_t damages, damage_byte, used, total;
    struct timeline_clocks clocks;
    char format[16], damage[512];
    struct {
        uint64_t at, count, checksum;
    } section[SECTION_COUNT];
    uint64_t checksum; /* of all before it */
};

/* An index that was read: the file, mapped. */
struct index {
    const struct index_header *header;
    const unsigned char *data; /* the file */
    size_t size;
};

/* The entries of a section. */
const void *index_section(const struct index *index, enum index_section section, size_t *count);

/* Opens the index of the trace with this identity. STATUS_END: there is no usable one, *why has the reason ("" if there
   is no file). Everything in it is checked: sizes, checksums, indices; without `pyramid` not what is in its sections
   (SECTION_LEVELS to SECTION_CELLS), which must not be used then: nearly all of a large index. */
enum status index_open(struct index *index, const char *path, const struct trace_identity *identity, bool pyramid,
                       const char **why);
void index_close(struct index *index);

/* What tests change. */
struct index_tuning {
    uint64_t least_bytes; /* of trace between checkpoints */
    double cells;         /* share of the trace's size that the pyramid may have */
};

/* Makes the index of a trace that can be read from the middle, with the reader at its begin, in one pass.
   STATUS_END: the trace is not in order of time, there is none. */
struct index_order {
    const char *path; /* of the file created */
    struct trace_identity identity;
    bool stored;                 /* the trace is a copy in the cache, of ... */
    const struct trace_end *end; /* ... a trace that ended so; NULL: as the reader says */
    const char *format;          /* ... and had this format */
    struct timeline_clocks clocks;
    struct index_tuning tuning; /* zeros: the usual */
    unsigned threads;           /* at most; the file is the same with any number */
    stream_watch *watch;
    void *watch_context;
};
enum status index_build(struct reader *reader, const struct index_order *order, struct error *err) MUST_CHECK;

#endif
