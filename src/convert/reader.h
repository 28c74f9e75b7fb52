/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_READER_H
#define SIGHT_CONVERT_READER_H

#include "core/defs.h"
#include "core/error.h"
#include "core/event.h"
#include "core/input.h"
#include "core/sink.h"

/* Reading a trace of any format: open (which delivers all definitions), then next until STATUS_END.

   A new format is one file read_X.c with a `const struct format format_X` and one line in formats.def. */

struct reader;

/* Reading from the middle, for formats that can. */
struct format_places {
    bool (*can_seek)(const struct reader *reader);
    enum status (*seek)(struct reader *reader, uint64_t from, uint64_t to, struct error *err);
    uint64_t (*last)(const struct reader *reader);
};

/* Reading some of the processes only, for formats in which no event depends on another process's. */
struct format_processes {
    /* How many bytes there are to read of each process, in the order of their numbers; free() it. NULL: this trace has
       to be read as a whole. */
    uint64_t *(*bytes)(const struct reader *reader, size_t *count);
    /* Of these, only events of [from, to) are given. Before the first event. */
    void (*select)(struct reader *reader, size_t from, size_t to);
    bool reads_all; /* whatever is selected, all is read, and counted in `records` */
    /* Where each process has files of its own: one of them, borrowed, by number as `bytes` has them; free() the array.
       NULL: it has not. */
    const char **(*paths)(const struct reader *reader, size_t *count);
    /* And as `select`, those whose number is not 0 in an array, which stays as long as events are read. */
    void (*choose)(struct reader *reader, const unsigned char *chosen);
};

struct format {
    const char *name;   /* as in JSON and --format: "clog2" */
    const char *title;  /* as in messages: "CLOG-2" */
    const char *suffix; /* ".clog2" */
    /* How sure the first `size` bytes (up to PROBE_SIZE; less only if the file is shorter) are of this format: 0 no ..
       100. */
    int (*probe)(const unsigned char *data, size_t size);
    bool two_passes;   /* open reads to the end for definitions, then rewinds: the core calls input_keep before */
    size_t state_size; /* bytes of reader->state, which the core allocates zeroed and frees */
    /* Reads what comes before the events: fills reader->defs; with two_passes reads all and rewinds. Damage is noted,
       not returned; STATUS_FAILED only if nothing can be used, or the file cannot be read. */
    enum status (*open)(struct reader *reader, struct error *err);
    /* Appends events to the batch, which is empty, until it is full or STATUS_END. A call may append none. */
    enum status (*next)(struct reader *reader, struct batch *batch, struct error *err);
    void (*close)(struct reader *reader);     /* frees what reader->state points to; may be NULL */
    const struct format_places *places;       /* NULL: it cannot */
    const struct format_processes *processes; /* NULL: it cannot */
    /* The format's traces are directories, or several files: the path of the one file in a directory that represents
       its trace (free() it), NULL if there is none. `open` finds the others by reader->input->path. NULL: a trace is
       one file. */
    char *(*find_in)(const char *directory);
    bool scatters; /* the directory's files may be on several hosts (engine/gathering.h) */
};

enum { PROBE_SIZE = 4096 };

/* Statistics of records as the format counts them, for `sight info`: a name and a count each. */
struct record_count {
    const char *name; /* a literal */
    uint64_t count;
};
enum { RECORD_COUNTS_MAX = 32 };

/* Changes times of events before they are delivered; `apply` NULL: none. */
struct correction {
    void (*apply)(void *context, struct batch *batch);
    void (*rewind)(void *context); /* reading starts again */
    void (*dispose)(void *context);
    void *context;
};

struct reader {
    const struct format *format;
    struct input *input; /* owned */
    struct defs *defs;   /* owned */
    void *state;
    bool complete;        /* set by the format when it sees the end mark (or, without one, a regular end) */
    struct damage damage; /* use reader_damage */
    struct record_count records[RECORD_COUNTS_MAX]; /* filled while events are read */
    size_t record_kinds;
    uint64_t used;                /* bytes that gave definitions or events (set by the format at its end) */
    uint64_t total;               /* bytes there should be (0: not known) */
    bool ended;                   /* the format has no more events */
    bool part;                    /* of the events: there are more after those that reader_seek was asked for */
    struct trace_end end;         /* valid once reader_next gave STATUS_END */
    struct correction correction; /* owned */
};

/* The input: one trace in any format ("-" is standard input), or the local files of one unmerged run, or a directory
   of them, or the directory of a trace. */
struct reader *reader_open(char *const *paths, size_t count, struct error *err);

/* True for a file that the trace in a directory may consist of: of an unmerged recording, by its name, or a local file
   of a CLOG-2 run, by its first bytes. */
bool reader_is_part(const char *directory, const char *name);

/* True for a directory that is a trace of a format with directories whose files must all be here, such as DUMPI. */
bool reader_is_archive(const char *directory);

/* Reads from an open input, which the reader takes. For tests and fuzzing. */
struct reader *reader_open_input(struct input *input, struct error *err);

/* The same for a trace that is known to have this format. */
struct reader *reader_open_format(struct input *input, const struct format *format, struct error *err);

/* True if reading can start at any event. */
bool reader_can_seek(const struct reader *reader);

/* The next events come from byte `from` up to byte `to`: reader->input->offset as it was before the first event or
   between two batches, or of CLOG-2 where a block begins. Then reader_next gives STATUS_END. Needs reader_can_seek. */
enum status reader_seek(struct reader *reader, uint64_t from, uint64_t to, struct error *err) MUST_CHECK;

/* A place from which on the last events come. Needs reader_can_seek. */
uint64_t reader_last_place(const struct reader *reader);

/* Back to the first event; definitions are new. For readers over one input, with input_keep called before
   reader_open_input. If it fails, the reader can only be closed. */
enum status reader_restart(struct reader *reader, struct error *err) MUST_CHECK;

/* The next batch (emptied first). STATUS_END: no more; reader->end says how it ended. STATUS_FAILED: reading cannot
   continue. */
enum status reader_next(struct reader *reader, struct batch *batch, struct error *err) MUST_CHECK;

void reader_close(struct reader *reader);

/* For opening again: frees what the format and the definitions hold. */
void reader_clear(struct reader *reader);

/* Notes damage at byte `byte` of the input. */
void reader_damage(struct reader *reader, uint64_t byte, const char *format, ...) PRINTF_LIKE(3, 4);

/* Counts one record of the kind `name`, a literal (compared by address first). Slow path; formats with a table of kinds
   may fill reader->records themselves. */
void reader_count(struct reader *reader, const char *name, uint64_t n);

/* Adds what another reader has counted in another part of the trace. */
void reader_add_counts(struct reader *reader, const struct record_count *records, size_t kinds);

/* Forgets kinds without any record. */
void reader_drop_unused_counts(struct reader *reader);

/* The formats there are. */
size_t format_count(void);
const struct format *format_at(size_t index);
bool format_is_read(const char *name);

/* "CLOG-2, CLOG, ALOG or SIGHT XML"; `last` is the word before the last: "or", "nor". */
enum { FORMAT_TITLES_SIZE = 256 };
char *format_titles(char buffer[FORMAT_TITLES_SIZE], const char *last);

#endif
