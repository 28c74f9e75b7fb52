/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_CLOG2_MPE2_STATE_H
#define SIGHT_CONVERT_CLOG2_MPE2_STATE_H

#include <stddef.h>
#include <stdint.h>

/* The states and single events that MPE-2 has built in. A trace defines them only if the run reached MPI_Finalize;
   otherwise these rows do. Source: the project's notes on MPE-2, mpe2_known_states.tsv. Everything here is constant:
   nothing is allocated or to be freed. */

struct mpe2_state {
    int32_t id;         /* the state starts with event 2 * id and ends with event 2 * id + 1 */
    const char *name;   /* MPI_Send */
    const char *colour; /* an X11 colour name */
    const char *format; /* of the state's payload as MPE-2 describes it, "" if none */
};

struct mpe2_solo {
    int32_t event;
    const char *name;
    const char *colour;
};

/* The state that the event starts (even) or ends (odd), NULL if none: any event may be asked for. MPE-2 uses some ids
   for several functions; the first row represents them. */
const struct mpe2_state *mpe2_state_of_event(int32_t event);

/* The first row of the name, NULL if none. */
const struct mpe2_state *mpe2_state_find(const char *name);

/* The table itself, sorted by id; index is below the count. */
size_t mpe2_state_count(void);
const struct mpe2_state *mpe2_state_at(size_t index);

/* The built-in single event of the id (negative), NULL if none. */
const struct mpe2_solo *mpe2_solo_of_event(int32_t event);

#endif
