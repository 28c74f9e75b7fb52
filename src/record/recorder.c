/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/recorder.h"

#include "record/clock.h"
#include "record/comms.h"
#include "record/counters.h"
#include "record/ending.h"
#include "record/host.h"
#include "record/metadata.h"
#include "record/python.h"
#include "record/request_table.h"
#include "record/resources.h"
#include "record/samples.h"
#include "record/sessions.h"
#include "record/settings.h"
#include "record/sync.h"
#include "record/world.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool never_started;
struct recorder recorder = {.started = &never_started};
__thread struct location *location_mine;

static struct location_settings settings;
static struct record_header about; /* of this process */
static pthread_mutex_t locations_lock = PTHREAD_MUTEX_INITIALIZER;
static struct location *locations;
static uint32_t threads;
static pthread_key_t thread_end;

/* _Fork() and the system call run no handlers of pthread_atfork: such a child still has the parent's mappings, and must
   leave the files as they are. */
static bool in_child(void)
{
    return about.pid != 0 && about.pid != (uint32_t)getpid();
}

/* ThreadSanitizer's runtime forgets a thread in the last round of destructors; after that, most functions crash. */
extern void __tsan_init(void) __attribute__((weak));

static int rounds_of_destructors(void)
{
    return PTHREAD_DESTRUCTOR_ITERATIONS - (__tsan_init != NULL);
}

/* A thread ends: its location is complete after the last round of destructors, as others may call MPI. */
static void on_thread_end(void *value)
{
    struct location *location = value;
    if (in_child())
        return;
    if (++location->endings < rounds_of_destructors() && pthread_setspecific(thread_end, location) == 0)
        return;
    /* First the timer: a sample must not meet a file that is being closed. */
    samples_stop(location);
    python_end(location);
    counters_end(location);
    /* recorder_close and the child of fork() walk through the list. */
    pthread_mutex_lock(&locations_lock);
    location_close(location, RECORD_FINALIZED);
    pthread_mutex_unlock(&locations_lock);
}

/* If no file could be created for this thread, it continues without recording. */
static __thread bool refused;

static void refuse(int reason)
{
    /* Only the first location can say it: this one has no file. Its header is shared, so that `lost_threads` needs
       the lock. */
    refused = true;
    for (struct location *location = locations; location; location = location->next)
        if (location->thread == 0 && location->header) {
            location->header->lost_threads++;
            location->header->lost_reason = (uint32_t)reason;
        }
}

/* Called by the thread itself, with its first call; never in a signal handler, as it allocates and opens files. */
struct location *recorder_attach(void)
{
    if (refused)
        return NULL;
    int before = errno, cancel = cancel_hold();
    pthread_mutex_lock(&locations_lock);
    struct record_header header = about;
    /* Numbers in the order of the threads' first calls: thread 0 is the one that initialised MPI. */
    header.thread = threads++;
    header.began_ticks = clock_now();
    header.self = (uint64_t)pthread_self();
    struct location *location = location_open(&settings, &header);
    if (location) {
        sites_start(location);
        location->next = locations;
        locations = location;
        location_mine = location;
    } else {
        refuse(errno);
    }
    pthread_mutex_unlock(&locations_lock);
    /* The first location ends with the process, others with their thread: the key's destructor closes them. */
    if (location && header.thread > 0) {
        pthread_setspecific(thread_end, location);
        samples_start(location);
    }
    /* The program must not see what opening a file did to it; without a location the caller reports errno. */
    if (location)
        errno = before;
    cancel_let(cancel);
    return location;
}

bool recorder_path(char *path, size_t size, const char *suffix)
{
    int length =
        snprintf(path, size, "%s/%.32s-%u%s", settings.directory, about.host_name, (unsigned)about.pid, suffix);
    return length > 0 && (size_t)length < size;
}

/* The child of fork() does not belong to the MPI program. It has the parent's mappings of the files: writing to them
   would destroy the parent's records. Only the thread that called fork() exists here, so that no lock is needed. */
static void on_fork(void)
{
    *recorder.started = false;
    ending_note_in(NULL);
    request_table_abandon();
    for (struct location *location = locations; location; location = location->next) {
        samples_forget(location);
        counters_end(location);
        if (location->header)
            location_abandon(location);
    }
}

/* The page of recorder_started. Where the kernel does not empty it for children, only fork() itself is seen. */
static void start_in_page(void)
{
    const size_t size = sizeof *recorder.started;
    bool *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return;
#ifdef MADV_WIPEONFORK
    madvise(page, size, MADV_WIPEONFORK);
#endif
    recorder.started = page;
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

static void locations_mark(enum record_end end)
{
    pthread_mutex_lock(&locations_lock);
    for (struct location *location = locations; location; location = location->next)
        /* Other processes read `end` in the file: it says at any moment how the location would be left. */
        if (location->header)
            location->header->end = end;
    pthread_mutex_unlock(&locations_lock);
}

/* Opens the first location with the data known before the first record. False: recording is impossible. */
static bool begin_first(MPI_Group world, bool threaded)
{
    recorder.threaded = threaded;
    recorder.sites = settings_want_sites();
    settings_skip(recorder.skip);
    samples_choose(settings_samples());
    resources_choose(settings_want_resources());
    counters_choose(settings_text("SIGHT_RECORD_COUNTERS"));
    know_process(world);
    about.world = world_of_launcher(recorder.size);
    /* 0700: traces show what programs do. */
    mkdir(settings.directory, 0700); /* on hosts that do not share the file system it is missing */
    if (!recorder_attach()) {
        fprintf(stderr, "sight: process %d: cannot record to '%s': %s\n", recorder.rank, settings.directory,
                strerror(errno));
        return false;
    }
    start_in_page();
    ending_note_in(location_mine);
    ending_watch();
    pthread_key_create(&thread_end, on_thread_end);
    pthread_atfork(NULL, NULL, on_fork);
    return true;
}

/* Recording continues if MPI is initialised again. */
static bool begin_again(bool threaded)
{
    recorder.threaded |= threaded;
    locations_mark(RECORD_RUNNING);
    return location_mine || recorder_attach();
}

static bool begin(enum function function, const void *caller, int64_t begin_ticks, bool threaded)
{
    bool again = locations != NULL;
    MPI_Group world = sessions_world();
    if (world == MPI_GROUP_NULL || !(again ? begin_again(threaded) : begin_first(world, threaded)))
        return false;
    struct location *location = location_mine;
    /* No samples from here on: the signal's handler writes to the same location. */
    location_busy(location);
    if (!again)
        location_calibrate(location, begin_ticks, &recorder_clock.begin);
    /* From here on other threads record, too. */
    recorder.on = *recorder.started = true;
    /* First of all: no record may precede one that was put before it. */
    if (!recorder.skip[function])
        recorder_enter(location, function, caller, NULL, RECORD_WORLD, begin_ticks);
    if (!again) {
        resources_machine(location);
        metadata_put(location);
    }
    resources_put(location);
    if (again)
        comms_resume(world);
    else
        comms_start(location, world);
    if (!again && about.spawned) {
        MPI_Comm parent;
        PMPI_Comm_get_parent(&parent);
        comm_met(location, parent, RECORD_PARENT, recorder_clock.begin.ns);
    }
    if (sessions_have_world())
        recorder_look_at_hosts(MPI_COMM_WORLD);
    if (!recorder.skip[function])
        location_put(location, RECORD_LEAVE, clock_now(), function, RECORD_WORLD);
    samples_start(location);
    location_done(location, false);
    return true;
}

void recorder_start(enum function function, const void *caller, int64_t begin_ticks, bool threaded)
{
    static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
    int cancel = cancel_hold();
    pthread_mutex_lock(&starting);
    bool starts = !recorder_started() && !in_child() && settings_read(&settings);
    if (starts && !begin(function, caller, begin_ticks, threaded))
        sessions_end();
    pthread_mutex_unlock(&starting);
    cancel_let(cancel);
}

void recorder_look_at_hosts(MPI_Comm all)
{
    recorder.several_hosts = sync_needed(about.host, all, &about.world);
    if (location_mine->header)
        location_mine->header->world = about.world;
    recorder_sync(all);
}

void recorder_sync(MPI_Comm all)
{
    if (recorder_started() && recorder.several_hosts && location_mine)
        sync_clocks(location_mine, about.host, all);
}

void recorder_finish(void)
{
    /* The last moment: after MPI_Finalize nothing is recorded. */
    if (location_mine) {
        samples_note_modules(location_mine);
        resources_put(location_mine);
    }
    comms_finish();
    sessions_end();
}

void recorder_stop_samples(void)
{
    pthread_mutex_lock(&locations_lock);
    for (struct location *location = locations; location; location = location->next)
        samples_stop(location);
    pthread_mutex_unlock(&locations_lock);
}

void recorder_close(void)
{
    /* First no new records, then no more samples, then the end is marked: whoever sees FINALIZED finds everything. */
    *recorder.started = false;
    recorder_stop_samples();
    locations_mark(RECORD_FINALIZED);
    request_table_remove();
}

/* The process ends: files are truncated to the used part. If MPI is not finalised, threads may still write to them, and
   `end` says that they were running. */
__attribute__((destructor)) static void close_files(void)
{
    if (in_child())
        return;
    pthread_mutex_lock(&locations_lock);
    for (struct location *location = locations; location; location = location->next)
        if (location->header && location->header->end == RECORD_FINALIZED)
            location_close(location, RECORD_FINALIZED);
    pthread_mutex_unlock(&locations_lock);
}

/* The first one is enough. */
static void note_pause(void)
{
    static bool noted;
    struct location *location = location_mine ? location_mine : recorder_attach();
    if (noted || !location)
        return;
    noted = true;
    bool before = location_busy(location);
    metadata_put_pause(location);
    location_done(location, before);
}

void recorder_switch(bool on)
{
    if (!recorder_started() || on == recorder.on)
        return;
    if (!on)
        note_pause();
    recorder.on = on;
}
