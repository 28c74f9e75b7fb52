/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_STUCK_LEFT_OVER_H
#define SIGHT_STUCK_LEFT_OVER_H

#include "graph/graph.h"

/* What a run that came to its end leaves undone: messages that are never received, and collectives that not all members
   enter. MPI does not allow that (MPI-4.0, 11.2.2); such a run ends because MPI buffered the data.

   Only what is certain is reported: of recordings of all functions (property_records_all), whose processes all
   finalised. Nothing is claimed of messages to processes that freed requests or left receives open, of collectives of
   processes with several threads that call MPI, and of messages where some lack their sender. */

struct left_over {
    size_t messages;    /* never received */
    size_t collectives; /* that lack a member */
    char *text;         /* sentences; NULL if there is nothing */
};

/* Linear in messages and collectives; if something is left, also in calls. Free with left_over_free. */
struct left_over *left_over_of(const struct graph *graph);
void left_over_free(struct left_over *left); /* NULL: nothing */

#endif
