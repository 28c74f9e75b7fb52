/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_DUMPI_COMMS_H
#define SIGHT_CONVERT_DUMPI_COMMS_H

#include "convert/dumpi/dumpi_call.h"
#include "core/defs.h"

/* Communicators of a run. Each process has numbers of its own for them, and no file lists their members: the
   calls that make them are replayed with all processes, in the order in which each process made them. */

enum { DUMPI_COMM_NULL = 1, DUMPI_COMM_WORLD, DUMPI_COMM_SELF };

/* A step of a process: a communicator is made or freed. */
struct dumpi_step_of {
    uint8_t kind; /* internal */
    bool reorders;
    uint16_t parent, made;
    int32_t colour, key;
    uint32_t list, list_count; /* of dumpi_process.list: ranks, dimensions */
    int32_t result;            /* index of the definition; EVENT_UNKNOWN */
};

struct dumpi_process {
    struct dumpi_step_of *step;
    size_t count, capacity;
    int32_t *list;
    size_t list_count, list_capacity;
    struct map groups;      /* group -> (list, count) of ranks in the communicator that it is of */
    struct map group_comms; /* group -> that communicator's number */
    size_t at;              /* next step, while they are replayed and while events are read */
    bool waits;
};

struct dumpi_comms {
    struct dumpi_process *process;
    uint32_t processes;
    struct map local; /* (process, number) -> index of the definition */
    struct map sizes; /* definition -> number of members */
    int32_t world;
    uint64_t unknown; /* steps whose communicator is not known */
};

/* Notes what the call of a process means to communicators and groups. */
void dumpi_comms_note(struct dumpi_comms *comms, uint32_t process, const struct dumpi_call *call);

/* Defines all communicators, after the calls of all processes. */
void dumpi_comms_define(struct dumpi_comms *comms, struct defs *defs);

/* While events are read: the call of a process has been made. The communicator that it got; EVENT_UNKNOWN: none, or it
   is not known. */
int32_t dumpi_comms_pass(struct dumpi_comms *comms, uint32_t process, const struct dumpi_call *call);

/* The definition of a process's number; EVENT_UNKNOWN where it is not known. */
int32_t dumpi_comm(const struct dumpi_comms *comms, uint32_t process, uint16_t number);

/* Number of its members; -1 where it is not known. */
int64_t dumpi_comm_size(const struct dumpi_comms *comms, int32_t comm);

void dumpi_comms_clear(struct dumpi_comms *comms);

#endif
