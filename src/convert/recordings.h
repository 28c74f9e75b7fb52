/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_RECORDINGS_H
#define SIGHT_CONVERT_RECORDINGS_H

#include "convert/record_file.h"

/* What is in directories of buffer files: which files belong to which MPI program, and so to which trace. */

/* An MPI program: its processes have one number, where that is known. Programs without one, and those of a launcher
   that gives numbers again, are told apart by having each rank once. */
struct recording_program {
    uint64_t number;
    int32_t size;
    uint16_t spawned;
    uint32_t repeated; /* how many such there were before */
    int64_t begin_ns;
    size_t trace;
};

struct recordings {
    struct record_file *files; /* in the order of traces, of the traces' processes, of threads */
    size_t file_count, file_capacity;
    struct recording_program *programs;
    size_t program_count, program_capacity;
    size_t *first_file; /* by trace, and the number of files at the end */
    size_t trace_count; /* in the order in which they began */
};

/* Finds the buffer files of the directories. Files of processes that ended before they had written anything are left
   out. Without any it is a fault. To be closed also then. */
enum status recordings_open(struct recordings *recordings, char *const *directories, size_t count,
                            struct error *err) MUST_CHECK;
void recordings_close(struct recordings *recordings);

#endif
