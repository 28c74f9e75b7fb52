/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_PAJE_RECORD_H
#define SIGHT_CONVERT_PAJE_RECORD_H

#include "convert/paje/paje_symbols.h"

#include <stdbool.h>

/* The lines of a trace: definitions of events (%EventDef … %EndEventDef), and the events, whose fields stand in the
   order that these define. */

/* X(name, as the trace spells it, fields without which it says nothing) */
#define PAJE_KINDS(X)                                                                                                  \
    X(CONTAINER_TYPE, "PajeDefineContainerType", NEEDS(TYPE))                                                          \
    X(STATE_TYPE, "PajeDefineStateType", NEEDS(TYPE))                                                                  \
    X(EVENT_TYPE, "PajeDefineEventType", NEEDS(TYPE))                                                                  \
    X(VARIABLE_TYPE, "PajeDefineVariableType", NEEDS(TYPE))                                                            \
    X(LINK_TYPE, "PajeDefineLinkType", NEEDS(TYPE))                                                                    \
    X(VALUE, "PajeDefineEntityValue", NEEDS(TYPE))                                                                     \
    X(CREATE, "PajeCreateContainer", NEEDS(TIME) | NEEDS(TYPE) | NEEDS(CONTAINER))                                     \
    X(DESTROY, "PajeDestroyContainer", NEEDS(TIME))                                                                    \
    X(SET_STATE, "PajeSetState", NEEDS(TIME) | NEEDS(TYPE) | NEEDS(CONTAINER) | NEEDS(VALUE))                          \
    X(PUSH_STATE, "PajePushState", NEEDS(TIME) | NEEDS(TYPE) | NEEDS(CONTAINER) | NEEDS(VALUE))                        \
    X(POP_STATE, "PajePopState", NEEDS(TIME) | NEEDS(TYPE) | NEEDS(CONTAINER))                                         \
    X(RESET_STATE, "PajeResetState", NEEDS(TIME) | NEEDS(TYPE) | NEEDS(CONTAINER))                                     \
    X(START_LINK, "PajeStartLink", NEEDS(TIME) | NEEDS(TYPE) | NEEDS(END) | NEEDS(KEY))                                \
    X(END_LINK, "PajeEndLink", NEEDS(TIME) | NEEDS(TYPE) | NEEDS(END) | NEEDS(KEY))                                    \
    X(SET_VARIABLE, "PajeSetVariable", NEEDS(TIME) | NEEDS(TYPE) | NEEDS(CONTAINER) | NEEDS(VALUE))                    \
    X(ADD_VARIABLE, "PajeAddVariable", NEEDS(TIME) | NEEDS(TYPE) | NEEDS(CONTAINER) | NEEDS(VALUE))                    \
    X(SUB_VARIABLE, "PajeSubVariable", NEEDS(TIME) | NEEDS(TYPE) | NEEDS(CONTAINER) | NEEDS(VALUE))                    \
    X(NEW_EVENT, "PajeNewEvent", NEEDS(TIME) | NEEDS(TYPE) | NEEDS(CONTAINER) | NEEDS(VALUE))                          \
    X(OTHER, "", 0)
enum paje_kind {
#define PAJE_KIND_MEMBER(name, spelling, needs) PAJE_##name,
    PAJE_KINDS(PAJE_KIND_MEMBER)
#undef PAJE_KIND_MEMBER
};

/* What a field is to its event. FIELD_END is the container at which a link starts or ends. */
enum paje_field {
    FIELD_NOTHING,
    FIELD_TIME,
    FIELD_ALIAS,
    FIELD_TYPE,
    FIELD_NAME,
    FIELD_CONTAINER,
    FIELD_VALUE,
    FIELD_END,
    FIELD_KEY,
    FIELD_SIZE,
    PAJE_FIELDS
};

enum { PAJE_FIELDS_MOST = 64, PAJE_EVENTS_MOST = 4096 };

struct paje_event_def {
    uint32_t id, needs; /* needs: bits of roles */
    uint8_t kind, field_count;
    uint8_t field[PAJE_FIELDS_MOST]; /* enum paje_field */
    uint8_t key_at; /* of a link: the field of its key, with all but its size before; 0: another order */
    uint64_t byte;
};

struct paje_schema {
    struct paje_event_def *event;
    size_t count, capacity;
    uint32_t *by_id; /* 1 + index for ids below PAJE_EVENTS_MOST */
    uint32_t passed; /* bits of kinds whose events say nothing now: their fields are not taken */
    bool inside;     /* between %EventDef and %EndEventDef */
    bool skipped;    /* what is inside has been defined before */
};

struct paje_record {
    const struct paje_event_def *def;
    uint32_t has;                       /* bits of roles */
    struct paje_word word[PAJE_FIELDS]; /* those that it has */
};

/* Takes a line that begins with '%'; `byte` is where it stands. NULL, or what is wrong. */
const char *paje_schema_line(struct paje_schema *schema, const char *at, const char *end, uint64_t byte);
void paje_schema_clear(struct paje_schema *schema);

/* Takes the number that a line of an event begins with. NULL, or what is wrong. *at is after it then. */
const char *paje_record_begin(struct paje_record *record, const struct paje_schema *schema, const char **at,
                              const char *end);
/* Takes the words of the line. NULL, or what is wrong. They are borrowed from the line. */
const char *paje_record_words(struct paje_record *record, const char *at, const char *end);

/* Takes the words of the fields from `first` on: `at` is where they begin. */
void paje_record_rest(struct paje_record *record, uint8_t first, const char *at, const char *end);

/* Seconds as ns, exactly. False: it is no number, or none that a time can be. */
bool paje_time(struct paje_word word, int64_t *time_ns);

/* A number as doubles are; false: it is none. */
bool paje_number(struct paje_word word, double *number);

/* The event's word of that role; one of length 0 if it has none. */
static inline struct paje_word paje_word_of(const struct paje_record *record, enum paje_field field)
{
    return record->has & 1u << field ? record->word[field] : (struct paje_word){"", 0};
}

/* Bytes of the link that the record starts; BYTES_UNKNOWN if it does not say. */
int64_t paje_link_bytes(const struct paje_record *record);

#endif
