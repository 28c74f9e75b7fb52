/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TEAM_TEAM_H
#define SIGHT_TEAM_TEAM_H

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Several processes of sight that an MPI launcher started (`mpiexec -n 4 sight metrics TRACE`). Rank 0 does what a
   single process would do, and hands out parts of it; the others wait for work. MPI itself is in a plug-in, one for
   each MPI, so that sight needs none: libsight-team-NAME.so, beside the recorders. Only the thread that joined may
   send and receive. A fault of MPI ends all processes. */

struct team;

/* The MPI whose launcher started this process beside others: "mpich", "openmpi"; NULL: none did. */
const char *team_launcher(void);

/* Joins the others, with the plug-in at `path`. Where a launcher has bound each to processors of its own, the first of
   a machine gets those of all that are there, as far as the system allows. NULL and a fault. */
struct team *team_join(const char *path, struct error *err);

/* All leave together. */
void team_leave(struct team *team); /* NULL: nothing */

int team_rank(const struct team *team);
int team_size(const struct team *team); /* 1 for NULL */

/* How many of them are on this machine, this one included. The first of a machine may use the processors of all that
   are there. */
int team_here(const struct team *team); /* 1 for NULL */

/* True for the lowest rank on its machine. */
bool team_leads(const struct team *team, int rank);

/* A message of any size. It returns when the data may be reused. */
void team_send(struct team *team, int to, const void *data, size_t size);

/* The next message of `from`, to be freed; waits without using the processor. */
void *team_receive(struct team *team, int from, size_t *size);

#endif
