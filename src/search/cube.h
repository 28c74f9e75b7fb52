/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_SEARCH_CUBE_H
#define SIGHT_SEARCH_CUBE_H

#include "phases/phases.h"
#include "search/cube_meter.h"
#include "search/expression.h"
#include "search/solo.h"
#include "search/state_track.h"

/* Metrics of parts of a run. A part, a focus, is narrowed along axes: processes, functions, call sites, communicators,
   tags, the program's own states, phases, iterations. Only requested sums are computed, in one pass over the calls for
   all foci of a request: memory is a cell (0.5 kB) for each focus and each value of the axes that divide it, at most
   CUBE_CELLS per axis; all processes are kept.

   A call belongs to the phase, iteration and state in which it is entered, and to the communicator and tag of its first
   message if it has several; computing belongs to the call after it, and to the phases, iterations and states that it
   spans, cut at their borders. Functions, sites, communicators, tags and states do not narrow `time`, `duration`,
   `processes` and `run`. */

enum { CUBE_CELLS = 4096, CUBE_ITERATIONS = 1000, CUBE_ANY = UINT32_MAX };

struct cube_cell {
    uint32_t key; /* value of the axis */
    bool touched; /* by the current location */
    uint64_t locations;
    int64_t begin_ns, end_ns;    /* of the first and last of the locations; of a phase, on these */
    int64_t all_compute_ns;      /* of all processes, including those outside the focus */
    int64_t location_compute_ns; /* of the current location */
    int64_t most_compute_ns;     /* of a location */
    int64_t sums[METRIC_COUNT];  /* ns, counts, bytes */
    int64_t
        doubt_ns[WAIT_KIND_COUNT];   /* time of calls for which the trace does not show whether they wait in this way */
    int64_t doubt_size_ns;           /* of calls with messages of unknown size */
    int64_t doubt_messages;          /* messages of unknown size */
    struct counter_amount *counters; /* by slot of the meter; NULL: nothing; the focus's */
};

struct cube_table {
    struct cube_cell *cells; /* in the order of their keys */
    size_t count, capacity;
    uint32_t *places; /* by key: 1 + cell; internal */
    size_t domain;
    uint32_t *touched; /* cells; internal */
    size_t touched_count, touched_capacity;
    bool overflow; /* there are more values than cells */
};

struct cube_focus {
    uint32_t key[SEARCH_AXIS_COUNT]; /* CUBE_ANY: not narrowed. Not of processes and iterations: see below */
    const uint32_t *iterations;      /* ascending, borrowed; NULL: not narrowed */
    size_t iteration_count;
    const bool *functions; /* by state (the first of its name): calls of these, borrowed; NULL: not narrowed */
    const uint32_t *rows;  /* processes, ascending, borrowed; NULL: all */
    size_t row_count;
    bool wanted[SEARCH_AXIS_COUNT]; /* axes that divide it */
    bool uses[METRIC_COUNT];        /* requested metrics; others may be 0 */
    /* Filled by cube_ask; free with cube_focus_clear. */
    struct cube_cell total;
    struct cube_table table[SEARCH_AXIS_COUNT];
    int64_t *location_compute_ns; /* by location, of the total; internal */
    bool *member, *in_iteration;  /* by row, by iteration; NULL: all; internal */
};

/* Where a run is cut: begins of parts by process, count + 1 each, the last the end; INT64_MIN: a process has none. */
struct cube_cuts {
    size_t count;
    const int64_t *borders;
};

struct cube {
    const struct graph *graph;
    const struct state_location **state_locations; /* by location; NULL: none of its own */
    struct cube_cuts phases, iterations;
    size_t block;         /* so many iterations of the run are combined into one, if there are very many */
    int64_t *own_borders; /* of these; NULL: they are the phases' */
    uint32_t *rows;       /* by location */
    uint32_t *ranks;      /* by row */
    size_t row_count;
    int32_t *tags; /* by number, ascending */
    size_t tag_count;
    uint32_t *channel_tags; /* by channel: its tag's number */
    struct solo solo;
    int64_t begin_ns, end_ns, run_ns; /* run: time of all locations */
    const struct cube_meter *meter;   /* counters that are added up; NULL: none; borrowed */
    bool starting;                    /* calls that start and end MPI count */
    struct cube_span {
        int64_t begin_ns, end_ns;
    } * spans; /* by location: the part of its time that counts */
};

/* Everything but graph, states and phases (which may be NULL) follows from them. `solo`: METRIC_alone and METRIC_serial
   will be requested. `starting`: starting and ending MPI counts as well; else the run begins when the first location
   has left MPI_Init, and ends when the last enters MPI_Finalize, and these calls are excluded. Free with cube_free; its
   inputs are borrowed. */
struct cube *cube_new(const struct graph *graph, const struct state_track *states, const struct phases *phases,
                      bool solo, bool starting);
void cube_free(struct cube *cube);

/* A focus that is not narrowed, and divided by nothing. */
struct cube_focus cube_focus_whole(void);

/* In up to so many threads, with the same result; each has tables of its own. */
void cube_ask(const struct cube *cube, struct cube_focus *foci, size_t count, unsigned threads);
void cube_focus_clear(struct cube_focus *focus);

/* Adds another cell of the table of this axis. Imbalances of phases and iterations add up;
   of processes the longest computing counts. */
void cube_cell_add(enum search_axis axis, struct cube_cell *sum, const struct cube_cell *cell);

/* Metrics of a cell of the focus that was divided by this axis (AXIS_WHY: of its total), as numbers. `doubts`: the
   metrics with unknown parts added; NULL: not needed. True if they differ. */
bool cube_values(const struct cube *cube, const struct cube_focus *focus, enum search_axis axis,
                 const struct cube_cell *cell, double values[METRIC_COUNT], double doubts[METRIC_COUNT]);

#endif
