/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_OPENMP_H
#define SIGHT_CORE_OPENMP_H

#include "core/defs.h"

/* Which states are parts of OpenMP's parallel regions: by their paradigm and role, or, in formats without these, by
   the names that recordings and Score-P give them ("!$omp parallel @FILE:LINE", "!$omp implicit barrier @FILE:LINE").
 */
enum openmp_part {
    OPENMP_PART_NONE,
    OPENMP_PART_PARALLEL, /* a thread is part of a parallel region */
    OPENMP_PART_WAITING   /* it waits for other threads of the region, in a barrier */
};

/* The names in recordings are "omp FILE:LINE" and "omp wait FILE:LINE", without directories; without debug information,
   "omp 0xOFFSET" and "omp wait 0xOFFSET"; where the place is not known, "omp parallel" and "omp wait". */
#define OPENMP_PARALLEL "omp"
#define OPENMP_WAITING "omp wait"

enum openmp_part openmp_part_of(const struct state_def *state);

/* What the name of a region's state shares with that of waiting at its end: the last word, or "" without a place. */
const char *openmp_place(const struct state_def *state);

/* "FILE:LINE" for such a name: CLOG-2 holds 31 bytes of a name, and two regions must not become one, so that of a long
   file name the beginning is left out. */
enum { OPENMP_WHERE_SIZE = 32 - sizeof OPENMP_WAITING };
void openmp_where(char where[OPENMP_WHERE_SIZE], const char *file, int32_t line);

#endif
