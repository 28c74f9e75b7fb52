/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_PARAVER_STATE_H
#define SIGHT_CONVERT_PARAVER_STATE_H

#include "convert/paraver/paraver_labelled.h"
#include "convert/paraver/paraver_names.h"
#include "convert/paraver/paraver_places.h"
#include "convert/paraver/paraver_record.h"
#include "convert/reader.h"
#include "convert/text_lines.h"
#include "core/sorter.h"

/* The state of the two passes over a .prv. The first finds the definitions and puts events that are not in order of
   time into a sorter: both ends of communications, which are recorded at their physical send, and both ends of states.
   The second reads the events and merges. */

enum { PARAVER_LINE_MOST = 1 << 24 };

struct paraver_sorted {
    struct event event; /* of a state record: `state` is its number */
    bool is_state;
};

struct paraver_open {
    uint64_t type;
    uint32_t state;
    int64_t time_ns;
    bool sent, received; /* a message in it */
};

struct paraver_stack {
    struct paraver_open *open;
    size_t count, capacity;
};

struct paraver_state {
    struct paraver_header header;
    struct paraver_labels labels;
    struct paraver_names names;
    struct paraver_labelled labelled;
    struct paraver_places places;
    struct paraver_record record;
    struct sorter *sorted;
    bool has_mpi;     /* then state records say nothing new */
    int64_t unended;  /* first pass: begins of MPI's calls, less their ends */
    bool replaces;    /* a value of a type of MPI's ends the one before of it: many calls have no end of their own */
    bool apart;       /* callers stand on records of their own, at the time of the call and after it */
    bool inside_line; /* the input is inside a line that is too long */

    /* the second pass */
    bool has_record;   /* the record waits until the sorter has nothing before it */
    struct map stacks; /* (process, thread) -> index */
    struct paraver_stack *stack;
    size_t stack_count, stack_capacity;
    bool has_head, sorted_ended;
    struct paraver_sorted head; /* the next of the sorter */
    struct event *due;          /* of the sorter, at the time of the events that are read */
    size_t due_count, due_capacity;
    int64_t due_ns;
    struct event *queue; /* events that did not fit into the batch, or are held */
    size_t queue_count, queue_capacity, queue_at;
    bool holds, held; /* what is pushed is to be held; the queue is, until a record of a later time than this */
    int64_t held_ns;
    uint64_t records[PARAVER_COMMUNICATION + 1], communicators; /* records: by kind */
    size_t made_comm; /* the communicator whose members are the next to be stated, and the rank in it */
    int32_t made_rank;
};

/* The next complete line. An incomplete one is damage. */
enum status paraver_line(struct reader *reader, struct text_line *line, struct error *err) MUST_CHECK;

/* Hands all events of the record, whose kind is PARAVER_EVENT, to the batch and the queue, and before them those of the
   sorter that come first; has_record afterwards: the batch is full, call again. */
enum status paraver_emit_record(struct reader *reader, struct batch *batch, struct error *err) MUST_CHECK;

/* Moves events from the queue to the batch, unless they are held. */
void paraver_drain(struct paraver_state *state, struct batch *batch);
/* The same where they are, before the record at hand, or at the end of the file. False: the batch is full. */
bool paraver_release(struct paraver_state *state, struct batch *batch, bool at_end);

/* One event of the sorter after the last line. STATUS_END: there is none. */
enum status paraver_emit_rest(struct reader *reader, struct batch *batch, struct error *err) MUST_CHECK;

/* A pair that enters or leaves a function. */
static inline bool paraver_pair_is_state(const struct paraver_pair *pair)
{
    return paraver_type_is_state(pair->type) && pair->value < UINT32_MAX;
}

/* A pair that says what the collective that its record enters moves. */
static inline bool paraver_pair_is_moved(const struct paraver_pair *pair)
{
    return pair->type >= PARAVER_BYTES_SENT && pair->type <= PARAVER_COMM;
}

/* A pair that belongs to what its record says, and is neither a function nor a counter. */
static inline bool paraver_pair_is_detail(const struct paraver_pair *pair)
{
    return paraver_pair_is_moved(pair) || paraver_type_is_place(pair->type) || paraver_type_is_line(pair->type);
}

/* The number by which definitions know a communicator of an application; the first application's keep theirs. */
static inline bool paraver_comm_id(uint64_t application, uint64_t number, int32_t *id)
{
    if (application == 0 || application > 1000 || number > 1000000)
        return false;
    *id = (int32_t)((application - 1) * 1000001 + number);
    return true;
}

#endif
