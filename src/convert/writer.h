/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_WRITER_H
#define SIGHT_CONVERT_WRITER_H

#include "core/output.h"
#include "core/sink.h"

/* Writing a trace: a writer is a sink that collects events in a sorter and writes the file at its end.

   A new target is one file write_X.c with a `const struct writer_format writer_format_X` and one line in formats.def.
 */

/* Losses: things that a target cannot represent, each reported once with a count. */
struct loss {
    const char *what; /* a literal: "message tags", "threads", ... */
    uint64_t count;
};
enum { LOSSES_MAX = 24, WRITER_BESIDE_MOST = 2 };

struct writer {
    struct sink sink; /* first: a writer is a sink */
    const struct writer_format *format;
    struct output *output; /* borrowed: the caller opens and closes it; NULL if the format is a directory, */
    struct output *beside[WRITER_BESIDE_MOST]; /* those of format->beside; NULL where the output is no named file */
    const char *path;                          /* which is made at this path, */
    bool replace;                              /* replacing an existing one */
    const struct defs *defs;
    bool in_order; /* set by the caller before the first event: events will come in order of time and the definitions do
                      not grow, so that a target in that order needs no sorting */
    struct loss losses[LOSSES_MAX];
    size_t loss_count;
};

/* A time that an analysis names: a wait of a thread, or a finding. */
struct writer_span {
    uint32_t process, thread; /* process WRITER_NOBODY: of the whole run */
    int64_t from_ns, to_ns;   /* on the trace's own clock */
    const char *name;         /* "late-sender": a literal; of the whole run a title */
    const char *text;         /* of the whole run: in words; else NULL */
    uint32_t cause;           /* the process that is waited for; WRITER_NOBODY: none, or not known */
};
#define WRITER_NOBODY UINT32_MAX

struct writer_format {
    const char *name; /* "xml", "alog", "clog2" */
    const char *title;
    const char *suffix;                     /* ".xml" */
    const char *other_suffix;               /* another usual one; NULL */
    bool patchable;                         /* needs output_options.patchable */
    bool directory;                         /* a trace is a directory: see writer.path */
    const char *beside[WRITER_BESIDE_MOST]; /* suffixes of files that belong to the trace; NULL: no more */
    /* A new writer (freed by `dispose`), its sink functions set. */
    struct writer *(*create)(void);
    void (*dispose)(struct writer *writer);
    /* Takes a span, before the first event; NULL: the format has no place for them. */
    enum status (*span)(struct writer *writer, const struct writer_span *span, struct error *err);
};

/* Opens the outputs of a new writer, whose format is set: all of them, or a fault, and there is none. */
enum status writer_open(struct writer *writer, const char *path, bool replace, struct error *err) MUST_CHECK;

/* Puts all of them in place (commit) or none. */
enum status writer_close(struct writer *writer, bool commit, struct error *err) MUST_CHECK;

/* Counts `n` things that the target cannot represent. `what` is a literal. */
void writer_lose(struct writer *writer, const char *what, uint64_t n);

/* The text in Latin-1; letters that this has not got are counted as lost. free() it. */
char *writer_latin1(struct writer *writer, const char *utf8);

/* Likewise the text of an event in Latin-1, and its length: in the arena, or in *made, which is to be freed. */
const unsigned char *writer_event_text(struct writer *writer, const struct event *event, const unsigned char *arena,
                                       size_t *length, char **made);

/* The same as writer_lose for the facts about the run (core/property.h): all but those of `kept`, names that end with
   NULL. */
void writer_lose_properties(struct writer *writer, const char *const *kept);

size_t writer_format_count(void);
const struct writer_format *writer_format_at(size_t index);
const struct writer_format *writer_format_find(const char *name); /* NULL if there is none */

/* Bytes that a writer's sorter may use. */
enum { WRITER_SORT_MEMORY = 16 << 20 };

#endif
