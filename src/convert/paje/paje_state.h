/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_PAJE_STATE_H
#define SIGHT_CONVERT_PAJE_STATE_H

#include "convert/paje/paje_known.h"
#include "convert/paje/paje_links.h"
#include "convert/paje/paje_record.h"
#include "convert/reader.h"
#include "convert/text_lines.h"

/* What the two passes over a trace share. The first finds the definitions, which containers are processes, and the two
   ends of each link; the second gives the events, in the order of the file. */

enum {
    PAJE_LINE_MOST = 1 << 24,
    PAJE_CONTAINERS_MOST = 1 << 22,
    PAJE_NAMES_MOST = 1 << 16 /* definitions of states, and of marks; what comes after has its type's name */
};

struct paje_type {
    uint8_t kind;            /* enum paje_kind: of the definition */
    uint32_t parent, symbol; /* symbol: of the name */
    uint32_t mark;           /* of variables: index of the definition; of events: of those beyond PAJE_NAMES_MOST */
    uint32_t state;          /* the same of states */
    bool fraction;           /* of variables: a value is no whole number */
    bool counts;             /* of containers: they are processes or threads if anything happens in them */
    uint64_t byte;           /* where it is defined */
};

/* The value of a state or an event: what its events have for a name. */
struct paje_value {
    uint32_t symbol; /* of the name */
    uint32_t alias;
    uint32_t index; /* of the state's or the mark's definition; PAJE_NONE: it does not occur */
    uint64_t byte;
};

/* The states of one type on one container: a stack of their own. */
struct paje_lane {
    uint32_t container, type, thread;
    uint32_t next;  /* of the same container; PAJE_NONE */
    uint32_t *open; /* states */
    size_t count, capacity;
};

/* What a container has; the bits of paje_container.has. */
enum { PAJE_HAS_STATES = 1, PAJE_HAS_EVENTS = 2, PAJE_HAS_LINKS = 4, PAJE_HAS_VARIABLES = 8 };

struct paje_container {
    uint32_t parent, type, symbol, alias; /* symbol: of the name */
    uint32_t lane_type, lane;             /* its first lane; others are in state->lanes_of */
    uint32_t process, thread;             /* process PAJE_NONE: it is none, nor a thread of one */
    uint8_t has;
    bool destroyed;
};

/* The container that the line at `byte` creates. */
struct paje_creation {
    uint64_t byte;
    uint32_t container;
};

struct paje_state {
    struct paje_schema schema;
    struct paje_symbols symbols;
    struct paje_record record;
    struct paje_known_lines known_lines;
    const struct paje_known *known; /* of the record; NULL: its words must be looked up */
    struct paje_type *type;
    size_t type_count, type_capacity;
    struct paje_value *value;
    size_t value_count, value_capacity;
    struct map values; /* (type, symbol) -> value */
    struct map names;  /* symbol of a name -> state */
    struct paje_container *container;
    size_t container_count, container_capacity;
    struct map children; /* (parent, symbol) -> container */
    struct paje_lane *lane;
    size_t lane_count, lane_capacity;
    struct map lanes; /* (container, type) -> lane, but for containers' first ones */
    struct paje_links links;
    bool inside_line; /* what comes is the rest of a line that is too long */
    bool counting;    /* the first pass */
    bool simgrid;     /* or SIGHT, which writes in the same way: keys of links say the tag, and all containers end */
    uint64_t byte;    /* of the line at hand: what is defined after it is not there yet */
    struct paje_creation *created; /* in the order of the file */
    size_t created_count, created_capacity;

    /* the second pass */
    size_t create_at;    /* next of `created` */
    struct map totals;   /* (container, type) -> value of a variable, as the bits of a double */
    struct event *queue; /* what the batch had no room for */
    size_t queue_count, queue_capacity, queue_at;
    uint64_t records, kinds[PAJE_OTHER + 1], stray, homeless;
};

/* The type that a word names: an alias, or a name. PAJE_NONE: there is none. */
uint32_t paje_type_find(const struct paje_state *state, struct paje_word word);

/* Takes the record, which defines a type or a value. NULL, or what is wrong. */
const char *paje_define_type(struct paje_state *state);
const char *paje_define_value(struct paje_state *state);

/* Index of the definition that stands for a value of a type of states, of events, or of a type of variables; made where
   it is not there, in the first pass. PAJE_NONE: it has not been. */
uint32_t paje_state_of(struct paje_state *state, struct defs *defs, uint32_t type, struct paje_word value);
uint32_t paje_mark_of(struct paje_state *state, struct defs *defs, uint32_t type, struct paje_word value);
uint32_t paje_counter_of(struct paje_state *state, struct defs *defs, uint32_t type);

/* The container that a word names; PAJE_NONE: there is none. */
uint32_t paje_container_find(const struct paje_state *state, struct paje_word word);

/* Takes the record, which creates a container. NULL, or what is wrong. */
const char *paje_create(struct paje_state *state);

/* Takes the record, which destroys a container: that one; PAJE_NONE: it is not there. */
uint32_t paje_destroy(struct paje_state *state);

/* The states of a type on a container, made where they are not there. */
struct paje_lane *paje_lane(struct paje_state *state, uint32_t container, uint32_t type);

/* After the first pass: which containers are processes, and threads of which; defines them as locations. */
void paje_places(struct paje_state *state, struct defs *defs);

/* Forgets which containers are there, for the second pass. The root is. */
void paje_containers_begin(struct paje_state *state);
void paje_containers_clear(struct paje_state *state);
void paje_types_clear(struct paje_state *state);

/* Where an event that is not one of definitions or containers happens, and what kind of thing it is. NULL, or what is
   wrong: its type or its container is not there, or the type is of another kind. */
struct paje_place {
    uint32_t container, type;
    uint8_t what; /* PAJE_HAS_… */
};
const char *paje_place(const struct paje_state *state, struct paje_place *place);

/* Takes the record of a line: its events go to the batch, or to the queue. *wrong is what is wrong with it,
   or NULL. */
enum status paje_emit(struct reader *reader, struct batch *batch, const char **wrong, struct error *err) MUST_CHECK;

/* Moves events from the queue to the batch. */
void paje_drain(struct paje_state *state, struct batch *batch);

static inline const char *paje_text(const struct paje_state *state, uint32_t symbol)
{
    return state->symbols.symbol[symbol].text;
}

#endif
