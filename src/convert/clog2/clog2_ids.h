/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_CLOG2_CLOG2_IDS_H
#define SIGHT_CONVERT_CLOG2_CLOG2_IDS_H

#include "convert/clog2/clog2_format.h"
#include "convert/writer.h"

/* Event and state ids for writing CLOG-2: those of a CLOG-2 source are kept, MPI functions get MPE's built-in ones,
   everything else gets ids of user states and events. */
struct clog2_state_ids {
    int32_t id, start, end;
};
struct clog2_ids {
    struct clog2_state_ids *states;               /* by index of state */
    int32_t *marks;                               /* by index of mark */
    int32_t *sites;                               /* by index of site */
    struct map taken;                             /* internal: event ids in use */
    int32_t solo_start;                           /* first id of user solo events */
    int32_t user_states, user_solos, known_solos; /* counts that the preamble declares */
};
void clog2_ids_give(struct clog2_ids *ids, const struct defs *defs);
void clog2_ids_clear(struct clog2_ids *ids);

/* UTF-8 text into a field of the file: Latin-1, other letters as ?, cut to size - 1 characters; the writer counts both
   as losses. */
void clog2_put_text(struct writer *writer, unsigned char *at, size_t size, const char *text);

#endif
