/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_XML_READ_XML_H
#define SIGHT_CONVERT_XML_READ_XML_H

#include "convert/reader.h"
#include "convert/xml/xml_pairing.h"
#include "core/xml_sax.h"

/* The parts of the XML reader: read_xml.c hands over one element at a time, read_xml_events.c and
   read_xml_defs.c make events and definitions of them, read_xml_emit.c puts the events in order. */

/* The row of formats.def. */
extern const struct format format_xml;

/* X(name): the known attributes; all others are skipped. The frequent ones of event lines are among the first 64. */
#define XML_ATTRIBUTES(X)                                                                                              \
    X(after)                                                                                                           \
    X(before)                                                                                                          \
    X(bytes)                                                                                                           \
    X(colour)                                                                                                          \
    X(communication)                                                                                                   \
    X(communicator)                                                                                                    \
    X(complete)                                                                                                        \
    X(creator)                                                                                                         \
    X(data)                                                                                                            \
    X(defined)                                                                                                         \
    X(direction)                                                                                                       \
    X(end)                                                                                                             \
    X(file)                                                                                                            \
    X(format)                                                                                                          \
    X(function)                                                                                                        \
    X(id)                                                                                                              \
    X(kind)                                                                                                            \
    X(line)                                                                                                            \
    X(name)                                                                                                            \
    X(original)                                                                                                        \
    X(parent)                                                                                                          \
    X(partner)                                                                                                         \
    X(partner_communicator)                                                                                            \
    X(payload)                                                                                                         \
    X(process)                                                                                                         \
    X(processes)                                                                                                       \
    X(rank)                                                                                                            \
    X(ranks)                                                                                                           \
    X(received)                                                                                                        \
    X(request)                                                                                                         \
    X(requests)                                                                                                        \
    X(root)                                                                                                            \
    X(self)                                                                                                            \
    X(sent)                                                                                                            \
    X(shadowed)                                                                                                        \
    X(site)                                                                                                            \
    X(source)                                                                                                          \
    X(start)                                                                                                           \
    X(state)                                                                                                           \
    X(step)                                                                                                            \
    X(tag)                                                                                                             \
    X(text)                                                                                                            \
    X(thread)                                                                                                          \
    X(threads)                                                                                                         \
    X(timestamp)                                                                                                       \
    X(uuid)                                                                                                            \
    X(value)                                                                                                           \
    X(window)                                                                                                          \
    X(world)                                                                                                           \
    X(api)                                                                                                             \
    X(base)                                                                                                            \
    X(exponent)                                                                                                        \
    X(handle)                                                                                                          \
    X(host)                                                                                                            \
    X(last_line)                                                                                                       \
    X(library)                                                                                                         \
    X(mode)                                                                                                            \
    X(number)                                                                                                          \
    X(paradigm)                                                                                                        \
    X(path)                                                                                                            \
    X(process_name)                                                                                                    \
    X(role)                                                                                                            \
    X(scope)                                                                                                           \
    X(type)                                                                                                            \
    X(unit)

enum xml_attribute {
#define XML_ATTRIBUTE_MEMBER(name) XML_##name,
    XML_ATTRIBUTES(XML_ATTRIBUTE_MEMBER)
#undef XML_ATTRIBUTE_MEMBER
        XML_ATTRIBUTE_COUNT
};

/* X(name): the known elements; xml_read_##name handles each. */
#define XML_ELEMENTS(X)                                                                                                \
    X(event)                                                                                                           \
    X(message)                                                                                                         \
    X(collective)                                                                                                      \
    X(mark)                                                                                                            \
    X(rma)                                                                                                             \
    X(io)                                                                                                              \
    X(sample)                                                                                                          \
    X(counter)                                                                                                         \
    X(state)                                                                                                           \
    X(marktype)                                                                                                        \
    X(constant)                                                                                                        \
    X(site)                                                                                                            \
    X(communicator)                                                                                                    \
    X(location)                                                                                                        \
    X(handle)                                                                                                          \
    X(path)                                                                                                            \
    X(property)                                                                                                        \
    X(membership)                                                                                                      \
    X(neighbours)                                                                                                      \
    X(shift)

enum xml_element {
#define XML_ELEMENT_MEMBER(name) XML_ELEMENT_##name,
    XML_ELEMENTS(XML_ELEMENT_MEMBER)
#undef XML_ELEMENT_MEMBER
        XML_ELEMENT_COUNT
};

/* Pending events, with their payloads. */
struct xml_queue {
    struct event *events;
    size_t head, count, capacity;
    unsigned char *arena;
    size_t arena_length, arena_capacity;
};

/* A record about the trace that came after `after` events of its process and time: it waits for them. */
struct xml_pending {
    struct event event;
    uint64_t after;
    size_t sequence;
};
struct xml_process {
    size_t next, end; /* its pending records, once they are sorted */
    int64_t time_ns;  /* of its latest event */
    uint64_t count;   /* how many of its latest events have this time */
};

/* Recently used names, as in the file. */
enum { XML_CACHE_SIZE = 256, XML_CACHED_NAME_MAX = 56 };
struct xml_cached_name {
    uint32_t index, length; /* length 0: free */
    char name[XML_CACHED_NAME_MAX];
};

struct xml_reader {
    struct reader *reader;
    struct xml_sax sax; /* holds the attributes of the current element */
    /* Events read but not yet delivered. */
    struct batch *batch; /* being filled; NULL while there is none */
    struct xml_queue queue, held;
    unsigned char *records; /* payloads of pending records */
    size_t records_length, records_capacity;
    struct xml_line text; /* scratch */
    /* Definitions so far. */
    struct xml_stacks stacks;
    struct xml_cached_name cache[XML_CACHE_SIZE];
    struct map marks;      /* hash of name and of name and id -> index */
    int32_t comm_id, comm; /* the last communicator named */
    bool have_comm;
    int32_t world;        /* EVENT_UNKNOWN: none */
    struct map processes; /* process -> index, only while records are pending */
    struct xml_process *process;
    size_t process_count, process_capacity;
    struct xml_pending *pending;
    size_t pending_count, pending_capacity, pending_left;
    bool pending_sorted;
    uint64_t counts[XML_ELEMENT_COUNT];
    char root[40]; /* the name of the outermost element */
    bool is_trace, incomplete;
    bool is_foreign; /* has nothing of a trace */
    bool events_met; /* the definitions are over */
    bool ended;      /* no more events to deliver */
};

static inline bool xml_has(const struct xml_reader *xml, enum xml_attribute attribute)
{
    return xml_sax_has(&xml->sax, attribute);
}

/* read_xml_attributes.c */
extern const char *const xml_attribute_names[]; /* by enum xml_attribute */
/* Notes damage of the current element. */
void xml_damage(struct xml_reader *xml, const char *format, ...) PRINTF_LIKE(2, 3);
/* A whole number within the bounds; `absent` if there is none or, with damage, if it is unusable. */
int64_t xml_number(struct xml_reader *xml, enum xml_attribute attribute, int64_t min, int64_t max, int64_t absent);
int32_t xml_number_i32(struct xml_reader *xml, enum xml_attribute attribute); /* absent: EVENT_UNKNOWN */
/* A text of the current element, borrowed until the next call; NULL if absent. */
const char *xml_text(struct xml_reader *xml, enum xml_attribute attribute);
bool xml_is_yes(const struct xml_reader *xml, enum xml_attribute attribute);
/* The direction given in the line; DIRECTION_NONE: none. */
enum message_direction xml_given_direction(struct xml_reader *xml);
/* Fills process, time, thread of an element with a place in the trace. False, with damage: it cannot be used.
 */
bool xml_read_place(struct xml_reader *xml, struct event *event);
/* The time of an attribute; `absent` if there is none or, with damage, if it is unusable. */
int64_t xml_time(struct xml_reader *xml, enum xml_attribute attribute, int64_t absent);
int32_t xml_read_comm(struct xml_reader *xml, enum xml_attribute attribute, int32_t absent);

/* read_xml_emit.c */
void xml_emit(struct xml_reader *xml, const struct event *event, const unsigned char *payload);
/* Emits a record about the trace, or keeps it until the events before it have been emitted. */
void xml_emit_record(struct xml_reader *xml, const struct event *event, const unsigned char *payload);
void xml_emit_all_pending(struct xml_reader *xml);
/* Holds a message back until the next other line, which may contain an earlier message. */
void xml_hold(struct xml_reader *xml, const struct event *message, const unsigned char *payload);
void xml_flush_held(struct xml_reader *xml);
void xml_flush_held_with(struct xml_reader *xml, const struct event *merged);

/* read_xml_defs.c */
/* Makes a mark known to xml_mark_named. */
void xml_index_mark(struct xml_reader *xml, uint32_t index);
/* Index of the mark with this name and, if not EVENT_UNKNOWN, id; created if needed. */
uint32_t xml_mark_named(struct xml_reader *xml, const char *name, int32_t id);

/* One for each element: read_xml_events.c has those of events, read_xml_defs.c the others. */
#define XML_ELEMENT_FUNCTION(name) void xml_read_##name(struct xml_reader *xml);
XML_ELEMENTS(XML_ELEMENT_FUNCTION)
#undef XML_ELEMENT_FUNCTION

#endif
