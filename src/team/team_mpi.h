/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TEAM_TEAM_MPI_H
#define SIGHT_TEAM_TEAM_MPI_H

#include <stddef.h>
#include <stdint.h>

/* What a plug-in of team.h offers, as the symbol TEAM_MPI_SYMBOL. Faults of MPI do not return. */
struct team_mpi {
    void (*join)(int *rank, int *size);
    void (*tell)(uint64_t own, uint64_t *all); /* by rank: the number that it has called this with; all call it */
    void (*send)(int to, const void *data, size_t size);
    size_t (*wait)(int from); /* until a message of `from` is there; its size */
    void (*receive)(int from, void *data, size_t size);
    void (*leave)(void);
};

#define TEAM_MPI_SYMBOL "sight_team_mpi"

#endif
