/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_METRICS_FIELDS_H
#define SIGHT_RENDER_REPORTS_METRICS_FIELDS_H

#include "render/field.h"

/* The tables of metrics, which text, JSON, CSV and metrics files share: the fields of each kind of row. The context of
   all is the metrics. */
extern const struct field fields_of_trace[7];         /* the trace (a row is struct metrics) */
extern const struct field fields_of_process[12];      /* a process (struct process_row) */
extern const struct field fields_of_function[10];     /* a function or state (struct function_row) */
extern const struct field fields_of_open_function[7]; /* a function, in text where calls never returned */
extern const struct field fields_of_sent[3];          /* a partner (struct partner_row) of messages sent */
extern const struct field fields_of_received[3];      /* a partner of messages received */
extern const struct field fields_of_mark[2];          /* an event (struct mark_row) */
extern const struct field fields_of_thread[12];       /* a thread (struct thread_row) */
extern const struct field fields_of_communicator[5];  /* messages (struct message_row) on a communicator */
extern const struct field fields_of_tag[6];           /* messages with a tag */
extern const struct field fields_of_size[6];          /* messages of a class of sizes */

/* A getter of a field: `context` is the metrics, `row` the row. */
#define GETTER(name, row_type, expression)                                                                             \
    static struct value name(const void *context, const void *row_pointer)                                             \
    {                                                                                                                  \
        const struct metrics *metrics = context;                                                                       \
        const row_type *row = row_pointer;                                                                             \
        (void)metrics;                                                                                                 \
        (void)row;                                                                                                     \
        return expression;                                                                                             \
    }

#endif
