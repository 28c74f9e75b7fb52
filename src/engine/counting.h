/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_ENGINE_COUNTING_H
#define SIGHT_ENGINE_COUNTING_H

#include "engine/engine.h"
#include "graph/match.h"
#include "metrics/census.h"

/* For the engine: the contents of a trace, counted by threads or by the processes of a team: of a CLOG-2 file, each
   counts a slice of the time; of formats in which no event depends on another process's, a process counts some of the
   trace's processes. The ends of messages go from those who read them to their owners, who match them
   (graph/match_ends.h). All numbers are those of one pass. */

/* What is counted: the first two are to be started and empty, and belong to the caller whatever is returned. */
struct counted {
    struct census census;
    struct match_counts messages;
    unsigned slices; /* below 2: nothing was read */
};

/* A part of the trace, while it is counted. */
struct counting_part {
    struct census census;
    struct match_ends *ends; /* by owner */
};
void counting_part_start(struct counting_part *part, unsigned owners);
void counting_part_clear(struct counting_part *part);

/* The trace that `reader` was just opened with, by as many threads as `counted` has slices (at least 2). The reader is
   at its end afterwards, and has counted all records. False: it must be read again, in one pass. */
enum { COUNTING_THREADS_MOST = 8 }; /* each has ends for each other one, in buffers of 1 MB and more */
bool counting_by_threads(const struct engine_request *request, struct reader *reader, struct counted *counted);

/* The same by processes of the request's team, one for each slice; where there are less than two, nothing was read. */
bool counting_by_processes(const struct engine_request *request, struct reader *reader, struct counted *counted);

/* The other processes: `data` is the message of a JOB_COUNT. */
void counting_do(struct team *team, const char *data);

#endif
