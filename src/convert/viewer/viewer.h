/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_VIEWER_VIEWER_H
#define SIGHT_CONVERT_VIEWER_VIEWER_H

#include "convert/by_location.h"

/* What the writers for viewers in a browser (Chrome, Perfetto) have in common: which tracks there are, what stands on
   them, and with which arguments. A writer puts one thing after the other into its file. */

/* A line of the picture: a lane of a thread's states; the waits of a thread; a finding. */
enum { LANE_WAITS = -2, LANE_FINDING = -3 };
struct viewer_track {
    uint32_t process, thread; /* of a finding: WRITER_NOBODY and its number */
    int lane;
};

struct viewer_arg {
    const char *key;  /* a literal */
    const char *text; /* NULL: it is the number; borrowed */
    int64_t number;
};
enum { VIEWER_ARGS = 10, VIEWER_TEXT_SIZE = 4096 };
struct viewer_args {
    struct viewer_arg arg[VIEWER_ARGS];
    size_t count;
    char text[VIEWER_TEXT_SIZE]; /* of a payload */
    char place[VIEWER_TEXT_SIZE];
};

/* What stands on a track at a time: what `name` says, of the kind `category`. */
struct viewer_item {
    struct viewer_track track;
    int64_t time_ns;
    const char *name, *category;
    const struct viewer_args *args;
    uint64_t message; /* arrows join what has the same number: from a send to a receive; 0: none */
    bool sends;       /* the arrow begins here */
};

struct viewer_writer;
struct viewer_format {
    void (*head)(struct viewer_writer *viewer);
    /* A process (WRITER_NOBODY: that of the findings) and a track, each before anything on it. */
    void (*process)(struct viewer_writer *viewer, uint32_t process, const char *name, const char *host);
    void (*track)(struct viewer_writer *viewer, struct viewer_track track, const char *name);
    void (*begin)(struct viewer_writer *viewer, const struct viewer_item *item);
    void (*end)(struct viewer_writer *viewer, const struct viewer_item *item);
    void (*moment)(struct viewer_writer *viewer, const struct viewer_item *item);
    void (*counter)(struct viewer_writer *viewer, const struct viewer_item *item, const struct event *event);
    void (*tail)(struct viewer_writer *viewer);
};

struct viewer_writer {
    struct writer writer; /* first */
    const struct viewer_format *format;
    struct by_location *by;
    struct writer_span *findings; /* texts are owned */
    size_t finding_count, finding_capacity;
    struct viewer_args args;
    bool *process_named; /* those without events have no tracks, and no names */
    bool *named;         /* by lane of the location at hand: it has its name */
    bool waits_named;    /* and so has the track of its waits */
};

/* Sets the sink of a writer that begins with a viewer_writer, and what that needs; and frees that. */
void viewer_start(struct viewer_writer *viewer, const struct viewer_format *format);
void viewer_stop(struct viewer_writer *viewer);

/* For writer_format.span. */
enum status viewer_span(struct writer *writer, const struct writer_span *span, struct error *err);

/* The numbers of processes (WRITER_NOBODY: of the findings) and of tracks as threads: from 1, since 0 is the machine's
   idle process to viewers; no two tracks have the same, and the main thread has that of its process. */
uint64_t viewer_process_number(const struct viewer_writer *viewer, uint32_t process);
uint64_t viewer_track_number(const struct viewer_writer *viewer, struct viewer_track track);

/* The place of a track among those of its process: lanes of a thread below each other, its waits last. */
int64_t viewer_track_place(const struct viewer_writer *viewer, struct viewer_track track);

#endif
