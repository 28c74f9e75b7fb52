/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_CLOG2_CLOG2_DEFS_H
#define SIGHT_CONVERT_CLOG2_CLOG2_DEFS_H

#include "convert/clog2/clog2_file.h"
#include "core/defs.h"
#include "core/event.h"

/* The contents of CLOG-2's definition records: the meaning of event ids, and which process a (communicator, rank) is.
   Filled in the first pass over each file of the trace, asked in the second. */

enum { CLOG2_THREAD_LIMIT = UINT16_MAX };

/* The meaning of an event id. */
struct clog2_event_role {
    uint8_t kind; /* EVENT_ENTER, EVENT_LEAVE, EVENT_MARK, EVENT_NEIGHBOURS */
    uint32_t index;
};

/* The meaning of a record's communicator number. */
struct clog2_side {
    int32_t id; /* as in the record */
    int32_t comm, partner_comm;
};

/* Ranks of a communicator as an array, for speed. */
struct clog2_ranks {
    uint32_t *world; /* UINT32_MAX where not known */
    size_t count, capacity, members;
};

/* The property whose records are being read. */
enum { CLOG2_PROPERTY_TEXTS = 3, CLOG2_PROPERTY_MAX = 1 << 16 /* bytes of a text; more of it are left out */ };
struct clog2_property {
    uint32_t id; /* 0: none */
    struct clog2_property_text {
        char *text;
        size_t length, capacity;
        bool full;                 /* its end was left out */
    } texts[CLOG2_PROPERTY_TEXTS]; /* name, ranks, value */
};

struct clog2_defs {
    struct defs *defs;         /* borrowed */
    struct map roles;          /* event id -> index << 8 | kind */
    uint64_t *near_roles;      /* the same for ids near 0; 0: not known */
    struct map sites;          /* id of a source location -> index + 1 */
    uint32_t *near_sites;      /* the same for small ids; NULL if the trace has no source locations */
    struct map uuids;          /* local files: hash of a communicator's UUID -> index of comm + 1 */
    struct clog2_ranks *ranks; /* by index of comm */
    size_t ranks_count, ranks_capacity;
    int32_t proc_null; /* rank that is MPI_PROC_NULL */
    struct clog2_property property;
};

/* The data of a single file. */
struct clog2_part_defs {
    bool local; /* communicators are numbers in this file's table */
    struct clog2_entry {
        int32_t kind; /* enum comm_kind */
        int32_t comm;
    } * table;
    size_t table_count, table_capacity;
    struct clog2_side last; /* the side used last */
    bool have_last;
    uint32_t next[4], end[4]; /* by enum definition_kind: indices that this file's definition records made */
};

void clog2_defs_clear(struct clog2_defs *defs);
void clog2_part_defs_clear(struct clog2_part_defs *part);

/* First pass: begin, every definition record (whole at file->input->at), the table, end; and the end of all parts. */
void clog2_defs_begin_part(struct clog2_defs *defs, struct clog2_part_defs *part, const struct clog2_file *file);
void clog2_defs_record(struct clog2_defs *defs, struct clog2_part_defs *part, struct clog2_file *file, uint32_t kind);
enum status clog2_defs_table(struct clog2_defs *defs, struct clog2_part_defs *part, struct clog2_file *file,
                             struct error *err) MUST_CHECK;
void clog2_defs_end_part(struct clog2_defs *defs, struct clog2_part_defs *part, const struct clog2_file *file);
void clog2_defs_end(struct clog2_defs *defs);

/* Role of an id without a definition: MPE's built-in states, else a mark named by its number; defined when first
   needed. */
struct clog2_event_role clog2_role_undefined(struct clog2_defs *defs, int32_t id);

enum { CLOG2_NEAR_FIRST = -16, CLOG2_NEAR_COUNT = 8192 };
/* Place of an id among those near MPE's own; CLOG2_NEAR_COUNT or more of all others, the subtraction wraps. */
static inline uint32_t clog2_near(int32_t id)
{
    return (uint32_t)id - (uint32_t)CLOG2_NEAR_FIRST;
}

static inline struct clog2_event_role clog2_role(struct clog2_defs *defs, int32_t id)
{
    uint32_t near = clog2_near(id);
    if (near < CLOG2_NEAR_COUNT && defs->near_roles[near])
        return (struct clog2_event_role){.kind = (uint8_t)defs->near_roles[near] - 1,
                                         .index = (uint32_t)(defs->near_roles[near] >> 8)};
    return clog2_role_undefined(defs, id);
}

/* Borrowed until the next call; NULL if the number is not a communicator. */
const struct clog2_side *clog2_side_find(const struct clog2_defs *defs, struct clog2_part_defs *part, int32_t id);
static inline const struct clog2_side *clog2_side(const struct clog2_defs *defs, struct clog2_part_defs *part,
                                                  int32_t id)
{
    return part->have_last && part->last.id == id ? &part->last : clog2_side_find(defs, part, id);
}

static inline int32_t clog2_side_world_rank(const struct clog2_defs *defs, int32_t comm, int32_t rank)
{
    const struct clog2_ranks *ranks = &defs->ranks[comm];
    if ((uint32_t)rank < ranks->count && ranks->world[rank] != UINT32_MAX)
        return (int32_t)ranks->world[rank];
    return defs_world_rank(defs->defs, comm, rank);
}

/* Index of the communicator that a communicator record's body names; EVENT_UNKNOWN. */
int32_t clog2_comm_of_record(const struct clog2_defs *defs, const struct clog2_part_defs *part, int32_t id);

/* Second pass: the definition that this definition record made, in the order of the first pass. */
bool clog2_defs_next_definition(struct clog2_part_defs *part, uint32_t kind, struct event *event);

/* enum comm_step of a communicator record's kind before version 02.30. */
int64_t clog2_early_step(int32_t kind);

#endif
