/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_RESOURCES_H
#define SIGHT_RECORD_RESOURCES_H

#include "record/location.h"

/* What a thread got of the machine: its CPU time, how long it waited for a core, switches, page faults, memory. Read
   when MPI is initialised and finalised, and where the clock is read again (location_prepare): a few times a second at
   most, never per call. */

/* Whether resources are recorded at all; before the first location is opened. */
void resources_choose(bool wanted);

/* The first reading of a process also records its cores. In MPI or with the location busy. */
void resources_machine(struct location *location);
void resources_put(struct location *location);

#endif
