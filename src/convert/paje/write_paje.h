/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_PAJE_WRITE_PAJE_H
#define SIGHT_CONVERT_PAJE_WRITE_PAJE_H

#include "convert/by_location.h"
#include "core/sorter.h"

/* The parts of the Pajé writer: write_paje.c makes the lines of events, location after location, and sorts them;
   write_paje_head.c writes the definitions before them. Rules: paje(5). */

/* The first line, by which our reader knows what keys of links say. */
#define PAJE_CREATOR "#This file was generated using SIGHT"

/* Numbers of events in the file. */
enum {
    PAJE_DEFINES_CONTAINER,
    PAJE_DEFINES_STATE,
    PAJE_DEFINES_EVENT,
    PAJE_DEFINES_VARIABLE,
    PAJE_DEFINES_LINK,
    PAJE_DEFINES_VALUE,
    PAJE_CREATES,
    PAJE_DESTROYS,
    PAJE_PUSHES,
    PAJE_POPS,
    PAJE_STARTS,
    PAJE_STARTS_UNKNOWN, /* a link whose size is not known */
    PAJE_ENDS,
    PAJE_SETS,
    PAJE_HAPPENS
};

/* Main threads are their process's container, others have one of their own, of another type: bits of what is used. */
enum { PAJE_IN_PROCESS = 1, PAJE_IN_THREAD = 2 };

struct paje_writer {
    struct writer writer; /* first */
    struct by_location *by;
    struct sorter *lines;
    unsigned char *states_used, *marks_used; /* bits */
    uint32_t *threads;                       /* of each process: those up to the last with events */
    uint32_t process, thread;
    uint64_t order, open; /* open: states of the location at hand */
};

/* The first lines: definitions, values, containers. And the last: the containers' ends. */
void paje_write_head(struct paje_writer *paje);
void paje_write_tail(struct paje_writer *paje);

/* Seconds with nine decimals. */
char *paje_put_time(char *at, int64_t ns);

#endif
