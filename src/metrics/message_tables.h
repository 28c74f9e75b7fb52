/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_METRICS_MESSAGE_TABLES_H
#define SIGHT_METRICS_MESSAGE_TABLES_H

#include "core/defs.h"
#include "core/event.h"
#include "core/map.h"
#include "core/sorter.h"
#include "metrics/metrics.h"

/* Message counts by partner, communicator, tag and size. Exact for any number of tags in bounded memory: when there are
   too many, their sums go to a sorter and are added up at the end. */

struct partner_cell {
    uint32_t process;
    int32_t partner;
    uint64_t messages[2], bytes[2]; /* sent, received */
};

enum { SIZE_CLASSES = 65 };

struct message_tables {
    struct map pairs; /* (process, partner) -> index of cell */
    struct partner_cell *cells;
    size_t cell_count, cell_capacity;
    struct message_row *communicators; /* by index of comm + 1; 0: not known */
    size_t communicator_count, communicator_capacity;
    struct map tag_index; /* tag -> index of tags */
    struct message_row *tags;
    size_t tag_count, tag_capacity;
    size_t last_tag;             /* the last one used: most messages follow a similar one */
    struct sorter *spilled_tags; /* NULL while memory is enough */
    struct message_row sizes[SIZE_CLASSES];
};

/* Adds a send or receive. `hint` belongs to the process: where its last message was counted. */
void message_tables_add(struct message_tables *tables, const struct event *event, uint32_t *hint);

/* Keeps memory bounded: call once for each batch. */
enum status message_tables_bound(struct message_tables *tables, struct error *err) MUST_CHECK;

/* Adds all of `from` (unchanged, except that its spilled tags are read). */
enum status message_tables_merge(struct message_tables *tables, struct message_tables *from,
                                 struct error *err) MUST_CHECK;

/* Fills the tables of messages of the metrics. */
enum status message_tables_result(struct message_tables *tables, const struct defs *defs, struct metrics *metrics,
                                  struct error *err) MUST_CHECK;

void message_tables_clear(struct message_tables *tables);

#endif
