/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_RECORDER_H
#define SIGHT_RECORD_RECORDER_H

#include "record/location.h"
#include "record/mpi_api.h"
#include "record/sites.h"

/* The recording of this process: between MPI_Init and MPI_Finalize, or as long as there are sessions, if the
   environment requests one. */

enum function {
#define MPI_FUNCTION(name, ...) FUNCTION_##name,
#include "core/mpi_function.def"
    FUNCTION_COUNT
};

struct recorder {
    bool *started;                /* see recorder_started */
    bool on;                      /* not switched off by MPI_Pcontrol or the MPE API */
    bool sites;                   /* calls are recorded with the place that they come from */
    bool threaded;                /* MPI_THREAD_MULTIPLE: tables shared by threads are locked */
    uint8_t skip[FUNCTION_COUNT]; /* 1: the function's calls are not recorded */
    int32_t rank, size;
    bool several_hosts;
};
extern struct recorder recorder;

/* MPI is initialised, with a place to write to. Not so in a child of a fork, however it was made: the kernel gives it
   an empty page where this is noted. */
static inline bool recorder_started(void)
{
    return *recorder.started;
}

/* The location of this thread; NULL until its first call. */
extern __thread struct location *location_mine __attribute__((tls_model("initial-exec")));

/* A file of this process in the directory of the recording. False: its name would be too long. */
bool recorder_path(char *path, size_t size, const char *suffix);

/* Opens the location of this thread. On failure NULL, and errno the first time: nothing of it is recorded. */
struct location *recorder_attach(void);

/* After MPI_Init or MPI_Session_init: finds this process's rank and starts recording, unless it has already started.
   `begin_ticks`: when the function was entered, `caller`: from where. */
void recorder_start(enum function function, const void *caller, int64_t begin_ticks, bool threaded);

/* Records the entry of a call; `caller` and `stack` as in site_of(). */
static inline void recorder_enter(struct location *location, enum function function, const void *caller,
                                  const uintptr_t *stack, uint32_t comm, int64_t ticks)
{
    struct site *site = recorder.sites && caller ? site_of(location, caller, stack, function, comm, ticks) : NULL;
    struct tally *tally = &location->tally;
    tally->function = function;
    if (__builtin_expect(site != NULL, 1)) {
        location_put_enter(location, ticks, function, comm, site->number);
        /* Counted when it is there: a block that begins meanwhile counts what is before it. */
        site->calls++;
        tally->site = site->number;
        if (__builtin_expect(comm >= RECORD_SHORT_COMMS, 0))
            tally_count(tally, RECORD_ENTER, comm, (int32_t)function, 1);
        return;
    }
    location_note_used(location, function);
    location_put(location, RECORD_ENTER, ticks, function, comm);
    tally->site = 0;
    tally_count(tally, RECORD_ENTER, comm, (int32_t)function, 0);
}

/* Before and after the last PMPI_Finalize or PMPI_Session_finalize. */
void recorder_finish(void);
void recorder_close(void);

/* No thread is sampled any more. */
void recorder_stop_samples(void);

/* Finds out whether there are several hosts, and measures their clocks if so; `all` is a communicator of all processes,
   which must all call it. recorder_sync: measures if several are known. */
void recorder_look_at_hosts(MPI_Comm all);
void recorder_sync(MPI_Comm all);

/* MPI_Pcontrol, and the MPE API's start and stop. */
void recorder_switch(bool on);

#endif
