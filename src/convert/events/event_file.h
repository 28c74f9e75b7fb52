/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_EVENTS_EVENT_FILE_H
#define SIGHT_CONVERT_EVENTS_EVENT_FILE_H

#include "convert/reader.h"
#include "core/output.h"

/* A file of events as they are in memory, with all definitions: the cache stores a trace in it that cannot be read from
   the middle. It is private and changes with the program: numbers have the machine's format, and a reader of another
   version does not recognise it.

   A header, frames of up to BATCH_EVENTS events (a frame_head, then for each event process and time as varints against
   those before, and event_pack), followed by the definitions. Each part has a checksum. */

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

/* Not in formats.def: such files are not for users to keep. */
extern const struct format format_event_file;

/* The reader of a file; its events can be read from the middle (reader_seek). NULL and a fault. */
struct reader *event_file_open(const char *path, struct error *err);

#endif
