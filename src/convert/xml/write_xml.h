/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_XML_WRITE_XML_H
#define SIGHT_CONVERT_XML_WRITE_XML_H

#include "convert/writer.h"
#include "convert/xml/xml_pairing.h"
#include "core/sorter.h"
#include "core/xml_text.h"

/* The parts of the XML writer: write_xml.c collects and orders, write_xml_events.c makes the lines of events,
   write_xml_defs.c those of definitions. */

/* The place of a definition's record in the source. */
struct xml_place {
    int64_t time_ns;
    int64_t after; /* event records of its process at the same time before it; below 0: -1 - index into late */
    uint32_t process, thread;
    int32_t comm;
    bool known;
};
enum { DEFINITION_KINDS = DEFINITION_SITE + 1 };
struct xml_places {
    struct xml_place *places;
    size_t count, capacity;
    size_t written; /* definitions that already have a line */
};

/* The messages since the last other event: the first may still move to the line of the leave that follows. */
enum xml_run { RUN_NONE, RUN_HELD, RUN_WRITTEN };

struct xml_span {
    size_t at, length;
};

struct xml_writer {
    struct writer writer; /* first */
    struct sorter *sorter;
    unsigned char *record;
    size_t record_capacity;
    /* While events arrive. */
    struct xml_tie {
        int64_t time_ns; /* latest time of an event of the process */
        uint64_t count;  /* how many events have it; 0: no events yet */
    } * ties;
    size_t tie_count, tie_capacity;
    struct xml_places places[DEFINITION_KINDS];
    uint64_t sequence;
    uint64_t *late; /* `after` of the records that came after later events: counted in a pass of its own */
    size_t late_count, late_capacity;
    /* While the file is written. */
    const struct defs *defs;
    int32_t world; /* communicator that lines need not name; EVENT_UNKNOWN: none */
    struct xml_line line, held, names;
    struct xml_span *states; /* ` data="..."` of each state, in names */
    struct xml_span *marks;  /* of each mark */
    uint32_t *calls;         /* of each state, in this process: MPE-1 counts them in the events' values */
    struct xml_line prefix;  /* ` process="..." timestamp="` */
    bool in_process;
    uint32_t process;
    struct xml_stacks stacks;
    enum xml_run run;
    struct event first;
    size_t held_count;
};

/* The row of formats.def. */
extern const struct writer_format writer_format_xml;

/* write_xml.c */
void xml_put_attribute_i64(struct xml_line *line, const char *name, int64_t value);
void xml_put_attribute_text(struct xml_line *line, const char *name, const char *text); /* NULL: not written */
void xml_put_comm(struct xml_writer *xml, const char *name, int32_t comm);
void xml_end_line(struct xml_writer *xml);

/* write_xml_defs.c */
void xml_write_communicators(struct xml_writer *xml);
void xml_write_record(struct xml_writer *xml, const struct event *event, const unsigned char *arena,
                      int64_t after); /* membership, shift, neighbours */
/* The definitions of a kind up to `index` that have no line yet: their order is that of their indices. */
void xml_write_definitions(struct xml_writer *xml, enum definition_kind kind, size_t index);

/* Facts about the run. */
void xml_write_properties(struct xml_writer *xml);

/* Locations, I/O handles and call paths, which name states and places. */
void xml_write_places(struct xml_writer *xml);

/* write_xml_events.c */
void xml_events_prepare(struct xml_writer *xml);
void xml_write_event(struct xml_writer *xml, const struct event *event, const unsigned char *arena);
void xml_events_end(struct xml_writer *xml);

#endif
