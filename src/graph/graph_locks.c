/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/graph_locks.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "graph/window_edges.h"
#include "metrics/analysis.h"

/* The number of earlier locks examined for each lock: without a bound, many shared locks of one window would take time
   by their square. Only a wait for a process that got the lock more than 64 locks earlier is missed. */
enum { HOLDERS = 64 };

/* Calls of an epoch, in order. */
enum lock_step { STEP_LOCK, STEP_ACCESS, STEP_FLUSH_LOCAL, STEP_FLUSH, STEP_UNLOCK, STEP_COUNT };

/* When the locks of a window are acquired: from the earliest that MPI may do it to the latest. */
enum acquiring { AT_LOCK, AT_ACCESS, AT_FLUSH, ACQUIRING_UNKNOWN };

struct lock_epoch {
    int32_t comm;
    uint32_t target, process;
    struct {
        uint32_t location, call; /* GRAPH_NONE: there is none */
    } steps[STEP_COUNT];
    uint32_t next_locked, next_accessed;
    bool exclusive, all;
    int64_t got_ns;              /* when it is acquired, at the latest */
    int64_t giving_ns, given_ns; /* enter and leave of the unlock */
};

/* Collecting */

static void set_step(struct lock_epoch *epoch, enum lock_step step, uint32_t location, uint32_t call)
{
    /* The first access, flush or unlock is the one that counts. */
    if (epoch->steps[step].call != GRAPH_NONE)
        return;
    epoch->steps[step].location = location;
    epoch->steps[step].call = call;
}

static struct lock_all *all_of(struct lock_collector *locks, uint32_t place)
{
    if (place >= locks->all_count) {
        /* Twice as many, so that the cost of growing is linear. */
        locks->alls = memory_resize(locks->alls, ((size_t)place + 1) * 2 * sizeof *locks->alls);
        for (; locks->all_count < ((size_t)place + 1) * 2; locks->all_count++)
            locks->alls[locks->all_count] = (struct lock_all){.location = GRAPH_NONE};
    }
    return &locks->alls[place];
}

static uint32_t add_epoch(struct lock_collector *locks, const struct lock_place *place, uint32_t location,
                          uint32_t call)
{
    struct lock_epoch epoch = {.comm = place->comm, .target = place->target, .process = place->process};
    for (int step = 0; step < STEP_COUNT; step++)
        epoch.steps[step].location = epoch.steps[step].call = GRAPH_NONE;
    set_step(&epoch, STEP_LOCK, location, call);
    ARRAY_PUSH(locks->epochs, locks->count, locks->capacity, epoch);
    *map_put(&locks->open, map_pair(place->place, place->target), 0) = locks->count;
    return (uint32_t)locks->count;
}

/* The open epoch; NULL: none. */
static struct lock_epoch *open_epoch(const struct lock_collector *locks, const struct lock_place *place)
{
    /* `open` keeps closed epochs with 0 instead of removing them: the same targets are locked again and again. */
    const uint64_t *at = locks->count ? map_find(&locks->open, map_pair(place->place, place->target)) : NULL;
    return at && *at ? &locks->epochs[*at - 1] : NULL;
}

void locks_take(struct lock_collector *locks, const struct lock_place *place, uint32_t location, uint32_t call,
                enum window_lock lock)
{
    if (lock == WINDOW_UNCHECKED)
        /* MPI_MODE_NOCHECK: the program promises that there is no conflicting lock, and the MPI acquires nothing. */
        return;
    uint32_t index = add_epoch(locks, place, location, call);
    locks->epochs[index - 1].exclusive = lock == WINDOW_EXCLUSIVE;
}

void locks_take_all(struct lock_collector *locks, uint32_t place, uint32_t location, uint32_t call,
                    enum window_lock lock)
{
    struct lock_all *all = all_of(locks, place);
    *all = (struct lock_all){.location = location, .call = call};
    if (lock == WINDOW_UNCHECKED)
        /* The same promise for all targets: accesses then open no epochs. */
        all->location = GRAPH_NONE;
}

void locks_access(struct lock_collector *locks, const struct lock_place *place, uint32_t location, uint32_t call)
{
    struct lock_epoch *epoch = open_epoch(locks, place);
    struct lock_all *all = place->place < locks->all_count ? &locks->alls[place->place] : NULL;
    /* MPI_Win_lock_all locks whoever is accessed: the epoch begins with the first access, but its lock was that
       call. */
    if (!epoch && all && all->location != GRAPH_NONE) {
        uint32_t index = add_epoch(locks, place, all->location, all->call);
        epoch = &locks->epochs[index - 1];
        epoch->all = true;
        epoch->next_locked = all->locked;
        all->locked = index;
    }
    /* Only the first access can have waited for the lock. */
    if (!epoch || epoch->steps[STEP_ACCESS].call != GRAPH_NONE)
        return;
    set_step(epoch, STEP_ACCESS, location, call);
    /* Makes the entry of the place, which it does not have if only MPI_Win_lock was called. */
    all = all_of(locks, place->place);
    epoch->next_accessed = all->accessed;
    all->accessed = (uint32_t)(epoch - locks->epochs) + 1;
}

static void flush(struct lock_epoch *epoch, uint32_t location, uint32_t call, bool locally)
{
    /* A flush before the first access completes nothing, so that it says nothing about the lock. */
    if (epoch->steps[STEP_ACCESS].call != GRAPH_NONE && epoch->steps[STEP_FLUSH].call == GRAPH_NONE &&
        epoch->steps[STEP_UNLOCK].call == GRAPH_NONE)
        set_step(epoch, locally ? STEP_FLUSH_LOCAL : STEP_FLUSH, location, call);
}

void locks_flush(struct lock_collector *locks, const struct lock_place *place, uint32_t location, uint32_t call,
                 bool locally)
{
    struct lock_epoch *epoch = open_epoch(locks, place);
    if (epoch)
        flush(epoch, location, call, locally);
}

void locks_flush_all(struct lock_collector *locks, uint32_t place, uint32_t location, uint32_t call, bool locally)
{
    if (place >= locks->all_count)
        return;
    for (uint32_t at = locks->alls[place].accessed; at; at = locks->epochs[at - 1].next_accessed) {
        struct lock_epoch *epoch = &locks->epochs[at - 1];
        if (locally && epoch->steps[STEP_FLUSH_LOCAL].call != GRAPH_NONE)
            break; /* so it was for those before */
        flush(epoch, location, call, locally);
    }
    /* A local flush does not prove that the target has the data: those accesses can still be flushed. */
    if (!locally)
        locks->alls[place].accessed = 0;
}

void locks_give(struct lock_collector *locks, const struct lock_place *place, uint32_t location, uint32_t call)
{
    struct lock_epoch *epoch = open_epoch(locks, place);
    if (!epoch)
        return;
    set_step(epoch, STEP_UNLOCK, location, call);
    /* MPI allows one epoch of a process for each target at a time: the next lock opens a new one. */
    *map_put(&locks->open, map_pair(place->place, place->target), 0) = 0;
}

void locks_give_all(struct lock_collector *locks, uint32_t place, uint32_t location, uint32_t call)
{
    if (place >= locks->all_count)
        return;
    for (uint32_t at = locks->alls[place].locked; at; at = locks->epochs[at - 1].next_locked) {
        struct lock_epoch *epoch = &locks->epochs[at - 1];
        set_step(epoch, STEP_UNLOCK, location, call);
        *map_put(&locks->open, map_pair(place, epoch->target), 0) = 0;
    }
    locks->alls[place] = (struct lock_all){.location = GRAPH_NONE};
}

/* When locks are acquired */

static struct call step_call(const struct graph *graph, const struct lock_epoch *epoch, enum lock_step step)
{
    return graph_call(graph, epoch->steps[step].location, epoch->steps[step].call);
}

/* If the trace does not record it: when it is released. */
static int64_t acquired_ns(const struct graph *graph, const struct lock_epoch *epoch, enum acquiring acquiring)
{
    static const uint8_t steps[] = {
        [AT_LOCK] = STEP_LOCK, [AT_ACCESS] = STEP_ACCESS, [AT_FLUSH] = STEP_FLUSH, [ACQUIRING_UNKNOWN] = STEP_UNLOCK};
    enum lock_step step = (enum lock_step)steps[acquiring];
    if (epoch->steps[step].call == GRAPH_NONE)
        step = STEP_UNLOCK;
    return step_call(graph, epoch, step).leave_ns;
}

static bool is_of_same(const struct lock_epoch *left, const struct lock_epoch *right)
{
    return left->comm == right->comm && left->target == right->target;
}

static int by_time(const void *a, const void *b)
{
    const struct lock_epoch *left = a, *right = b;
    int order = order_by(left->comm, right->comm);
    if (order == 0)
        order = order_by(left->target, right->target);
    if (order == 0)
        order = order_by(left->got_ns, right->got_ns);
    if (order == 0)
        order = order_by(left->steps[STEP_LOCK].location, right->steps[STEP_LOCK].location);
    return order ? order : order_by(left->steps[STEP_LOCK].call, right->steps[STEP_LOCK].call);
}

/* By window: how MPI_Win_lock acquires, and MPI_Win_lock_all. */
struct manner {
    uint8_t one, all; /* enum acquiring */
    bool one_is_later, all_is_later;
};

/* From its acquisition to its release no other process can hold the lock. False if it is only known to be acquired
   during the unlock: then there is no such time. */
static bool holds(const struct lock_epoch *epoch)
{
    return epoch->got_ns <= epoch->giving_ns;
}

/* Two locks contradict each other: assume first that MPI_Win_lock_all acquires later than supposed. Each
   step is to a later manner, so that locks_end comes to an end. */
static void note_contradiction(struct manner *manner, bool any_is_all)
{
    if (any_is_all && manner->all < ACQUIRING_UNKNOWN)
        manner->all_is_later = true;
    else
        manner->one_is_later = true;
}

/* Finds a lock that is acquired while another process holds a conflicting one, by more than the clock error: then this
   window's locks are not acquired that early. Epochs are sorted. */
static void find_contradictions(const struct lock_collector *locks, struct manner *manners, int64_t error_ns)
{
    /* Not the latest: an early lock that is held for long contradicts many that come and go meanwhile. */
    const struct lock_epoch *any = NULL, *alone = NULL; /* those before it that hold the lock longest */
    for (size_t i = 0; i < locks->count; i++) {
        const struct lock_epoch *epoch = &locks->epochs[i];
        if (i > 0 && !is_of_same(epoch, epoch - 1))
            any = alone = NULL;
        if (!holds(epoch))
            continue;
        /* An exclusive lock conflicts with all, a shared one only with exclusive ones. */
        const struct lock_epoch *against = epoch->exclusive ? any : alone;
        if (against && time_since(epoch->got_ns, against->giving_ns) > error_ns)
            note_contradiction(&manners[epoch->comm], epoch->all || against->all);
        if (!any || epoch->giving_ns > any->giving_ns)
            any = epoch;
        if (epoch->exclusive && (!alone || epoch->giving_ns > alone->giving_ns))
            alone = epoch;
    }
}

/* Applies the contradictions found; false: there were none. */
static bool acquire_later(struct manner *manners, size_t count)
{
    bool changed = false;
    for (size_t i = 0; i < count; i++) {
        struct manner *manner = &manners[i];
        bool one = manner->one_is_later && manner->one < ACQUIRING_UNKNOWN;
        changed |= one || manner->all_is_later;
        manner->one = (uint8_t)(manner->one + one);
        manner->all = (uint8_t)(manner->all + manner->all_is_later);
        manner->one_is_later = manner->all_is_later = false;
    }
    return changed;
}

static void sort_by_acquisition(struct lock_collector *locks, const struct graph *graph, const struct manner *manners)
{
    for (size_t i = 0; i < locks->count; i++) {
        struct lock_epoch *epoch = &locks->epochs[i];
        const struct manner *manner = &manners[epoch->comm];
        epoch->got_ns = acquired_ns(graph, epoch, (enum acquiring)(epoch->all ? manner->all : manner->one));
    }
    qsort(locks->epochs, locks->count, sizeof *locks->epochs, by_time);
}

/* Keeps the locks that are released. */
static void keep_whole(struct lock_collector *locks, const struct graph *graph)
{
    size_t count = 0;
    for (size_t i = 0; i < locks->count; i++) {
        /* Without its unlock it is unknown how long it was held, and a later lock cannot have waited for it in this
           trace. */
        struct lock_epoch *epoch = &locks->epochs[i];
        if (epoch->steps[STEP_UNLOCK].call == GRAPH_NONE)
            continue;
        struct call unlock = step_call(graph, epoch, STEP_UNLOCK);
        epoch->giving_ns = unlock.enter_ns;
        epoch->given_ns = unlock.leave_ns;
        locks->epochs[count++] = *epoch;
    }
    locks->count = count;
}

/* Waits between processes */

static bool conflict(const struct lock_epoch *left, const struct lock_epoch *right)
{
    return (left->exclusive || right->exclusive) && left->process != right->process;
}

/* An exclusive lock released before another process wanted it, by more than the clock error: no process that got it
   earlier still holds it, or the two would contradict each other. */
static bool ends_search(const struct lock_epoch *epoch, int64_t wanted_ns, int64_t error_ns)
{
    return epoch->exclusive && holds(epoch) && time_since(epoch->giving_ns, wanted_ns) > error_ns;
}

/* Among the epochs that got the lock before `mine` (epochs[0] to epochs[mine - 1]), before `mine` could have released
   it, and released it while `mine` wanted it: the last to release it; NULL if there is none. */
static const struct lock_epoch *holder_before(const struct lock_epoch *epochs, size_t mine, int64_t wanted_ns,
                                              int64_t error_ns)
{
    const struct lock_epoch *last = NULL, *me = &epochs[mine];
    for (size_t i = mine; i-- > 0 && mine - i <= HOLDERS && !ends_search(&epochs[i], wanted_ns, error_ns);) {
        const struct lock_epoch *other = &epochs[i];
        bool meets = holds(other) && other->got_ns <= me->giving_ns && conflict(other, me) &&
                     other->giving_ns > wanted_ns && other->giving_ns <= me->got_ns;
        if (meets && (!last || other->giving_ns > last->giving_ns))
            /* The holder that releases last is the one that let `mine` go on. */
            last = other;
    }
    return last;
}

/* Since when others held it while `mine` wanted it. */
static int64_t held_from_ns(const struct lock_epoch *epochs, size_t mine, int64_t wanted_ns, int64_t error_ns)
{
    size_t low = 0, high = mine; /* the first that got it later */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (epochs[middle].got_ns > wanted_ns)
            high = middle;
        else
            low = middle + 1;
    }
    /* Someone held it when it was wanted: then all of the time since was waiting for holders. */
    for (size_t i = low; i-- > 0 && low - i <= HOLDERS && !ends_search(&epochs[i], wanted_ns, error_ns);)
        if (holds(&epochs[i]) && conflict(&epochs[i], &epochs[mine]) && epochs[i].giving_ns > wanted_ns)
            return wanted_ns;
    /* Otherwise from the first acquisition by another that came later, while `mine` still had nothing. */
    while (low < mine && !(holds(&epochs[low]) && conflict(&epochs[low], &epochs[mine])))
        low++;
    return epochs[low].got_ns;
}

/* The call of the epoch during which the lock is released; STEP_COUNT: none. */
static enum lock_step waiting_step(const struct graph *graph, const struct lock_epoch *epoch, enum acquiring acquiring,
                                   int64_t given_ns)
{
    for (int step = 0; step < STEP_COUNT; step++) {
        /* An access waits for the lock only if it is what acquires; else it is a plain transfer. */
        bool waits = epoch->steps[step].call != GRAPH_NONE && (step != STEP_ACCESS || acquiring == AT_ACCESS);
        if (!waits)
            continue;
        struct call call = step_call(graph, epoch, (enum lock_step)step);
        if (call.enter_ns < given_ns && call.leave_ns >= given_ns)
            return (enum lock_step)step;
    }
    return STEP_COUNT;
}

static void connect(struct graph *graph, const struct lock_epoch *epochs, size_t mine, const struct manner *manner)
{
    const struct lock_epoch *me = &epochs[mine];
    enum acquiring acquiring = (enum acquiring)(me->all ? manner->all : manner->one);
    int64_t wanted_ns = step_call(graph, me, STEP_LOCK).enter_ns;
    const struct lock_epoch *holder = holder_before(epochs, mine, wanted_ns, graph->clock_error_ns);
    if (!holder || acquiring == ACQUIRING_UNKNOWN)
        return;
    enum lock_step step = waiting_step(graph, me, acquiring, holder->giving_ns);
    if (step == STEP_COUNT)
        return;
    window_edge_add(graph, (struct window_edge){.location = me->steps[step].location,
                                                .call = me->steps[step].call,
                                                .cause_location = holder->steps[STEP_UNLOCK].location,
                                                .cause_call = holder->steps[STEP_UNLOCK].call,
                                                .from_ns = held_from_ns(epochs, mine, wanted_ns, graph->clock_error_ns),
                                                .kind = WAIT_LOCK_CONTENTION,
                                                .after = true});
}

void locks_end(struct lock_collector *locks, struct graph *graph)
{
    if (locks->count == 0) {
        free(locks->alls);
        return;
    }
    struct manner *manners = memory_new(graph->defs->comm_count * sizeof *manners);
    keep_whole(locks, graph);
    /* Each round moves every contradicted window one manner later, of three for each kind of lock: at most seven
       rounds. */
    do {
        sort_by_acquisition(locks, graph, manners);
        find_contradictions(locks, manners, graph->clock_error_ns);
    } while (acquire_later(manners, graph->defs->comm_count));
    /* Epochs of a window and target are in a row; `connect` sees only these. */
    for (size_t i = 0, first = 0; i < locks->count; i++) {
        if (!is_of_same(&locks->epochs[i], &locks->epochs[first]))
            first = i;
        connect(graph, &locks->epochs[first], i - first, &manners[locks->epochs[i].comm]);
    }
    free(manners);
    free(locks->epochs);
    free(locks->alls);
    map_clear(&locks->open);
}
