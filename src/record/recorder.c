/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/recorder.h"

#include "record/clock.h"
#include "record/comms.h"
#include "record/host.h"
#include "record/sessions.h"
#include "record/settings.h"
#include "record/sync.h"
#include "record/world.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct recorder recorder;
__thread struct lane *lane_mine;

static struct lane_settings settings;
static struct record_header about; /* of this process */
static pthread_mutex_t lanes_lock = PTHREAD_MUTEX_INITIALIZER;
static struct lane *lanes;
static uint32_t threads;
static pthread_key_t thread_end;

/* A thread ends: nothing more comes into its lane. */
static void on_thread_end(void *lane)
{
    pthread_mutex_lock(&lanes_lock);
    lane_close(lane, RECORD_FINALIZED);
    pthread_mutex_unlock(&lanes_lock);
}

struct lane *recorder_attach(void)
{
    pthread_mutex_lock(&lanes_lock);
    struct record_header header = about;
    header.thread = threads++;
    struct lane *lane = lane_open(&settings, &header);
    if (lane) {
        sites_start(lane);
        lane->next = lanes;
        lanes = lane;
        lane_mine = lane;
    }
    pthread_mutex_unlock(&lanes_lock);
    if (lane && header.thread > 0)
        pthread_setspecific(thread_end, lane);
    if (!lane)
        recorder.started = header.thread > 0 && recorder.started;
    return lane;
}

/* The child of fork() is no process of the MPI program. */
static void on_fork(void)
{
    recorder.started = false;
    for (struct lane *lane = lanes; lane; lane = lane->next)
        if (lane->header)
            lane_abandon(lane);
}

static void know_process(MPI_Group world)
{
    int rank, size;
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Group_rank(world, &rank);
    PMPI_Group_size(world, &size);
    if (sessions_have_world())
        PMPI_Comm_get_parent(&parent);
    about = (struct record_header){.magic = RECORD_MAGIC,
                                   .version = RECORD_VERSION,
                                   .function_count = FUNCTION_COUNT,
                                   .rank = rank,
                                   .size = size,
                                   .pid = (uint32_t)getpid(),
                                   .clock = recorder_clock.tsc ? RECORD_CLOCK_TSC : RECORD_CLOCK_MONOTONIC,
                                   .spawned = parent != MPI_COMM_NULL};
    recorder.rank = rank;
    recorder.size = size;
    host_name(about.host_name, sizeof about.host_name);
    about.host = host_of_clock(rank);
}

static void lanes_mark(enum record_end end)
{
    pthread_mutex_lock(&lanes_lock);
    for (struct lane *lane = lanes; lane; lane = lane->next)
        if (lane->header)
            lane->header->end = end;
    pthread_mutex_unlock(&lanes_lock);
}

/* The first lane and what is known before the first record. False: nothing can be recorded. */
static bool begin_first(MPI_Group world, bool threaded)
{
    recorder.threaded = threaded;
    recorder.sites = settings_want_sites();
    settings_skip(recorder.skip);
    know_process(world);
    about.world = world_of_launcher(recorder.size);
    mkdir(settings.directory, 0700); /* on hosts that do not share the file system it is not there */
    if (!recorder_attach()) {
        fprintf(stderr, "sight: process %d: cannot record to '%s'\n", recorder.rank, settings.directory);
        return false;
    }
    pthread_key_create(&thread_end, on_thread_end);
    pthread_atfork(NULL, NULL, on_fork);
    return true;
}

/* Recording goes on where MPI is initialised again. */
static bool begin_again(bool threaded)
{
    recorder.threaded |= threaded;
    lanes_mark(RECORD_RUNNING);
    return lane_mine || recorder_attach();
}

static bool begin(enum function function, const void *caller, int64_t begin_ticks, bool threaded)
{
    bool again = lanes != NULL;
    MPI_Group world = sessions_world();
    if (world == MPI_GROUP_NULL || !(again ? begin_again(threaded) : begin_first(world, threaded)))
        return false;
    struct lane *lane = lane_mine;
    lane->inside = true;
    if (!again)
        lane_calibrate(lane, begin_ticks, &recorder_clock.begin);
    recorder.on = recorder.started = true;
    if (!recorder.skip[function])
        recorder_enter(lane, function, caller, RECORD_WORLD, begin_ticks);
    if (again)
        comms_resume(world);
    else
        comms_start(lane, world);
    if (!again && about.spawned) {
        MPI_Comm parent;
        PMPI_Comm_get_parent(&parent);
        comm_met(lane, parent, RECORD_PARENT, recorder_clock.begin.ns);
    }
    if (sessions_have_world())
        recorder_look_at_hosts(MPI_COMM_WORLD);
    if (!recorder.skip[function])
        lane_put(lane, RECORD_LEAVE, clock_now(), function, RECORD_WORLD);
    lane->inside = false;
    return true;
}

void recorder_start(enum function function, const void *caller, int64_t begin_ticks, bool threaded)
{
    static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&starting);
    if (!recorder.started && settings_read(&settings) && !begin(function, caller, begin_ticks, threaded))
        sessions_end();
    pthread_mutex_unlock(&starting);
}

void recorder_look_at_hosts(MPI_Comm all)
{
    recorder.several_hosts = sync_needed(about.host, all, &about.world);
    if (lane_mine->header)
        lane_mine->header->world = about.world;
    recorder_sync(all);
}

void recorder_sync(MPI_Comm all)
{
    if (recorder.started && recorder.several_hosts && lane_mine)
        sync_clocks(lane_mine, about.host, all);
}

void recorder_finish(void)
{
    comms_finish();
    sessions_end();
}

void recorder_close(void)
{
    recorder.started = false;
    lanes_mark(RECORD_FINALIZED);
}

/* The process ends: files are cut to what is used. Where MPI is not finalised, threads may still write to them. */
__attribute__((destructor)) static void close_files(void)
{
    pthread_mutex_lock(&lanes_lock);
    for (struct lane *lane = lanes; lane; lane = lane->next)
        if (lane->header && lane->header->end == RECORD_FINALIZED)
            lane_close(lane, RECORD_FINALIZED);
    pthread_mutex_unlock(&lanes_lock);
}

void recorder_switch(bool on)
{
    if (!recorder.started || on == recorder.on)
        return;
    recorder.on = on;
}
