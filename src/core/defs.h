/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_DEFS_H
#define SIGHT_CORE_DEFS_H

#include "core/map.h"
#include "core/mpi_function.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The definitions of a trace: what events name by index. The reader owns and fills them, complete before the first
   event (an XML without definitions excepted: there states and processes are added as they are met; indices never
   change). All texts are UTF-8 and owned by the definitions. */

struct state_def {
    char *name;             /* as shown: an MPI function's proper name, or the user's */
    char *original;         /* the trace's own spelling where it differs ("SEND" for MPI_Send); else NULL */
    char *colour, *format;  /* NULL where the trace has none; format is MPE's printf-like format of the payload */
    int32_t id, start, end; /* ids in the source: state, enter event, leave event; EVENT_UNKNOWN where there are none */
    bool shadowed;          /* an earlier definition has these event ids: kept for writing back, no event uses it */
    /* Set by defs_add_state from the name: */
    enum function_class class;
    enum message_direction direction;
    bool rooted, is_mpi;
    bool tells_moved;       /* the payload of its leave is root or target, and bytes (core/payload.h): events have it in
                               fields */
    bool tells_requests;    /* the same with requests */
    uint32_t first_of_name; /* lowest index of a state with the same shown name: metrics rows are by name */
};

struct mark_def {
    char *name, *colour, *format;
    int32_t id;             /* event id in the source; EVENT_UNKNOWN */
    bool shadowed, defined; /* defined: the trace has a definition for it, not just the number */
    bool tells_requests;    /* set by defs_add_mark: it is no event of the program, but tells requests of a call */
};

/* The constant with which recordings say that calls on files stand on the communicator of their file. In other traces
   they stand on the world's. */
#define FILES_CONSTANT "MPI_File communicators"

struct constant_def {
    char *name;
    int32_t value;
};

/* A place of the program's source from which MPI was called. */
struct site_def {
    char *file;       /* as its compiler was given it; "" where only the function is known */
    char *function;   /* in which it is; NULL: not known */
    int32_t id, line; /* id: number in the source, EVENT_UNKNOWN where it has none; line 0: not known */
};

/* What a record about a communicator says; the values are those of CLOG-2. */
enum comm_step {
    COMM_STEP_WORLD = 0,
    COMM_STEP_SELF = 1,
    COMM_STEP_FREE = 10,
    COMM_STEP_INTRA = 100,
    COMM_STEP_LOCAL = 101,
    COMM_STEP_REMOTE = 102,
    COMM_STEP_INTER = 1000
};

enum { COMM_UUID_SIZE = 32 };
struct comm_def {
    int32_t id; /* in the source (CLOG-2: LID) */
    bool world, self;
    bool window; /* a window, whose members are those of the communicator that it was made on */
    bool has_uuid;
    unsigned char uuid[COMM_UUID_SIZE];
};

/* A line of the source's table of communicators; several may carry the same id. */
enum comm_kind { COMM_KIND_UNKNOWN = -1, COMM_KIND_INTER, COMM_KIND_INTRA, COMM_KIND_LOCAL, COMM_KIND_REMOTE };
struct comm_row {
    unsigned char uuid[COMM_UUID_SIZE];
    int32_t id;
    int32_t kind; /* enum comm_kind */
};

struct defs {
    struct state_def *states;
    size_t state_count, state_capacity;
    struct mark_def *marks;
    size_t mark_count, mark_capacity;
    struct constant_def *constants;
    size_t constant_count, constant_capacity;
    struct site_def *sites;
    size_t site_count, site_capacity;
    struct comm_def *comms;
    size_t comm_count, comm_capacity;
    struct comm_row *comm_rows;
    size_t comm_row_count, comm_row_capacity;
    bool tells_files;   /* calls on files stand on the communicator of their file: there is FILES_CONSTANT */
    uint32_t processes; /* declared, or the largest process number + 1 where nothing is declared */
    uint32_t threads;   /* largest number of threads of a process as declared; at least 1 */
    char *version;      /* of the source's format; NULL */
    char *creator;      /* who wrote the source, where it says so; NULL */
    struct map names;   /* internal: hash of a state's name -> first index + chain */
    uint32_t *name_next;
    size_t name_next_capacity;
    struct map comm_ids; /* internal: comm id -> index */
    struct map members;  /* internal: (comm, rank) -> world rank */
    struct map ranks;    /* internal: (comm, world rank) -> rank */
};

struct defs *defs_new(void);
void defs_free(struct defs *defs);

/* Adds a copy of the definition (texts are copied; NULL name counts as ""); returns its index. */
uint32_t defs_add_state(struct defs *defs, const struct state_def *state);
uint32_t defs_add_mark(struct defs *defs, const struct mark_def *mark);
uint32_t defs_add_constant(struct defs *defs, const char *name, int32_t value);
uint32_t defs_add_site(struct defs *defs, const struct site_def *site); /* NULL file counts as "" */

/* Lowest index of a state with this shown name, or EVENT_UNKNOWN. */
int32_t defs_find_state(const struct defs *defs, const char *name);

/* True if another state has the same shown name, so that the name alone does not tell which. */
bool defs_name_is_shared(const struct defs *defs, uint32_t state);

/* Index of the communicator with this id, made where it is not there. */
int32_t defs_comm(struct defs *defs, int32_t id);
int32_t defs_find_comm(const struct defs *defs, int32_t id); /* EVENT_UNKNOWN if there is none */

/* Gives a communicator its UUID; the first one stands. Those of windows in recordings say that they are. */
void comm_set_uuid(struct comm_def *comm, const unsigned char uuid[COMM_UUID_SIZE]);
/* Writes into a UUID who made it: recordings and CLOG-2's writer do. */
void comm_sign_uuid(unsigned char uuid[COMM_UUID_SIZE], bool window);

/* A process is `rank` in communicator `comm` (an index). The first statement wins. */
void defs_set_member(struct defs *defs, int32_t comm, int32_t rank, uint32_t world_rank);

/* World rank of `rank` in `comm`, and back; EVENT_UNKNOWN where not known. In a world communicator without a
   statement a rank is its own world rank. */
int32_t defs_world_rank(const struct defs *defs, int32_t comm, int32_t rank);
int32_t defs_comm_rank(const struct defs *defs, int32_t comm, uint32_t world_rank);

#endif
