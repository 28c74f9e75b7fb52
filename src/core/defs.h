/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_DEFS_H
#define SIGHT_CORE_DEFS_H

#include "core/map.h"
#include "core/property.h"
#include "core/region.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The definitions of a trace, which events refer to by index. The reader owns and fills them, complete before the first
   event (except in an XML without definitions, where states and processes are added as they occur; indices never
   change). All texts are UTF-8 and owned by the definitions. */

struct state_def {
    char *name;             /* as shown: an MPI function's proper name, or the user's */
    char *original;         /* the trace's own spelling where it differs ("SEND" for MPI_Send); else NULL */
    char *colour, *format;  /* NULL where the trace has none; format is MPE's printf-like format of the payload */
    int32_t id, start, end; /* ids in the source: state, enter event, leave event; EVENT_UNKNOWN where there are none */
    bool shadowed;          /* an earlier definition has these event ids: kept for writing back, no event uses it */
    char *file;             /* the source file of the region; NULL: not known */
    int32_t line, end_line; /* its first and last line; 0: not known */
    enum paradigm paradigm;
    enum region_role role;
    /* Set by defs_add_state from the name, paradigm and role: */
    enum function_class class;
    enum message_direction direction;
    bool rooted, is_mpi;
    bool is_parallel;       /* OPENMP_PART_PARALLEL: core/openmp.h */
    bool gives_moved;       /* the payload of its leave is root or target, and bytes (core/payload.h): events have it in
                               fields */
    bool gives_requests;    /* the same with requests */
    uint8_t gives_words;    /* the same with values and texts: enum payload_words */
    uint32_t first_of_name; /* lowest index of a state with the same shown name: metrics have one row per name */
};

/* The type of a counter's values. X(name, word) as in core/region.h. */
#define COUNTER_TYPES(X)                                                                                               \
    X(NONE, "none") /* a mark, not a counter; or a counter of integers, with nothing else known */                     \
    X(INT64, "int64")                                                                                                  \
    X(UINT64, "uint64") /* the bits are in event.value */                                                              \
    X(DOUBLE, "double") /* event_double() */
#define COUNTER_MODES(X)                                                                                               \
    X(UNKNOWN, "unknown")                                                                                              \
    X(ACCUMULATED, "accumulated") /* since the start of the run */                                                     \
    X(ABSOLUTE, "absolute")       /* as it is at the time */                                                           \
    X(RELATIVE, "relative")       /* change since the counter's previous event */
#define COUNTER_SCOPES(X)                                                                                              \
    X(THREAD, "thread")                                                                                                \
    X(PROCESS, "process")                                                                                              \
    X(HOST, "host")                                                                                                    \
    X(ALL, "all")
#define COUNTER_TYPE_MEMBER(name, word) COUNTER_##name,
#define COUNTER_MODE_MEMBER(name, word) COUNTER_MODE_##name,
#define COUNTER_SCOPE_MEMBER(name, word) COUNTER_OF_##name,
enum counter_type { COUNTER_TYPES(COUNTER_TYPE_MEMBER) COUNTER_TYPE_COUNT };
enum counter_mode { COUNTER_MODES(COUNTER_MODE_MEMBER) COUNTER_MODE_COUNT };
enum counter_scope { COUNTER_SCOPES(COUNTER_SCOPE_MEMBER) COUNTER_SCOPE_COUNT };
#undef COUNTER_TYPE_MEMBER
#undef COUNTER_MODE_MEMBER
#undef COUNTER_SCOPE_MEMBER

/* The words, and back (0 for an unknown word). */
const char *counter_type_name(enum counter_type type);
const char *counter_mode_name(enum counter_mode mode);
const char *counter_scope_name(enum counter_scope scope);
enum counter_type counter_type_find(const char *word);
enum counter_mode counter_mode_find(const char *word);
enum counter_scope counter_scope_find(const char *word);

struct counter_def {
    enum counter_type type;
    enum counter_mode mode;
    enum counter_scope scope; /* what the value belongs to: the location that recorded it, its process, host or group */
    int32_t base, exponent;   /* a value means value * base^exponent units; base 0: the value itself */
    char *unit;               /* NULL: not known */
};

struct mark_def {
    char *name, *colour, *format;
    struct counter_def counter;
    int32_t id;             /* event id in the source; EVENT_UNKNOWN */
    bool shadowed, defined; /* defined: the trace has a definition for it, not just the number */
    bool made_up;           /* made by the reader for events that may come: not shown if none comes */
    bool gives_requests;    /* set by defs_add_mark: not an event of the program, but a call's requests */
    uint8_t gives_words;    /* set by defs_add_mark: its payload is value and text, enum payload_words */
};

/* Recordings with this constant give calls on files the communicator of the file. Other traces give them the world
   communicator. */
#define FILES_CONSTANT "MPI_File communicators"

struct constant_def {
    char *name;
    int32_t value;
};

#define SITE_FUNCTIONS_LINK " => "

/* A place of the program's source from which MPI was called. */
struct site_def {
    char *file;       /* as given to the compiler; "" if only the function is known */
    char *function;   /* the function it is in; NULL: not known. Where it calls a library, which calls MPI, also the
                         library's: SITE_FUNCTIONS_LINK stands between */
    int32_t id, line; /* id: number in the source, EVENT_UNKNOWN where it has none; line 0: not known */
    bool library;     /* code that the program only uses, such as libc's; false: its own, or not known */
};

/* The kind of a record about a communicator; the values are those of CLOG-2. */
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
    char *name; /* MPI_Comm_set_name's, or the source's own; NULL: not known */
    bool world, self;
    bool window; /* a window: its members are those of the communicator it was created on */
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

/* A location: a thread of a process, a stream of its accelerator, or a location that records only counters. Events
   refer to it by process and thread. Traces that do not describe their locations have none. */
#define LOCATION_KINDS(X)                                                                                              \
    X(THREAD, "thread")                                                                                                \
    X(STREAM, "stream") /* of an accelerator */                                                                        \
    X(METRIC, "metric")
enum location_kind {
#define LOCATION_KIND_MEMBER(name, word) LOCATION_##name,
    LOCATION_KINDS(LOCATION_KIND_MEMBER)
#undef LOCATION_KIND_MEMBER
        LOCATION_KIND_COUNT
};
const char *location_kind_name(enum location_kind kind);
enum location_kind location_kind_find(const char *word); /* LOCATION_THREAD for an unknown word */
struct location_def {
    uint32_t process, thread;
    enum location_kind kind;
    uint64_t id;        /* in the source */
    char *name;         /* "Master thread"; NULL */
    char *process_name; /* "MPI Rank 3"; NULL */
    char *host;         /* NULL */
};

/* The target of I/O operations: an open file, or a handle to one. */
struct handle_def {
    char *name; /* of the handle or its file; NULL */
    char *api;  /* "POSIX", "MPI-IO"; NULL */
    int32_t comm;
};

/* A node of the tree of call paths. */
#define PATH_NO_STATE UINT32_MAX
struct path_def {
    uint32_t parent; /* 1 + index into defs->paths, below this node's own; 0: none */
    uint32_t state;  /* the region that is called; PATH_NO_STATE: the function of its site */
    uint32_t site;   /* where in the program it was when sampled, or was called from: as event.site */
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
    struct location_def *locations;
    size_t location_count, location_capacity;
    struct handle_def *handles;
    size_t handle_count, handle_capacity;
    struct path_def *paths;
    size_t path_count, path_capacity;
    struct property_list properties; /* facts about the run; hosts are in the locations */
    bool gives_files;   /* the trace has FILES_CONSTANT: calls on files have the communicator of their file */
    uint32_t processes; /* declared, or else the largest process number + 1 */
    uint32_t threads;   /* largest number of threads of a process as declared; at least 1 */
    char *version;      /* of the source's format; NULL */
    char *creator;      /* the program that wrote the source, if stated; NULL */
    struct map names;   /* internal: hash of a state's name -> first index + chain */
    uint32_t *name_next;
    size_t name_next_capacity;
    struct map comm_ids; /* internal: comm id -> index */
    struct map members;  /* internal: (comm, rank) -> world rank */
    struct map ranks;    /* internal: (comm, world rank) -> rank */
    struct map places;   /* internal: (process, thread) -> location */
};

struct defs *defs_new(void);
void defs_free(struct defs *defs);

/* Adds a copy of the definition (texts are copied; NULL name counts as ""); returns its index. */
uint32_t defs_add_state(struct defs *defs, const struct state_def *state);
uint32_t defs_add_mark(struct defs *defs, const struct mark_def *mark);
uint32_t defs_add_constant(struct defs *defs, const char *name, int32_t value);
uint32_t defs_add_site(struct defs *defs, const struct site_def *site); /* NULL file counts as "" */

/* Keeps only some of the sites, whose ids become 1, 2, ...; `renumbered`: of each 1 + its index now; 0: it is gone. */
void defs_keep_sites(struct defs *defs, const bool *keep, uint32_t *renumbered);

/* The same for locations (if a process and thread already have one, it is kept), handles and call paths. */
uint32_t defs_add_location(struct defs *defs, const struct location_def *location);
uint32_t defs_add_handle(struct defs *defs, const struct handle_def *handle);
uint32_t defs_add_path(struct defs *defs, const struct path_def *path);

/* The function at the end of a call path: its region's name, or the function of its place. Borrowed; NULL: not known,
   or there is no such path. */
const char *defs_path_name(const struct defs *defs, uint32_t path);

/* The location of events with this process and thread; NULL if the trace does not describe it. */
const struct location_def *defs_find_location(const struct defs *defs, uint32_t process, uint32_t thread);

/* The host that a thread runs on: where only the process is described, that of its thread 0. NULL: not known. */
const char *defs_host_of(const struct defs *defs, uint32_t process, uint32_t thread);

/* Names a communicator; the first name is kept. */
void comm_set_name(struct comm_def *comm, const char *name);

/* Lowest index of a state with this shown name, or EVENT_UNKNOWN. */
int32_t defs_find_state(const struct defs *defs, const char *name);

/* True if another state has the same shown name, so that the name alone is ambiguous. */
bool defs_name_is_shared(const struct defs *defs, uint32_t state);

/* Index of the communicator with this id, created if needed. */
int32_t defs_comm(struct defs *defs, int32_t id);
int32_t defs_find_comm(const struct defs *defs, int32_t id); /* EVENT_UNKNOWN if there is none */

/* Gives a communicator its UUID; the first one is kept. In recordings the UUID shows whether it is a window. */
void comm_set_uuid(struct comm_def *comm, const unsigned char uuid[COMM_UUID_SIZE]);
/* Makes a UUID laid out as MPE's (number, time, processor's name): recordings and CLOG-2's writer need it. The key is
   stored in number and time, which is always a small positive double, because MPE's tools print it; the name is
   sight's. `id` makes communicators with the same key differ. */
void comm_sign_uuid(unsigned char uuid[COMM_UUID_SIZE], uint64_t key, int32_t id, bool window);
/* False if MPE could not have written the time in a UUID: its clog2_print would overflow on it. */
bool comm_uuid_is_printable(const unsigned char uuid[COMM_UUID_SIZE]);

/* Records that a process is `rank` in communicator `comm` (an index). The first call wins. */
void defs_set_member(struct defs *defs, int32_t comm, int32_t rank, uint32_t world_rank);

/* World rank of `rank` in `comm`, and back; EVENT_UNKNOWN if not known. In a world communicator without recorded ranks,
   a rank is its own world rank. */
int32_t defs_world_rank(const struct defs *defs, int32_t comm, int32_t rank);
int32_t defs_comm_rank(const struct defs *defs, int32_t comm, uint32_t world_rank);

#endif
