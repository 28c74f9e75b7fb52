/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_CLOG2_CLOG2_FORMAT_H
#define SIGHT_CONVERT_CLOG2_CLOG2_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

/* The numbers of the CLOG-2 format, for reader and writer. All lengths in bytes. */

enum clog2_record {
    CLOG2_ENDLOG,
    CLOG2_ENDBLOCK,
    CLOG2_STATEDEF,
    CLOG2_EVENTDEF,
    CLOG2_CONSTDEF,
    CLOG2_BARE,
    CLOG2_CARGO,
    CLOG2_MESSAGE,
    CLOG2_COLLECTIVE,
    CLOG2_COMM,
    CLOG2_SITE,
    CLOG2_SHIFT,
    CLOG2_KINDS
};

/* The body of each kind of record, since version 02.30. */
static const uint8_t clog2_payload[CLOG2_KINDS] = {
    [CLOG2_STATEDEF] = 112, [CLOG2_EVENTDEF] = 104,  [CLOG2_CONSTDEF] = 40, [CLOG2_BARE] = 8,  [CLOG2_CARGO] = 40,
    [CLOG2_MESSAGE] = 24,   [CLOG2_COLLECTIVE] = 16, [CLOG2_COMM] = 48,     [CLOG2_SITE] = 48, [CLOG2_SHIFT] = 8};

/* Offset in a record's payload of a word that MPE leaves unused. In a file with source locations, which MPE never
   writes, it is the id of the one that the event belongs to; 0: none. */
static const uint8_t clog2_site_at[CLOG2_KINDS] = {
    [CLOG2_BARE] = 4, [CLOG2_CARGO] = 4, [CLOG2_MESSAGE] = 20, [CLOG2_COLLECTIVE] = 12};

#define CLOG2_MAGIC "CLOG-02."
#define CLOG2_VERSION "CLOG-02.44"

enum {
    CLOG2_PREAMBLE_SIZE = 1024,
    CLOG2_BLOCK_SIZE = 65536, /* the usual one; the preamble says */
    CLOG2_HEADER_SIZE = 24,   /* of a record: time, communicator, rank in it, thread, type */
    CLOG2_RECORD_MAX = CLOG2_HEADER_SIZE + 112,
    /* Texts are NUL-terminated within these, so that one character less counts. */
    CLOG2_COLOUR_SIZE = 24,
    CLOG2_NAME_SIZE = 32,
    CLOG2_TEXT_SIZE = 40, /* formats of payloads, file names */
    CLOG2_CARGO_SIZE = 32,
    CLOG2_UUID_SIZE = 32,                /* random i32, time f64, 20 bytes of host name */
    CLOG2_ROW_SIZE = CLOG2_UUID_SIZE + 8 /* of the communicator table: UUID, id, kind */
};

enum {
    CLOG2_NO_COMM = -999999999,
    CLOG2_SEND = -101,
    CLOG2_RECEIVE = -102,
    CLOG2_CONSTANT = -201,
    CLOG2_SITE_FUNCTION = -1, /* line of a second source location of an id: its text is the function */
    CLOG2_SITE_PATH = -2,     /* line of a source location that is a call path: its id is the path's number, its text
                                 says the number of the parent (0: none) and the id of its place (0: none) */
    /* Lines of source locations that are facts about the run (core/property.h), numbered from 1 by their ids: name,
       processes (none: the whole run) and value, each in as many records as it takes, as UTF-8. */
    CLOG2_SITE_PROPERTY_NAME = -3,
    CLOG2_SITE_PROPERTY_RANKS = -4,
    CLOG2_SITE_PROPERTY_VALUE = -5,
    CLOG2_SITE_FILE_MORE = -6, /* the text goes on that of the file, or of the function, of the source location with */
    CLOG2_SITE_FUNCTION_MORE = -7, /* the same id */
    CLOG2_SITE_LIBRARY = -8,       /* the source location with the same id is in a library; no text */
    CLOG2_KNOWN_SOLO = -10,        /* first id of MPE's own single events */
    CLOG2_KNOWN_STATES = 300,      /* state ids below are MPE's own, */
    CLOG2_KNOWN_EVENTS_END = 600,  /* and their events: 2 * state and 2 * state + 1 */
    CLOG2_USER_EVENTS = 600,       /* first event id of user states */
    CLOG2_USER_SOLO = 5000         /* first id of user single events */
};

/* True if a source location with this line is none, but one of the above. */
static inline bool clog2_line_is_other(int32_t line)
{
    return line <= CLOG2_SITE_FUNCTION && line >= CLOG2_SITE_LIBRARY;
}

/* Stands in the end-of-log record. */
#define CLOG2_ENDLOG_TIME 1e8

/* Titles of the preamble's values, as the files spell them. */
#define CLOG2_KEY_BIG_ENDIAN "is_big_endian="
#define CLOG2_KEY_FINALIZED "is_finalzed="
#define CLOG2_KEY_BLOCK_SIZE "block_size="
#define CLOG2_KEY_BUFFERED_BLOCKS "num_buffered_blocks="
#define CLOG2_KEY_WORLD_SIZE "max_comm_world_size="
#define CLOG2_KEY_WORLD_SIZE_OLD "comm_world_size=" /* until 02.42 */
#define CLOG2_KEY_THREADS "max_thread_count="
#define CLOG2_KEY_KNOWN_EVENTS "known_eventID_start="
#define CLOG2_KEY_USER_EVENTS "user_eventID_start="
#define CLOG2_KEY_KNOWN_SOLO "known_solo_eventID_start="
#define CLOG2_KEY_USER_SOLO "user_solo_eventID_start="
#define CLOG2_KEY_KNOWN_STATE_COUNT "known_stateID_count="
#define CLOG2_KEY_USER_STATE_COUNT "user_stateID_count="
#define CLOG2_KEY_KNOWN_SOLO_COUNT "known_solo_eventID_count="
#define CLOG2_KEY_USER_SOLO_COUNT "user_solo_eventID_count="
#define CLOG2_KEY_COMM_TABLE "commtable_fptr=" /* three values: a, u, b; the offset is a * u + b */
#define CLOG2_TRUE "TRUE "
#define CLOG2_FALSE "FALSE"
enum { CLOG2_POINTER_UNIT = 1 << 30 }; /* the u of an offset */

#endif
