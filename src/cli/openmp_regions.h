/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_OPENMP_REGIONS_H
#define SIGHT_CLI_OPENMP_REGIONS_H

#include "core/error.h"

#include <stdbool.h>
#include <stdint.h>

/* OpenMP's parallel regions of a program without MPI, as record/openmp.c finds them. */

/* From now on programs that are started write their regions to the file; NULL: no more. Nothing happens where sight was
   installed without the library for it. */
void openmp_record(const char *path);

/* Makes a metrics file of what was written: one process that runs for so long, a state FILE:LINE for each region, and
   what the mean thread waits at their ends. False where the program has no region; true with the file written, or a
   fault. The file with the regions is removed. */
bool openmp_take(const char *path, const char *metrics, int64_t ran_ns, enum status *status, struct error *err);

#endif
