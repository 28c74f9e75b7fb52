/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_ENGINE_GATHERING_H
#define SIGHT_ENGINE_GATHERING_H

#include "team/team.h"

/* For the engine: directories whose files are on several hosts, as where each host of a run has recorded to a disk of
   its own. Rank 0 gets a copy of every file that it has not got, in pieces, once from whoever has it
   (core/directory.h). What all processes see in the same way stays as it is. */

/* The other processes: which files of a directory they have, and a piece of one. `data`: the message of a JOB_LIST, of
   a JOB_PIECE. */
void gathering_list(struct team *team, const char *data);
void gathering_piece(struct team *team, const char *data);

#endif
