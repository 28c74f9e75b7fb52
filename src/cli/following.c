/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cli/following.h"

#ifdef HAVE_MICROHTTPD

#include "cli/snapshot.h"
#include "cli/view_side.h"
#include "core/input.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/unfinished.h"
#include "record/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LEAST_PAUSE_NS INT64_C(2000000000)
enum { PATH_SIZE = 400, READING_PART = 10 };

/* One reading. */
struct served {
    struct side side;
    char path[PATH_SIZE];
    char *inputs[1];
    uint64_t events;
    unsigned users; /* requests that are being answered */
    struct served *older;
};

struct following {
    const struct view_options *options;
    const char *title;
    char folder[PATH_SIZE - 100]; /* of the readings */
    int place;                    /* of unfinished_make_directory */
    pthread_t thread;
    bool started; /* the thread */
    atomic_bool ends, running;
    pthread_mutex_t lock; /* of all that follows, and the users */
    struct served *newest;
    uint64_t version;
};

/* The clocks of a program that runs are corrected when it has ended. */
static struct view_site *no_other_clocks(void *context, struct error *err)
{
    (void)context;
    (void)error_set(err, ERROR_USAGE, "the program is running: its clocks are compared when it has ended");
    return NULL;
}

static void served_free(struct served *served)
{
    side_clear(&served->side);
    unlink(served->path);
    free(served);
}

/* Reads what there is now. NULL and a fault. */
static struct served *read_now(const struct following *following, uint64_t version, bool silent, struct error *err)
{
    struct served *served = memory_new(sizeof *served);
    snprintf(served->path, sizeof served->path, "%s/%" PRIu64 ".clog2", following->folder, version);
    served->inputs[0] = served->path;
    served->side.options = *following->options;
    served->side.options.common.inputs = served->inputs;
    served->side.site.other_clocks = no_other_clocks;
    served->side.site.fleeting = true;
    if (snapshot_write(following->options->common.inputs[0], served->path, &served->events, err) == STATUS_OK &&
        side_open(&served->side, following->title, silent, err) == STATUS_OK)
        return served;
    unlink(served->path);
    free(served);
    return NULL;
}

/* Those that nobody asks for any more. */
static void free_old(struct following *following)
{
    struct served **link = &following->newest->older, *unused = NULL;
    pthread_mutex_lock(&following->lock);
    while (*link) {
        struct served *served = *link;
        if (served->users > 0 || side_is_judging(&served->side)) {
            link = &served->older;
            continue;
        }
        *link = served->older;
        served->older = unused;
        unused = served;
    }
    pthread_mutex_unlock(&following->lock);
    while (unused) {
        struct served *next = unused->older;
        served_free(unused);
        unused = next;
    }
}

static void read_again(struct following *following)
{
    struct error err = {0};
    struct served *served = read_now(following, following->version + 1, true, &err);
    if (!served) /* most likely it has ended, and its files are being merged */
        return;
    if (served->events == following->newest->events) {
        served_free(served);
        return;
    }
    side_judge(&served->side);
    pthread_mutex_lock(&following->lock);
    served->older = following->newest;
    following->newest = served;
    following->version++;
    pthread_mutex_unlock(&following->lock);
    free_old(following);
}

/* False if it is to end. */
static bool pause_for(struct following *following, int64_t ns)
{
    enum { STEP_NS = 50000000 };
    for (int64_t slept = 0; slept < ns && !atomic_load(&following->ends); slept += STEP_NS)
        nanosleep(&(struct timespec){.tv_nsec = STEP_NS}, NULL);
    return !atomic_load(&following->ends);
}

static void *follow(void *context)
{
    struct following *following = context;
    int64_t took_ns = 0;
    bool writes = true;
    while (writes && pause_for(following, larger(LEAST_PAUSE_NS, READING_PART * took_ns))) {
        int64_t begin_ns = clock_ns();
        /* One judgement at a time: pages ask for that of what they show. */
        if (side_is_judging(&following->newest->side))
            continue;
        /* Asked first: what it writes last is read, too. */
        writes = snapshot_is_written(following->options->common.inputs[0]);
        read_again(following);
        took_ns = clock_ns() - begin_ns;
    }
    atomic_store(&following->running, false);
    return NULL;
}

struct following *following_begin(const struct view_options *options, const char *title, struct error *err)
{
    struct following *following = memory_new(sizeof *following);
    following->options = options;
    following->title = title;
    atomic_store(&following->running, true);
    pthread_mutex_init(&following->lock, NULL);
    snprintf(following->folder, sizeof following->folder, "%s/sight-view-XXXXXX", temporary_directory());
    if (!unfinished_make_directory(following->folder, &following->place)) {
        (void)error_set_errno(err, ERROR_OUTPUT, "%s: cannot make a directory", following->folder);
        free(following);
        return NULL;
    }
    /* Each reading has an index: it goes with the folder. */
    setenv("SIGHT_CACHE", following->folder, 1);
    following->newest = read_now(following, 0, false, err);
    if (following->newest)
        return following;
    unfinished_remove();
    unfinished_drop(following->place);
    free(following);
    return NULL;
}

void following_start(struct following *following)
{
    side_judge(&following->newest->side);
    following->started = pthread_create(&following->thread, NULL, follow, following) == 0;
    if (!following->started)
        atomic_store(&following->running, false);
}

static void answer_version(struct following *following, struct server_answer *answer)
{
    pthread_mutex_lock(&following->lock);
    uint64_t version = following->version;
    pthread_mutex_unlock(&following->lock);
    server_say(answer, 200, "{\"version\":%" PRIu64 ",\"running\":%s}", version,
               atomic_load(&following->running) ? "true" : "false");
    answer->type = "application/json";
}

void following_answer(void *context, const struct server_request *request, struct server_answer *answer)
{
    struct following *following = context;
    if (strcmp(server_path(request), "version") == 0) {
        answer_version(following, answer);
        return;
    }
    pthread_mutex_lock(&following->lock);
    struct served *served = following->newest;
    served->users++;
    pthread_mutex_unlock(&following->lock);
    view_answer(&served->side.site, request, answer);
    pthread_mutex_lock(&following->lock);
    served->users--;
    pthread_mutex_unlock(&following->lock);
}

void following_end(struct following *following)
{
    atomic_store(&following->ends, true);
    if (following->started)
        pthread_join(following->thread, NULL);
    for (struct served *served = following->newest; served;) {
        struct served *older = served->older;
        served_free(served);
        served = older;
    }
    unfinished_remove();
    unfinished_drop(following->place);
    free(following);
}

#endif
