/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_EVENTS_EVENT_FILE_H
#define SIGHT_CONVERT_EVENTS_EVENT_FILE_H

#include "convert/reader.h"
#include "core/output.h"

/* A file of events as they are in memory, with all definitions: what the cache keeps of a trace that cannot be read
   from the middle. It is no format for others, and changes with the program: numbers are the machine's own, and a
   reader of another version takes it for no trace.

   A header, frames of up to BATCH_EVENTS events (a frame_head, then for each event process and time as varints against
   those before, and event_pack), and behind them the definitions. Each part has a checksum, so that bytes that pass are
   those that were written. */

/* Writes a file. Give `sink` the events: it does not sort them. The caller opens and closes the output (patchable). */
struct event_file_writer {
    struct sink sink; /* first */
    struct output *output;
    const struct defs *defs;
    unsigned char *frame;
    size_t capacity;
    uint64_t last_frame; /* where it begins */
};
void event_file_writer_begin(struct event_file_writer *writer, struct output *output);
void event_file_writer_clear(struct event_file_writer *writer);

/* Not in formats.def: nobody is meant to keep such files. */
extern const struct format format_event_file;

/* The reader of a file; its events can be read from the middle (reader_seek). NULL and a fault. */
struct reader *event_file_open(const char *path, struct error *err);

#endif
