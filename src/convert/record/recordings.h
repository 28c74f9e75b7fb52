/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_RECORD_RECORDINGS_H
#define SIGHT_CONVERT_RECORD_RECORDINGS_H

#include "convert/record/launch_note.h"
#include "convert/record/record_file.h"
#include "convert/record/record_offset.h"
#include "core/map.h"

/* The contents of directories of buffer files: which files belong to which MPI program, and which programs are one
   trace, since one has started the other (MPI_Comm_spawn) or they have connected. The processes of such a trace are
   those of its programs, one after the other. */

/* An MPI program: its processes have one number, where that is known. Programs without one, and those of a launcher
   that reuses numbers, are distinguished by having each rank once. */
struct recording_program {
    uint64_t number;
    int32_t size;
    uint16_t spawned;
    uint32_t repeated; /* number of such programs before it */
    int64_t begin_ns;
    uint64_t host; /* of its process 0, whose clock is the program's; 0: it has no file */
    size_t trace;
    uint32_t first_process; /* its process 0 in the trace */
    size_t base;            /* the program whose clock `clock` leads to; SIZE_MAX: this one's is the trace's */
    struct record_clock_line clock;
};

/* An inter-communicator by which two programs meet, as the processes of one of them have it. */
struct recording_link {
    size_t program;
    uint64_t key; /* in this program */
    uint32_t kin, size, remote_size;
    int64_t since_ns, until_ns; /* the calls that made it, on the program's clock */
    size_t other;               /* the same one in the other program; SIZE_MAX: not found */
};

struct recording_trace {
    size_t first_file;
    size_t program_count;
    uint32_t processes;
};

struct recordings {
    struct record_file *files; /* in the order of traces, of the traces' processes, of threads */
    size_t file_count, file_capacity;
    struct recording_program *programs;
    size_t program_count, program_capacity;
    struct recording_link *links;
    size_t link_count, link_capacity;
    struct map link_of;             /* program and key -> index */
    struct recording_trace *traces; /* in the order in which they began; one more has the end of the files */
    size_t trace_count;
    bool alive_least;  /* alive_ns is a time at which they were seen; until when they lived is not known */
    int64_t alive_ns;  /* ns of CLOCK_MONOTONIC of this host when processes not known to have ended were alive; 0: not
                          known */
    size_t failed;     /* processes and threads that had no place to record to */
    int failed_reason; /* errno of one of them */
    struct launch_note note; /* of the only directory that has one */
    size_t noted;            /* directories that have one */
};

/* Finds the buffer files of the directories. Files of processes that ended before they had written anything are left
   out. Without any it is a fault, of output where processes had no place to record to. To be closed also then. */
enum status recordings_open(struct recordings *recordings, char *const *directories, size_t count,
                            struct error *err) MUST_CHECK;

/* True for the names of what a directory of buffer files has in it. */
bool recordings_name(const char *name);

/* To judge by the struct record_header that a buffer file begins with: whether it is read by directory_read() alone,
   and only a little of it before its events. */
bool recordings_in_pieces(const void *head, size_t size);

/* How many processes of the recordings run on this host. */
size_t recordings_running(const struct recordings *recordings);

/* Sets alive_ns: to now if any of them runs, or else to when the command had ended or was
   last seen to run, where its launch note says so. */
void recordings_note_alive(struct recordings *recordings);

/* For a running program: takes a copy of the current state, so that it can be read meanwhile. */
void recordings_freeze(struct recordings *recordings);
void recordings_close(struct recordings *recordings);

/* A number for an inter-communicator by which programs meet, the same in both; 0: the other one is not in the trace. */
uint64_t recordings_shared_key(const struct recordings *recordings, size_t program, uint64_t key);

/* The offset from a program's clock to that of its trace at a time, in ns to add. */
int64_t recordings_offset(const struct recordings *recordings, size_t program, int64_t time_ns);

#endif
