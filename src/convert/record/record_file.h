/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_RECORD_RECORD_FILE_H
#define SIGHT_CONVERT_RECORD_RECORD_FILE_H

#include "convert/record/record_kept.h"
#include "core/error.h"
#include "core/record_format.h"

#include <stdbool.h>
#include <stddef.h>

/* One buffer file of the recording library: its header, its definitions, and its records in order. A run may have more
   files than a process may have open: a file is opened for each piece that is read of it. */
struct record_file {
    char *path; /* owned */
    struct record_header header;
    struct record_pending *pending;  /* its slot if its process did not finalise MPI; else NULL */
    unsigned char *frozen;           /* the block that is being filled, as it was; NULL: it is read where it stands */
    struct record_request *requests; /* active ones of its process then; owned */
    size_t request_count;
    struct record_kept_stream *kept; /* NULL: all records are there; else positions are places in this stream */
    uint64_t size;
    uint64_t end;        /* of the blocks: positions are as record_format.h says */
    uint64_t position;   /* of the record that comes next */
    uint64_t skipped_to; /* where reading began, if records were passed over */
    uint64_t last_end;   /* where the last record ended */
    unsigned char *window;
    size_t window_size, window_filled;
    uint64_t window_at; /* position */
    union {
        struct record_base base;
        struct record_message message;
        struct record_enter enter;
    } expanded; /* the last record, where it is a short one */
    struct record_file_site {
        uint32_t comm;
        uint16_t function;
        uint32_t place;  /* see record_run.h; 0: there is no such site */
        uint32_t outer;  /* the place where its function was called; 0: not known */
        uint32_t region; /* of OpenMP: index of its state */
    } * sites;           /* by number; filled before reading starts */
    size_t site_count, site_capacity;
    struct record_file_path {
        uint64_t address; /* 0: there is no such path */
        uint32_t parent;
        uint32_t place, path; /* see record_samples.h; 0: not known */
    } * paths;                /* by number; filled before reading starts */
    size_t path_count, path_capacity;
    uint32_t *functions; /* of Python, by number: index + 1 of record_run.modules; 0: there is no such function */
    size_t function_count, function_capacity;
    uint32_t counters[RECORD_COUNTERS_MOST]; /* index + 1 of their marks; 0: not defined */
    int64_t last_ticks;                      /* its time */
    bool call_unknown;               /* the call that is open is of a site whose definition is lost: it is left out */
    uint64_t lost_calls, lost_comms; /* such calls so far; definitions of communicators that are not used */
    int64_t begin_ns;                /* of its process, on the clock of its host: see recordings.h */
    int64_t program_ticks; /* when the first thread of its program began: a process may become another by exec */
    size_t program, trace;
    uint32_t process; /* of the trace */
    int64_t died_ns;  /* when its process died without a note, CLOCK_MONOTONIC of its host; 0: it did not, for all that
                         is  known */
    int32_t died_how; /* as in struct launch_death */
    uint64_t missing; /* blocks that should be there, and all after them */
    bool damaged;     /* an invalid record: the file ends there */
};

/* Reads the header, and all of a file with a sample. STATUS_END: its process ended before it had written one.
   STATUS_FAILED: it is no buffer file of this version, or cannot be read. Takes `path`. */
enum status record_file_open(struct record_file *file, char *path, struct error *err) MUST_CHECK;
void record_file_close(struct record_file *file);

/* Keeps what there is of a file that is being written: header, slot and the block that is being filled belong together.
   False: it was written too fast for that; then it is read up to where that can be. */
bool record_file_freeze(struct record_file *file);

/* The active requests of the file's process as they are now; `count` of them, to be freed. */
struct record_request *record_file_requests(const struct record_file *file, size_t *count);

/* True if both are of one process, in the order of the files: a first thread begins a process. */
bool record_file_same_process(const struct record_file *left, const struct record_file *right);

/* Starts reading at the first record, with a window of this size; and gives back what reading needed. */
void record_file_start(struct record_file *file, size_t window_size);
void record_file_stop(struct record_file *file);

/* Goes on to about the last `bytes` of the file, at a record. The records passed over are lost; where there are fewer,
   none is. True if any was. */
bool record_file_skip(struct record_file *file, uint64_t bytes);

/* Reads up to `size` bytes from a position in the blocks, and no further than the end of the contiguous blocks: how
   many. */
size_t record_file_bytes(const struct record_file *file, uint64_t position, void *data, size_t size);

/* The next record, whole, valid until the next call; NULL at the end. */
const struct record_base *record_file_next(struct record_file *file);

/* The position of the next record as the recorder knows it. */
uint64_t record_file_position(const struct record_file *file);

/* A definition, its first `size` bytes into `record` (shorter ones are padded with zeros); its offset, or 0 for the
   first one, becomes that of the next. False: no more. */
bool record_file_definition(const struct record_file *file, uint64_t *offset, void *record, size_t size);

#endif
