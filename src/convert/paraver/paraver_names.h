/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_PARAVER_NAMES_H
#define SIGHT_CONVERT_PARAVER_NAMES_H

#include "convert/paraver/paraver_labels.h"
#include "core/defs.h"

/* Numbers of a .prv as definitions: functions and states as states, everything else as counters. */

enum {
    PARAVER_MPI_FIRST = 50000001, /* point-to-point, collective, other, one-sided, I/O */
    PARAVER_MPI_LAST = 50000005,
    PARAVER_BYTES_SENT = 50100001,
    PARAVER_BYTES_RECEIVED = 50100002,
    PARAVER_ROOT = 50100003, /* 1: it is this process */
    PARAVER_COMM = 50100004,
    PARAVER_USER_FUNCTION = 60000019,
    PARAVER_LINE = 100,            /* type of a function + this: its line */
    PARAVER_LANE_FIRST = 61990000, /* ours: the program's states that cross others, a type for each */
    PARAVER_LANES = 1000,
    PARAVER_KEPT_FIRST = 40000000, /* Extrae's own types are from here on */
    PARAVER_CALLER = 70000000,     /* + level, from 1; 0 where only one is recorded */
    PARAVER_CALLER_LINE = 80000000,
    PARAVER_SAMPLE = 30000000, /* + depth, from 0, which is where the program was */
    PARAVER_SAMPLE_LINE = 30000100,
    PARAVER_LEVELS = 100, /* Extrae's MAX_CALLERS */
    PARAVER_STATE_RUNNING = 1,
    PARAVER_STATE_NOT_CREATED = 2
};

struct paraver_names {
    struct map states;   /* (event type, value) -> index; type 0: of state records */
    struct map counters; /* event type -> index */
    uint64_t numbered;   /* names made from numbers, without a label */
};

/* True for events whose value is a function that is entered, or 0 where the innermost is left. */
bool paraver_type_is_state(uint64_t type);

static inline bool paraver_type_is_mpi(uint64_t type)
{
    return type >= PARAVER_MPI_FIRST && type <= PARAVER_MPI_LAST;
}

/* Extrae's number of a function of MPI; 0: it has none. */
uint64_t paraver_mpi_value(const char *name);

/* Makes the definition for this thread of a process if it does not exist; values and types are below UINT32_MAX. A line
   0: not recorded. */
void paraver_define_state(struct paraver_names *names, const struct paraver_labels *labels, struct defs *defs,
                          uint64_t type, uint64_t value, uint64_t line, uint32_t thread);
/* True for a type whose values are the lines of functions. */
bool paraver_type_is_line(uint64_t type);
/* The index of what was defined so. */
uint32_t paraver_state_of(const struct paraver_names *names, uint64_t type, uint64_t value, uint32_t thread);
void paraver_define_counter(struct paraver_names *names, const struct paraver_labels *labels, struct defs *defs,
                            uint64_t type);
void paraver_names_clear(struct paraver_names *names);

#endif
