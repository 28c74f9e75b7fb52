/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_PARAVER_RECORD_H
#define SIGHT_CONVERT_PARAVER_RECORD_H

#include "convert/paraver/paraver_header.h"

/* One line of a .prv as numbers. Times are ns, processes and threads count from 0. */

enum paraver_kind { PARAVER_STATE = 1, PARAVER_EVENT = 2, PARAVER_COMMUNICATION = 3 };

struct paraver_place {
    uint32_t process, thread;
};

struct paraver_pair {
    uint64_t type, value;
};

struct paraver_record {
    enum paraver_kind kind;
    struct paraver_place at;
    int64_t time_ns;            /* of an event; the begin of a state; the physical send of a communication */
    int64_t end_ns;             /* of a state */
    uint64_t state;             /* of a state */
    struct paraver_pair *pairs; /* of an event */
    size_t pair_count, pair_capacity;
    struct paraver_place to;      /* of a communication, as the rest */
    int64_t sent_ns, received_ns; /* logical send, physical receive; received_ns 0: not recorded */
    uint64_t bytes, tag;
};

/* NULL, or what is wrong. `record` is used again for the next line. */
const char *paraver_record_parse(struct paraver_record *record, const struct paraver_header *header, const char *at,
                                 const char *end);
/* Takes the kind and the place alone: `at` of the record. */
const char *paraver_record_place(struct paraver_record *record, const struct paraver_header *header, const char *at,
                                 const char *end);
/* The value of a type in an event; 0: it has none, or none that a label can have. */
uint64_t paraver_record_value(const struct paraver_record *record, uint64_t type);
void paraver_record_clear(struct paraver_record *record);

#endif
