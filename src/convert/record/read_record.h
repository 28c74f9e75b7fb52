/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_RECORD_READ_RECORD_H
#define SIGHT_CONVERT_RECORD_READ_RECORD_H

#include "convert/reader.h"
#include "convert/record/recordings.h"
#include "core/past.h"

/* The format of a directory with the buffer files of one trace, merged while they are read. reader_open knows it; it is
   in no table of formats, since no file is one. */
extern const struct format format_record;

/* The reader over the buffer files that the recording library left: all events of all processes of one trace of the
   recordings, which must stay, in the order of time. NULL and a fault where they cannot be read. */
struct reader *record_reader_open(const struct recordings *recordings, size_t trace, struct error *err);

/* The same of a program that runs, without its past: about the last `bytes` of each file. What the records left out
   define or begin is not known, except for the definitions of struct defs. */
struct reader *record_reader_open_late(const struct recordings *recordings, size_t trace, uint64_t bytes,
                                       struct error *err);

/* Before the first event of a reader that was opened late: hands what was left out to a sink. False: the files are
   damaged there, and what was handed over is only a part. */
bool record_reader_past(struct reader *reader, const struct past_sink *sink);

/* From when on all files are read: 0, the begin of the run, unless records were left out. On the trace's clock. */
int64_t record_reader_from_ns(const struct reader *reader);

/* When the recordings were frozen (recordings.alive_ns), on the trace's clock. */
int64_t record_reader_now_ns(const struct reader *reader);

/* After the last event: how often a process has called a function at a place, from the begin of its files on. */
struct record_calls {
    uint32_t state, site; /* as of events */
    uint64_t count;       /* set */
};
void record_reader_count(struct reader *reader, uint32_t process, struct record_calls *calls, size_t count);

/* Facts about the run besides its events. */
struct record_summary {
    uint32_t processes, declared;       /* that have a recording; of the program */
    uint32_t unfinished;                /* that did not come to MPI_Finalize */
    size_t programs;                    /* MPI programs in the trace */
    bool spawned;                       /* the first was started by one that is not in the trace */
    uint64_t foreign;                   /* ends of messages to or from other programs: left out */
    bool several_hosts;                 /* whose clocks were measured */
    bool limited, disk_full;            /* recording ended early somewhere */
    bool file_lost;                     /* the same: a program closed its buffer file */
    bool file_limit;                    /* the same: it may not have files so large (RLIMIT_FSIZE) */
    uint32_t lost_threads;              /* that could not be recorded */
    int lost_reason;                    /* errno of one of them */
    uint64_t events, bytes;             /* read so far; size of the buffer files */
    const char *kept;                   /* of a sample: what of the run is there; NULL: all. Borrowed from the reader */
    uint64_t left_out;                  /* events */
    uint64_t lost_definitions;          /* of a sample: call sites, communicators and the like that had no room */
    uint64_t lost_calls, lost_messages; /* of the sample, that are left out for that reason */
    uint64_t limit_bytes;               /* that a sample may take; 0: there is none */
};
struct record_summary record_reader_summary(const struct reader *reader);

#endif
