/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_RECORD_RECORDING_LINKS_H
#define SIGHT_CONVERT_RECORD_RECORDING_LINKS_H

#include "convert/record/recordings.h"

/* Which programs belong together. No process knows the other program, but both sides of an inter-communicator have
   recorded when they made it and how many members it has: calls that overlap in time, one from each side, with sizes
   that mirror each other, made the same one. */

/* Fills `links` and the clocks of programs that are joined to another. Programs have been found, files are in order. */
void recording_links_find(struct recordings *recordings);

#endif
