/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_RECORD_RECORD_RUN_H
#define SIGHT_CONVERT_RECORD_RECORD_RUN_H

#include "convert/record/record_clock.h"
#include "convert/record/record_offset.h"
#include "convert/record/recordings.h"
#include "core/defs.h"
#include "core/map.h"
#include "core/resource_counter.h"

/* All buffer files of one run, with their combined definitions. */

/* A communicator as one process numbers it: indices of the definitions. */
struct record_comm_place {
    int32_t comm;        /* the communicator of its calls: itself, or the process's side of an inter-communicator */
    int32_t partner;     /* where partners have their ranks */
    int32_t inter;       /* the inter-communicator itself; EVENT_UNKNOWN for an intra-communicator */
    uint64_t shared_key; /* of one with another program that is in the trace; 0: it is none */
    bool foreign;        /* partners may be outside the trace */
    bool defined;        /* false: its definition is lost */
};

/* A file of code; or a function in Python, whose offsets are lines. */
struct record_code_file {
    char *path;     /* owned; of Python the file of its source */
    char *function; /* owned; NULL: machine code */
    bool program;   /* the program itself, and no library */
};

/* A place in a code file that calls MPI, and its source location. */
struct record_place {
    uint32_t module; /* of record_run.modules */
    uint32_t site;   /* event.site; 0: not known */
    uint64_t offset; /* of the return address; of Python the line */
    bool sampled;    /* a place of samples */
    uint8_t outer_count;
    size_t outer; /* where its function was inlined, the innermost first: of record_run.outers */
};

/* A file of code, and where its instructions are in a process. */
struct record_code {
    uint64_t begin, end, load;
    char *path; /* owned */
};

struct record_process {
    uint32_t rank;                   /* in the trace */
    size_t program;                  /* of the recordings */
    struct record_comm_place *comms; /* by the process's number */
    size_t comm_count, comm_capacity;
    struct record_code *modules;
    size_t module_count, module_capacity; /* the first is the program, or the interpreter of one in Python */
    size_t clock_map;                     /* of record_run.clocks: from ticks to ns */
    struct record_clock_line clock;
    bool finalized;
};

/* The role of an event id of the MPE API. */
struct record_role {
    uint8_t kind; /* enum event_kind + 1; 0: none */
    uint32_t index;
};

struct record_run {
    const struct recordings *recordings;
    size_t program_count;      /* of the trace */
    struct record_file *files; /* of the recordings: by process and thread */
    size_t file_count;
    struct record_process *processes; /* that have files, by rank */
    size_t process_count;
    uint32_t *process_of; /* by file */
    struct record_clocks clocks;
    uint32_t states[RECORD_FUNCTIONS_MAX];
    struct record_code_file *modules;
    size_t module_count, module_capacity;
    struct map module_of; /* hash of path and function -> index + 1 */
    struct record_place *places;
    size_t place_count, place_capacity;
    uint32_t *outers; /* as event.site */
    size_t outer_count, outer_capacity;
    struct map place_of;      /* module and offset -> index + 1 of the place */
    struct map roles;         /* event id -> kind + 1 and index */
    struct map comm_of_key;   /* key of a communicator, and whether it is an inter-communicator -> index of its first
                                 definition */
    uint32_t ended_marks[8];  /* by enum record_reason: index + 1 of the mark that says so */
    uint32_t unnamed_mark;    /* of events without a description */
    uint32_t request_mark;    /* of requests that do not fit on a leave: index + 1; 0: none was made */
    uint32_t neighbours_mark; /* of neighbours in topologies: index + 1; 0: none was made */
    uint32_t pending_mark;    /* of processes that did not finalise MPI: index + 1; 0: none was made */
    uint32_t resource_marks[RESOURCE_COUNTERS]; /* indices */
    uint32_t ranks_mark;                        /* of calls on windows: index + 1; 0: none was made */
    uint32_t openmp_state;                      /* of regions whose place is not known: index + 1; 0: none was made */
    uint32_t gap_mark;                          /* where something is left out: index + 1; 0: none was made */
};

/* Reads the definitions of one trace of the recordings, which must stay. */
enum status record_run_open(struct record_run *run, const struct recordings *recordings, size_t trace,
                            struct defs *defs, struct error *err) MUST_CHECK;
void record_run_close(struct record_run *run);

/* The correction of a process's clock at a time, in ns to add for that of the trace. */
int64_t record_run_offset(const struct record_run *run, const struct record_process *process, int64_t time_ns);

/* The communicator with a process's number; NULL: there is no definition of it. */
const struct record_comm_place *record_run_comm(const struct record_process *process, uint32_t number);

/* The role of an event id of the MPE API; ids that were never described share one mark. */
struct record_role record_run_role(const struct record_run *run, uint32_t id);

#endif
