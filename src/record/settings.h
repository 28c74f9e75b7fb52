/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_SETTINGS_H
#define SIGHT_RECORD_SETTINGS_H

#include "record/clock.h"
#include "record/location.h"

/* The settings in the environment, from `sight record` or a user:
     SIGHT_RECORD_DIR         directory of the buffer files; without it nothing is recorded
     SIGHT_RECORD_BUFFER      bytes of the block that is mapped at a time (with k, M)
     SIGHT_RECORD_MAX_EVENTS  records per thread
     SIGHT_RECORD_KEEP        bytes of the whole recording (with k, M, G), which keeps totals and a sample only
     SIGHT_RECORD_CLOCK       auto (default), tsc, monotonic
     SIGHT_RECORD_SOURCE      0: calls are recorded without their place in the program
     SIGHT_RECORD_SAMPLES     samples per second of CPU time of each thread (default 100); 0: none
     SIGHT_RECORD_RESOURCES   0: CPU time, switches, page faults and memory are not recorded
     SIGHT_RECORD_COUNTERS    names of counters (record/perf.h), separated by commas, to be recorded with these
     SIGHT_RECORD_METADATA    0: command, date, directory, MPI and host are not recorded
     SIGHT_RECORD_ONLY, SIGHT_RECORD_SKIP  functions, separated by commas; * matches anything */

/* The value of one of these variables, as the program began if it is gone since; NULL: not set. The recorder's or the
   environment's. */
const char *settings_text(const char *name);

/* False if recording is not requested. */
bool settings_read(struct location_settings *settings);

/* The requested clock. */
enum clock_choice settings_clock(void);

/* True if calls are to be recorded with their place in the program. */
bool settings_want_sites(void);

/* Whether CPU time, switches, page faults and memory are to be recorded. */
bool settings_want_resources(void);

/* Whether facts about the run are to be recorded (record/metadata.h). */
bool settings_want_metadata(void);

/* Samples per second of CPU time. */
uint32_t settings_samples(void);

/* 1 in skip[] for each function (in the order of the table) that is not to be recorded. */
void settings_skip(uint8_t *skip);

#endif
