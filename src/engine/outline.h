/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_ENGINE_OUTLINE_H
#define SIGHT_ENGINE_OUTLINE_H

#include "metrics/packing.h"

/* For the engine: what a process needs of the files of other hosts in order to open a scattered directory
   (gathering.h) and read its own files there: all of the small ones, and those bytes of the others that rank 0 read
   when it opened the directory. */

/* Rank 0: as much of it as the rank has not got. */
void outline_pack(struct packing *packing, const char *directory, int rank);

/* The others: makes the directory scattered, with copies. False: they cannot be made. */
bool outline_take(struct unpacking *unpacking, const char *directory);

#endif
