/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/graph_windows.h"

#include "core/bytes.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/payload.h"
#include "graph/window_edges.h"
#include "metrics/analysis.h"

#include <string.h>

enum window_role {
    ROLE_OTHER,
    ROLE_ACCESS,
    ROLE_POST,
    ROLE_START,
    ROLE_COMPLETE,
    ROLE_WAIT,
    ROLE_LOCK,
    ROLE_LOCK_ALL,
    ROLE_FLUSH,
    ROLE_FLUSH_LOCAL,
    ROLE_FLUSH_ALL,
    ROLE_FLUSH_LOCAL_ALL,
    ROLE_UNLOCK,
    ROLE_UNLOCK_ALL
};

enum { EPOCHS_MOST = 1 << 27 /* more are not kept */ };

/* The open epochs of a process on a window. */
struct open_window {
    uint32_t access, exposure; /* 1 + the latest epoch with a partner; the others by `next` */
    uint32_t longest;          /* the longest access of the epoch, a call of its location; GRAPH_NONE */
    int64_t longest_ns;
    int32_t longest_target;
    uint32_t last_location, last_call; /* the access of the epoch that ended last; GRAPH_NONE: none yet */
    int64_t last_ns;
};

/* One side of an epoch, with one partner. */
struct epoch {
    int32_t comm;
    uint32_t origin, target;           /* processes */
    uint32_t location, call;           /* MPI_Win_start or MPI_Win_post */
    uint32_t done_location, done_call; /* MPI_Win_complete or MPI_Win_wait; GRAPH_NONE: not recorded */
    uint32_t longest;                  /* access to this target, a call of the location; GRAPH_NONE */
    uint32_t last_location, last_call; /* of an access: the last call of the origin in it, at least MPI_Win_start */
    uint32_t next;                     /* while it is open; then its number */
};

/* Collecting */

static enum window_role role_of_state(const struct state_def *state)
{
    static const struct {
        const char *name;
        enum window_role role;
    } rows[] = {{"post", ROLE_POST},           {"start", ROLE_START},
                {"complete", ROLE_COMPLETE},   {"wait", ROLE_WAIT},
                {"lock", ROLE_LOCK},           {"lock_all", ROLE_LOCK_ALL},
                {"flush", ROLE_FLUSH},         {"flush_local", ROLE_FLUSH_LOCAL},
                {"flush_all", ROLE_FLUSH_ALL}, {"flush_local_all", ROLE_FLUSH_LOCAL_ALL},
                {"unlock", ROLE_UNLOCK},       {"unlock_all", ROLE_UNLOCK_ALL}};
    static const char prefix[] = "MPI_Win_";
    if (strncmp(state->name, prefix, sizeof prefix - 1) != 0)
        return ROLE_ACCESS;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(state->name + sizeof prefix - 1, rows[i].name) == 0)
            return rows[i].role;
    return ROLE_OTHER;
}

static enum window_role role_of(struct window_collector *windows, const struct defs *defs, uint32_t state)
{
    if (state >= windows->role_count) {
        windows->roles = memory_resize(windows->roles, defs->state_count);
        memset(windows->roles + windows->role_count, 0, defs->state_count - windows->role_count);
        windows->role_count = defs->state_count;
    }
    /* 0: not yet examined. */
    if (windows->roles[state] == 0)
        windows->roles[state] = (uint8_t)(role_of_state(&defs->states[state]) + 1);
    return (enum window_role)(windows->roles[state] - 1);
}

static uint32_t place_of(struct window_collector *windows, uint32_t process, int32_t comm)
{
    uint64_t *place = map_put(&windows->places, map_pair(process, (uint32_t)comm), windows->open_count);
    if (*place == windows->open_count)
        ARRAY_PUSH(windows->open, windows->open_count, windows->open_capacity,
                   (struct open_window){.longest = GRAPH_NONE, .last_location = GRAPH_NONE});
    return (uint32_t)*place;
}

static struct open_window *open_of(struct window_collector *windows, uint32_t process, int32_t comm)
{
    uint32_t place = place_of(windows, process, comm);
    return &windows->open[place];
}

static uint32_t latest_call(const struct graph *graph, uint32_t location)
{
    return (uint32_t)graph->locations[location].count - 1;
}

static void end_access(struct window_collector *windows, struct open_window *open, uint32_t location, uint32_t call,
                       const struct defs *defs)
{
    for (uint32_t at = open->access; at; at = windows->accesses[at - 1].next) {
        struct epoch *epoch = &windows->accesses[at - 1];
        epoch->done_location = location;
        epoch->done_call = call;
        /* Without an access the origin could have completed right after its start. */
        epoch->last_location = epoch->location;
        epoch->last_call = epoch->call;
        if (open->last_location != GRAPH_NONE) {
            epoch->last_location = open->last_location;
            epoch->last_call = open->last_call;
        }
        if (open->longest != GRAPH_NONE &&
            defs_world_rank(defs, epoch->comm, open->longest_target) == (int32_t)epoch->target)
            epoch->longest = open->longest;
    }
    open->access = 0;
}

static void end_exposure(struct window_collector *windows, struct open_window *open, uint32_t location, uint32_t call)
{
    for (uint32_t at = open->exposure; at; at = windows->exposures[at - 1].next) {
        windows->exposures[at - 1].done_location = location;
        windows->exposures[at - 1].done_call = call;
    }
    open->exposure = 0;
}

void windows_enter(struct window_collector *windows, struct graph *graph, uint32_t location, const struct event *event)
{
    enum window_role role = role_of(windows, graph->defs, event->state);
    /* Accesses are noted when they are left, with their target; epochs end when the call that ends them is entered. */
    if (role == ROLE_OTHER || role == ROLE_ACCESS)
        return;
    uint32_t place = place_of(windows, event->process, event->comm), call = latest_call(graph, location);
    struct open_window *open = &windows->open[place];
    if (role == ROLE_COMPLETE)
        end_access(windows, open, location, call, graph->defs);
    else if (role == ROLE_WAIT)
        end_exposure(windows, open, location, call);
    else if (role == ROLE_POST)
        /* A new post ends what was left open: its wait is missing from the trace. */
        open->exposure = 0;
    else if (role == ROLE_START)
        /* The exposure of the same window goes on: a process may be origin and target at once. */
        *open = (struct open_window){.exposure = open->exposure, .longest = GRAPH_NONE, .last_location = GRAPH_NONE};
    else if (role == ROLE_FLUSH_ALL || role == ROLE_FLUSH_LOCAL_ALL)
        locks_flush_all(&windows->locks, place, location, call, role == ROLE_FLUSH_LOCAL_ALL);
    else if (role == ROLE_UNLOCK_ALL)
        locks_give_all(&windows->locks, place, location, call);
}

/* An access inside an access epoch, by any thread. */
static void note_access(struct open_window *open, struct graph *graph, uint32_t location, const struct event *event,
                        bool of_its_location)
{
    uint32_t index = latest_call(graph, location);
    struct call call = graph_call(graph, location, index);
    int64_t ns = time_since(call.enter_ns, event->time_ns);
    /* By time and not by order of events: accesses of several threads come interleaved. */
    if (open->last_location == GRAPH_NONE || event->time_ns >= open->last_ns) {
        open->last_location = location;
        open->last_call = index;
        open->last_ns = event->time_ns;
    }
    /* Only an access of the location that started can become its waiting call. */
    if (!of_its_location || (open->longest != GRAPH_NONE && ns <= open->longest_ns))
        return;
    open->longest = index;
    open->longest_ns = ns;
    open->longest_target = event->tag;
}

void windows_leave(struct window_collector *windows, struct graph *graph, uint32_t location, const struct event *event)
{
    if (role_of(windows, graph->defs, event->state) != ROLE_ACCESS || event->tag < 0)
        return;
    const uint64_t *place = map_find(&windows->places, map_pair(event->process, (uint32_t)event->comm));
    struct open_window *open = place ? &windows->open[*place] : NULL;
    /* Without an open access epoch the access is under a lock, or between fences. */
    if (open && open->access)
        note_access(open, graph, location, event, windows->accesses[open->access - 1].location == location);
    int32_t target = open ? defs_world_rank(graph->defs, event->comm, event->tag) : EVENT_UNKNOWN;
    if (target >= 0)
        locks_access(&windows->locks,
                     &(struct lock_place){event->comm, (uint32_t)*place, event->process, (uint32_t)target}, location,
                     latest_call(graph, location));
}

static void add_epoch(struct window_collector *windows, struct graph *graph, uint32_t location,
                      const struct event *mark, uint32_t partner, bool access)
{
    struct open_window *open = open_of(windows, mark->process, mark->comm);
    struct epoch epoch = {.comm = mark->comm,
                          .origin = access ? mark->process : partner,
                          .target = access ? partner : mark->process,
                          .location = location,
                          .call = latest_call(graph, location),
                          .done_location = GRAPH_NONE,
                          .done_call = GRAPH_NONE,
                          .longest = GRAPH_NONE,
                          .last_location = location,
                          .last_call = latest_call(graph, location),
                          .next = access ? open->access : open->exposure};
    if (access) {
        ARRAY_PUSH(windows->accesses, windows->access_count, windows->access_capacity, epoch);
        open->access = (uint32_t)windows->access_count;
    } else {
        ARRAY_PUSH(windows->exposures, windows->exposure_count, windows->exposure_capacity, epoch);
        open->exposure = (uint32_t)windows->exposure_count;
    }
}

/* A call about the lock of one process. */
static void note_lock(struct window_collector *windows, struct graph *graph, uint32_t location,
                      const struct event *mark, enum window_role role, uint32_t target, enum window_lock lock)
{
    struct lock_place at = {mark->comm, place_of(windows, mark->process, mark->comm), mark->process, target};
    uint32_t call = latest_call(graph, location);
    targets_take(&windows->targets, (struct target_access){mark->comm, location, call, target});
    if (role == ROLE_LOCK)
        locks_take(&windows->locks, &at, location, call, lock);
    else if (role == ROLE_UNLOCK)
        locks_give(&windows->locks, &at, location, call);
    else if (role == ROLE_FLUSH || role == ROLE_FLUSH_LOCAL)
        locks_flush(&windows->locks, &at, location, call, role == ROLE_FLUSH_LOCAL);
}

void windows_ranks(struct window_collector *windows, struct graph *graph, uint32_t location, uint32_t state,
                   const struct event *mark, const unsigned char *payload)
{
    /* Byte order and layout: core/payload.h. */
    unsigned char whole[RANKS_MARK_SIZE] = {0}; /* zeros at the end may be missing */
    memcpy(whole, payload, mark->payload_length < sizeof whole ? mark->payload_length : sizeof whole);
    int32_t first = bytes_i32(whole, true), last = bytes_i32(whole + 4, true), step = bytes_i32(whole + 8, true);
    enum window_lock lock = (enum window_lock)bytes_u32(whole + 12, true);
    enum window_role role = role_of(windows, graph->defs, state);
    if (step == 0 || graph->defs->comms[mark->comm].world)
        return;
    if (role == ROLE_LOCK_ALL) {
        locks_take_all(&windows->locks, place_of(windows, mark->process, mark->comm), location,
                       latest_call(graph, location), lock);
        return;
    }
    /* In 64 bits, so that first + step cannot overflow. */
    for (int64_t rank = first; step > 0 ? rank <= last : rank >= last; rank += step) {
        int32_t process = rank < 0 ? EVENT_UNKNOWN : defs_world_rank(graph->defs, mark->comm, (int32_t)rank);
        if (process < 0)
            return;
        if (windows->access_count + windows->exposure_count + windows->locks.count >= EPOCHS_MOST) {
            graph->too_large = true;
            return;
        }
        if (role == ROLE_START || role == ROLE_POST)
            add_epoch(windows, graph, location, mark, (uint32_t)process, role == ROLE_START);
        else
            note_lock(windows, graph, location, mark, role, (uint32_t)process, lock);
    }
}

/* Epochs that meet */

static int compare_pairs(const struct epoch *left, const struct epoch *right)
{
    int order = order_by(left->comm, right->comm);
    if (order == 0)
        order = order_by(left->origin, right->origin);
    return order ? order : order_by(left->target, right->target);
}

static int by_pair(const void *a, const void *b)
{
    const struct epoch *left = a, *right = b;
    int order = compare_pairs(left, right);
    return order ? order : order_by(left->next, right->next);
}

static void sort_epochs(struct epoch *epochs, size_t count)
{
    /* `next` linked the open epochs; now it keeps the order of the trace, which qsort would lose. */
    for (size_t i = 0; i < count; i++)
        epochs[i].next = (uint32_t)i;
    if (count > 0)
        qsort(epochs, count, sizeof *epochs, by_pair);
}

/* The first call of the access epoch, if any, that ends after the target has posted. `starts`: the MPI waits in
   MPI_Win_start, so that a start that does not wait depends on the post as well. */
static uint32_t waiting_call(const struct graph *graph, const struct epoch *access, int64_t post_ns, bool starts)
{
    struct call start = graph_call(graph, access->location, access->call);
    if (starts || (start.enter_ns < post_ns && start.leave_ns >= post_ns))
        return access->call;
    /* Of the accesses the longest: an access that waits for the post is longer than those that only move data. */
    if (access->longest != GRAPH_NONE) {
        struct call longest = graph_call(graph, access->location, access->longest);
        if (longest.enter_ns < post_ns && longest.leave_ns >= post_ns)
            return access->longest;
    }
    return GRAPH_NONE;
}

static void add_late_post(struct graph *graph, const struct epoch *access, const struct epoch *exposure, bool starts)
{
    struct window_edge edge = {
        .location = access->location,
        .call = waiting_call(graph, access, graph_call(graph, exposure->location, exposure->call).enter_ns, starts),
        .cause_location = exposure->location,
        .cause_call = exposure->call,
        .from_ns = INT64_MIN,
        .kind = WAIT_LATE_POST};
    /* Nothing before visibly waited: then the end of the epoch did, at the latest. */
    if (edge.call == GRAPH_NONE) {
        edge.location = access->done_location;
        edge.call = access->done_call;
    }
    if (edge.call != GRAPH_NONE)
        window_edge_add(graph, edge);
}

/* The target waits until the origin completes; the part up to the origin's last access could not have been shorter. */
static void add_waits(struct graph *graph, const struct epoch *access, const struct epoch *exposure)
{
    struct window_edge edge = {.location = exposure->done_location,
                               .call = exposure->done_call,
                               .cause_location = access->done_location,
                               .cause_call = access->done_call,
                               .from_ns = INT64_MIN,
                               .kind = WAIT_LATE_COMPLETE};
    /* An epoch that the trace does not end: it is unknown whether anybody still waits. */
    if (access->done_call == GRAPH_NONE || exposure->done_call == GRAPH_NONE)
        return;
    window_edge_add(graph, edge);
    edge.cause_location = access->last_location;
    edge.cause_call = access->last_call;
    edge.kind = WAIT_EARLY_WAIT;
    edge.after = true;
    window_edge_add(graph, edge);
}

/* Matches the n-th access of each pair with its n-th exposure: calls visit for each, or until it returns true. */
static bool meet(struct graph *graph, struct window_collector *windows, bool starts,
                 bool (*visit)(struct graph *, struct window_collector *, const struct epoch *, const struct epoch *,
                               bool))
{
    size_t a = 0, e = 0;
    while (a < windows->access_count && e < windows->exposure_count) {
        const struct epoch *access = &windows->accesses[a], *exposure = &windows->exposures[e];
        int order = compare_pairs(access, exposure);
        if (order == 0 && visit(graph, windows, access, exposure, starts))
            return true;
        /* A pair whose other side has no more epochs is skipped. */
        a += order <= 0;
        e += order >= 0;
    }
    return false;
}

/* Once the target has posted, the end of the epoch may still need it in MPI. */
static void take_target(const struct graph *graph, struct window_collector *windows, const struct epoch *access,
                        const struct epoch *exposure)
{
    if (access->done_call != GRAPH_NONE && graph_call(graph, exposure->location, exposure->call).leave_ns <=
                                               graph_call(graph, access->done_location, access->done_call).enter_ns)
        targets_take(&windows->targets,
                     (struct target_access){access->comm, access->done_location, access->done_call, access->target});
}

static bool visit_access(struct graph *graph, struct window_collector *windows, const struct epoch *access,
                         const struct epoch *exposure, bool starts)
{
    add_late_post(graph, access, exposure, starts);
    add_waits(graph, access, exposure);
    take_target(graph, windows, access, exposure);
    return false;
}

/* True if the start was left before the post, by more than the clock error: this MPI waits later. */
static bool does_not_wait(struct graph *graph, struct window_collector *windows, const struct epoch *access,
                          const struct epoch *exposure, bool starts)
{
    (void)windows;
    (void)starts;
    struct call start = graph_call(graph, access->location, access->call);
    return time_since(start.leave_ns, graph_call(graph, exposure->location, exposure->call).enter_ns) >
           graph->clock_error_ns;
}

static void connect_epochs(struct window_collector *windows, struct graph *graph)
{
    sort_epochs(windows->accesses, windows->access_count);
    sort_epochs(windows->exposures, windows->exposure_count);
    /* One start that does not wait proves it for the MPI, and so for all starts: MPI_Win_start may return before the
       post (MPI-4.0, 12.5.2). */
    bool starts = !meet(graph, windows, false, does_not_wait);
    meet(graph, windows, starts, visit_access);
}

void windows_end(struct window_collector *windows, struct graph *graph)
{
    connect_epochs(windows, graph);
    locks_end(&windows->locks, graph);
    targets_end(&windows->targets, graph);
    free(windows->roles);
    map_clear(&windows->places);
    free(windows->open);
    free(windows->accesses);
    free(windows->exposures);
}
