/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_VIEWER_PERFETTO_PACKETS_H
#define SIGHT_CONVERT_VIEWER_PERFETTO_PACKETS_H

#include "convert/viewer/protobuf.h"

#include <stdbool.h>

/* Numbers of the fields that are read and written, from Perfetto's public schema (protos/perfetto/trace). */

enum { TRACE_PACKET = 1 };

/* TracePacket */
enum {
    PACKET_CLOCKS = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_CLOCK = 58,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK = 60,
    PACKET_PID = 79
};
enum { SEQUENCE = 1, FLAGS_CLEARED = 1, FLAGS_NEEDED = 2 };

/* TracePacketDefaults, TrackEventDefaults */
enum { DEFAULTS_EVENT = 11, DEFAULTS_TRACK = 11 };

/* ClockSnapshot, its Clock, and the numbers of clocks */
enum { CLOCKS_CLOCK = 1 };
enum { CLOCK_ID = 1, CLOCK_TIMESTAMP = 2, CLOCK_INCREMENTAL = 3, CLOCK_UNIT_NS = 4 };
enum { CLOCK_BOOTTIME = 6, CLOCK_FIRST_OF_SEQUENCE = 64 };

/* TrackDescriptor, ProcessDescriptor, ThreadDescriptor, CounterDescriptor */
enum {
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    TRACK_STATIC_NAME = 10,
    TRACK_CHILD_ORDER = 11,
    TRACK_RANK = 12
};
enum { CHILD_ORDER_EXPLICIT = 3 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6, PROCESS_SORT = 3, PROCESS_LABELS = 8 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { COUNTER_INCREMENTAL = 5, COUNTER_UNIT_NAME = 6 };

/* TrackEvent, DebugAnnotation, SourceLocation */
enum {
    EVENT_CATEGORY = 3,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    EVENT_CATEGORY_TEXT = 22,
    EVENT_NAME_TEXT = 23,
    EVENT_INTEGER = 30,
    EVENT_SOURCE = 33,
    EVENT_REAL = 44,
    EVENT_FLOW = 47,
    EVENT_FLOW_ENDS = 48
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum {
    ANNOTATION_NAME = 1,
    ANNOTATION_UNSIGNED = 3,
    ANNOTATION_NUMBER = 4,
    ANNOTATION_TEXT = 6,
    ANNOTATION_NAME_TEXT = 10
};
enum { SOURCE_FILE = 2, SOURCE_FUNCTION = 3, SOURCE_LINE = 4 };

/* InternedData, and each of its entries */
enum interned { INTERNED_CATEGORY = 1, INTERNED_NAME = 2, INTERNED_ANNOTATION = 3, INTERNED_KINDS };
enum { ENTRY_ID = 1, ENTRY_TEXT = 2 };

/* A packet, as far as its fields are needed before others. */
struct perfetto_packet {
    uint64_t sequence, flags;
    uint32_t clock;
    int64_t pid;
    bool timed;
    uint64_t timestamp;
    int64_t time_ns; /* for the reader */
    struct protobuf_message event, interned, track, clocks, defaults;
};

/* False: the packet is damaged. */
bool perfetto_packet_parse(struct perfetto_packet *packet, struct protobuf_message message);

/* Whether a packet, or the part of it that is there, has nothing but fields, of numbers that Perfetto has, and some
   that all its traces have. */
bool perfetto_is_packet(struct protobuf_message packet, bool whole);

#endif
