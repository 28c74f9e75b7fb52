/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_PERF_H
#define SIGHT_RECORD_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kernel's counters of a thread (perf_event_open(2)), by the names that perf gives them. Those of processors count
   what the program executes itself, not what the kernel does for it. */

struct perf_counter {
    const char *name, *meaning;
    uint32_t type;
    uint64_t config;
    bool of_kernel; /* happens in the kernel only: needs the right to look at it */
};

size_t perf_count(void);
const struct perf_counter *perf_at(size_t index);

/* The counter of this name; SIZE_MAX: there is none. */
size_t perf_find(const char *name, size_t length);

/* Counts for the calling thread from now on, and in no process that it becomes (exec). The descriptor, and the
   counter's number, which no other one has; -1 and errno. */
int perf_open(const struct perf_counter *counter, uint64_t *number);

/* The count until now, what it would be if the counter had not shared its place in the processor. False: the descriptor
   is not this counter any more, or cannot be read. */
bool perf_read(int descriptor, uint64_t number, int64_t *value);

/* True if the descriptor is this counter. */
bool perf_is(int descriptor, uint64_t number);

#endif
