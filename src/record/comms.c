/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/comms.h"

#include "record/clock.h"
#include "record/recorder.h"
#include "record/table.h"
#include "record/topology.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The data of a communicator besides its handle. */
struct comm_facts {
    uint64_t key, members; /* members: hash of their world ranks, in order */
    uint32_t size, remote_size;
    int32_t rank;
    uint32_t side, kin;
    MPI_Comm handle; /* of a window: of its communicator */
    bool window;
    bool unknown; /* it only has a number */
};

/* When a call was made, on CLOCK_MONOTONIC. */
struct span {
    int64_t since_ns, until_ns;
};

/* The frame that identifies members: the processes of the program, or those of both sides of a communicator. */
struct frame {
    MPI_Group sides[2]; /* the second may be MPI_GROUP_NULL */
};
enum { SECOND_SIDE = 1 << 30 };

/* One for the process: numbers are shared by its threads, so that the same communicator has one number in all
   locations. */
static struct {
    pthread_mutex_t lock;
    struct table numbers;     /* handle -> number + 1 */
    struct table namesakes;   /* (parent, members) -> how many there were */
    struct comm_facts *facts; /* by number */
    uint32_t count, capacity;
    uint32_t freed; /* number of forgotten handles: a location's cached communicator is valid until the next one */
    MPI_Group world;
} comms = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void comms_lock(void)
{
    /* Only MPI_THREAD_MULTIPLE lets two threads be here at once: other programs pay nothing. */
    if (recorder.threaded)
        pthread_mutex_lock(&comms.lock);
}

static void comms_unlock(void)
{
    if (recorder.threaded)
        pthread_mutex_unlock(&comms.lock);
}

/* The input is small numbers: every bit must affect all others, or communicators would be confused. */
static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = hash * UINT64_C(0x9E3779B97F4A7C15) + value + UINT64_C(0x632BE59BD9B4E019);
    hash = (hash ^ hash >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    hash = (hash ^ hash >> 27) * UINT64_C(0x94D049BB133111EB);
    return hash ^ hash >> 31;
}

/* Ranks of all of a group in the frame; MPI_UNDEFINED where they are not in it. */
static int *ranks_in(const struct frame *frame, MPI_Group group, int count)
{
    /* One array with three parts: the ranks, and what they are in the frame's two sides. */
    int *ranks = malloc(3 * sizeof *ranks * (size_t)count);
    if (!ranks)
        return NULL;
    int *first = ranks + count, *second = first + count;
    for (int i = 0; i < count; i++) {
        ranks[i] = i;
        second[i] = MPI_UNDEFINED;
    }
    PMPI_Group_translate_ranks(group, count, ranks, frame->sides[0], first);
    if (frame->sides[1] != MPI_GROUP_NULL)
        PMPI_Group_translate_ranks(group, count, ranks, frame->sides[1], second);
    for (int i = 0; i < count; i++) {
        ranks[i] = MPI_UNDEFINED;
        if (first[i] != MPI_UNDEFINED)
            ranks[i] = first[i];
        else if (second[i] != MPI_UNDEFINED)
            ranks[i] = second[i] + SECOND_SIDE;
    }
    return ranks;
}

/* Hash of the members in order; the lowest of them; and whether some are not in the frame. */
static uint64_t group_members(MPI_Group group, const struct frame *frame, uint32_t *size, int *lowest, bool *strangers)
{
    int count = 0;
    PMPI_Group_size(group, &count);
    *size = (uint32_t)count;
    *lowest = -1;
    if (count == 0)
        return 0;
    *lowest = INT32_MAX;
    int *ranks = ranks_in(frame, group, count);
    if (!ranks)
        return 0;
    uint64_t hash = (uint64_t)count;
    for (int i = 0; i < count; i++) {
        hash = mix(hash, (uint64_t)(uint32_t)ranks[i]);
        if (ranks[i] < *lowest)
            *lowest = ranks[i];
        *strangers |= ranks[i] == MPI_UNDEFINED;
    }
    free(ranks);
    return hash;
}

/* True if all members are in the frame. */
static bool facts_look(struct comm_facts *facts, MPI_Comm comm, const struct frame *frame)
{
    MPI_Group group;
    int rank = 0, inter = 0, lowest, remote_lowest;
    bool strangers = false;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_test_inter(comm, &inter);
    PMPI_Comm_group(comm, &group);
    facts->rank = rank;
    facts->members = group_members(group, frame, &facts->size, &lowest, &strangers);
    PMPI_Group_free(&group);
    if (!inter)
        return !strangers;
    PMPI_Comm_remote_group(comm, &group);
    uint64_t remote = group_members(group, frame, &facts->remote_size, &remote_lowest, &strangers);
    PMPI_Group_free(&group);
    /* Both sides must come to the same answer, without a message: the one with the lower rank is the first. */
    facts->side = lowest > remote_lowest;
    facts->members = facts->side ? mix(remote, facts->members) : mix(facts->members, remote);
    return !strangers;
}

/* The same in the frame of a parent that has members of another program. */
static bool facts_look_from(struct comm_facts *facts, MPI_Comm comm, const struct comm_facts *parent)
{
    struct frame frame = {.sides = {MPI_GROUP_NULL, MPI_GROUP_NULL}};
    MPI_Group *local = &frame.sides[parent->remote_size ? parent->side & 1 : 0];
    MPI_Group *remote = &frame.sides[parent->side & 1 ? 0 : 1];
    PMPI_Comm_group(parent->handle, local);
    if (parent->remote_size)
        PMPI_Comm_remote_group(parent->handle, remote);
    bool known = facts_look(facts, comm, &frame);
    PMPI_Group_free(local);
    if (parent->remote_size)
        PMPI_Group_free(remote);
    return known;
}

/* Members of other programs are identified by how the communicator was derived from the one by which the programs met.
 */
static enum record_kin kin_of(struct comm_facts *facts, MPI_Comm comm, uint32_t parent)
{
    bool meeting = parent < comms.count && comms.facts[parent].kin != RECORD_OWN;
    if (facts_look(facts, comm, &(struct frame){.sides = {comms.world, MPI_GROUP_NULL}}))
        return RECORD_OWN;
    return meeting && facts_look_from(facts, comm, &comms.facts[parent]) ? RECORD_OF_PARENT : RECORD_STRANGE;
}

/* How many communicators of such a family there were before. */
static uint64_t namesakes(uint64_t family)
{
    /* 0 is no key of the table. */
    uint64_t *before = table_put(&comms.namesakes, family | 1);
    return before ? (*before)++ : 0;
}

/* The key of the parent, if all members know it: both sides of an inter-communicator may have made it from different
   ones, unless that was an inter-communicator as well. */
static uint64_t shared_parent(const struct comm_facts *facts, uint32_t parent)
{
    if (parent >= comms.count || (facts->remote_size > 0 && comms.facts[parent].remote_size == 0))
        return 0;
    return comms.facts[parent].key;
}

/* The key, which every member computes alike without communicating: communicators are made by all members in the same
   order, so that how many of these members the parent had before is the same everywhere, and is part of the key.
   Threads may make several at once, in any order, if they name them: `name` is 0 or the same in all members. Programs
   know different keys of a parent that they share. */
static void facts_key(struct comm_facts *facts, uint32_t parent, uint64_t name)
{
    uint64_t members = name ? mix(facts->members, name) : facts->members;
    if (facts->kin == RECORD_OF_PARENT) {
        facts->key = mix(members, namesakes(mix((uint64_t)parent + 1, members)));
        return;
    }
    uint64_t family = mix(shared_parent(facts, parent), members) | 1;
    facts->key = mix(family, namesakes(family));
}

static void facts_define(struct location *location, const struct comm_facts *facts, uint32_t number, uint32_t parent,
                         struct span made)
{
    struct record_comm record = {.base = {.ticks = clock_now()},
                                 .key = facts->key,
                                 .parent = parent,
                                 .size = facts->size,
                                 .remote_size = facts->remote_size,
                                 .rank = facts->rank,
                                 .side = (uint16_t)facts->side,
                                 .window = facts->window,
                                 .kin = facts->kin,
                                 .since_ns = made.since_ns,
                                 .until_ns = made.until_ns};
    location_define(location, &record, sizeof record, RECORD_COMM, number);
}

/* A number for the handle; RECORD_COMM_NONE without memory. */
static uint32_t number_new(uintptr_t handle)
{
    if (comms.count == comms.capacity) {
        uint32_t capacity = 16;
        if (comms.capacity > 0)
            capacity = 2 * comms.capacity;
        struct comm_facts *larger = realloc(comms.facts, capacity * sizeof *larger);
        if (!larger)
            return RECORD_COMM_NONE;
        comms.facts = larger;
        comms.capacity = capacity;
    }
    uint32_t number = comms.count++;
    uint64_t *value = table_put(&comms.numbers, handle);
    if (value)
        *value = number + 1;
    comms.facts[number] = (struct comm_facts){.unknown = true};
    return number;
}

static uint32_t facts_keep(struct location *location, const struct comm_facts *facts, uintptr_t handle, uint32_t parent,
                           struct span made)
{
    uint32_t number = number_new(handle);
    if (number == RECORD_COMM_NONE)
        return number;
    comms.facts[number] = *facts;
    facts_define(location, facts, number, parent, made);
    return number;
}

static uint32_t facts_add(struct location *location, const struct comm_facts *facts, MPI_Comm comm, uint32_t parent,
                          struct span made)
{
    struct comm_facts own = *facts;
    own.handle = comm;
    return facts_keep(location, &own, HANDLE_NUMBER(comm), parent, made);
}

static uint32_t comm_add(struct location *location, uint32_t parent, uint64_t name, MPI_Comm comm)
{
    struct comm_facts facts = {0};
    facts.kin = kin_of(&facts, comm, parent);
    facts_key(&facts, parent, name);
    uint32_t number = facts_add(location, &facts, comm, parent, (struct span){0});
    /* Topologies of inter-communicators do not exist. */
    if (facts.remote_size == 0)
        topology_record(location, number, comm);
    return number;
}

/* World and self are recognised by their members: in a program with sessions they cannot be queried. */
static void group_add(struct location *location, MPI_Group group, int rank, MPI_Comm comm)
{
    struct comm_facts facts = {.rank = rank};
    struct frame world = {.sides = {comms.world, MPI_GROUP_NULL}};
    int lowest;
    bool strangers;
    facts.members = group_members(group, &world, &facts.size, &lowest, &strangers);
    facts_key(&facts, RECORD_COMM_NONE, 0);
    facts_add(location, &facts, comm, RECORD_COMM_NONE, (struct span){0});
}

void comms_start(struct location *location, MPI_Group world)
{
    MPI_Group self;
    comms.world = world;
    group_add(location, world, recorder.rank, MPI_COMM_WORLD);
    PMPI_Group_incl(world, 1, &recorder.rank, &self);
    group_add(location, self, 0, MPI_COMM_SELF);
    PMPI_Group_free(&self);
}

void comms_resume(MPI_Group world)
{
    comms.world = world;
}

MPI_Group comms_world(void)
{
    return comms.world;
}

void comms_finish(void)
{
    PMPI_Group_free(&comms.world);
}

/* True while a callback of the call that frees it may still use it. */
static bool is_freeing(const struct location *location, uintptr_t handle)
{
    return handle != 0 && location->freeing.handle == handle && location->freeing.number != RECORD_COMM_NONE;
}

uint32_t comm_number_of_other(struct location *location, MPI_Comm comm, bool *new)
{
    /* Without the lock: both fields belong to this thread, and `freed` only grows. A handle freed by another thread
       just now is a race of the program itself. */
    if (location->last_comm == HANDLE_NUMBER(comm) && location->last_comm_freed == comms.freed)
        return location->last_comm_number;
    if (comm == MPI_COMM_NULL)
        return RECORD_WORLD;
    comms_lock();
    const uint64_t *known = table_find(&comms.numbers, HANDLE_NUMBER(comm));
    if (!known && is_freeing(location, HANDLE_NUMBER(comm))) {
        comms_unlock();
        return location->freeing.number;
    }
    /* First the number only: MPI must not be asked about the handle before the program's own call has accepted it
       (comm_look). */
    uint32_t number = known ? (uint32_t)*known - 1 : number_new(HANDLE_NUMBER(comm));
    *new = number < comms.count &&comms.facts[number].unknown;
    if (!*new) {
        location->last_comm = HANDLE_NUMBER(comm);
        location->last_comm_freed = comms.freed;
        location->last_comm_number = number;
    }
    comms_unlock();
    return number;
}

/* False in callbacks of MPI_Finalize: what they make is not known. */
static bool has_world(void)
{
    return comms.world != MPI_GROUP_NULL;
}

/* True for a number that still belongs only to this handle. */
static bool is_unknown(uint32_t number, uintptr_t handle)
{
    const uint64_t *known = table_find(&comms.numbers, handle);
    return known && *known == (uint64_t)number + 1 && comms.facts[number].unknown;
}

void comm_look(struct location *location, uint32_t number, MPI_Comm comm)
{
    struct comm_facts facts = {.handle = comm};
    comms_lock();
    if (has_world() && is_unknown(number, HANDLE_NUMBER(comm))) {
        facts.kin = kin_of(&facts, comm, RECORD_COMM_NONE);
        facts_key(&facts, RECORD_COMM_NONE, 0);
        comms.facts[number] = facts;
        facts_define(location, &facts, number, RECORD_COMM_NONE, (struct span){0});
        if (facts.remote_size == 0)
            topology_record(location, number, comm);
    }
    comms_unlock();
}

void comm_drop(uint32_t number, MPI_Comm comm)
{
    comms_lock();
    if (is_unknown(number, HANDLE_NUMBER(comm))) {
        table_remove(&comms.numbers, HANDLE_NUMBER(comm));
        /* The number can be given again, if it was the last: only the call that failed has it. */
        comms.count -= number + 1 == comms.count;
    }
    comms_unlock();
}

uint64_t comm_name_of_tag(int tag)
{
    return (uint64_t)(uint32_t)tag + 1;
}

uint64_t comm_name_of_text(const char *text)
{
    uint64_t name = 1;
    while (*text)
        name = mix(name, (unsigned char)*text++);
    return name | 1;
}

void comm_made(struct location *location, uint32_t parent, uint64_t name, MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL || !has_world())
        return;
    comms_lock();
    comm_add(location, parent, name, comm);
    comms.freed++; /* a location may remember an older communicator of this handle that was freed unseen */
    comms_unlock();
}

void comm_met(struct location *location, MPI_Comm comm, enum record_kin kin, int64_t since_ns)
{
    struct comm_facts facts = {0};
    if (comm == MPI_COMM_NULL || !has_world())
        return;
    comms_lock();
    if (kin_of(&facts, comm, RECORD_COMM_NONE) != RECORD_OWN) {
        facts.kin = kin;
        facts.side = kin == RECORD_PARENT || kin == RECORD_CONNECTED;
        if (location->header)
            location->header->linked = 1;
    }
    facts_key(&facts, RECORD_COMM_NONE, 0);
    facts_add(location, &facts, comm, RECORD_COMM_NONE, (struct span){since_ns, clock_ns()});
    comms.freed++;
    comms_unlock();
}

void comm_promised(struct location *location, uint32_t parent, MPI_Comm of, MPI_Comm comm)
{
    comms_lock();
    if (parent < comms.count) {
        struct comm_facts facts = comms.facts[parent];
        if (facts.kin != RECORD_OWN) {
            /* Members of another program cannot be named the same way on both sides. */
            facts.kin = RECORD_OF_PARENT;
            facts.members = 0; /* all: both sides must say the same */
        }
        facts_key(&facts, parent, 0);
        uint32_t number = facts_add(location, &facts, comm, parent, (struct span){0});
        if (facts.remote_size == 0)
            topology_record(location, number, of);
        comms.freed++;
    }
    comms_unlock();
}

static struct freed_handle forget(uintptr_t handle)
{
    struct freed_handle freed = {.handle = handle, .number = RECORD_COMM_NONE};
    comms_lock();
    const uint64_t *known = table_find(&comms.numbers, handle);
    if (known) {
        freed.number = (uint32_t)*known - 1;
        table_remove(&comms.numbers, handle);
        comms.freed++;
    }
    comms_unlock();
    location_mine->freeing = freed;
    return freed;
}

struct freed_handle comm_forget(const MPI_Comm *comm)
{
    return forget(comm ? HANDLE_NUMBER(*comm) : HANDLE_NUMBER(MPI_COMM_NULL));
}

void handle_freed(struct location *location, struct freed_handle freed)
{
    location->freeing.handle = 0;
    if (freed.number != RECORD_COMM_NONE)
        location_put(location, RECORD_COMM_FREED, clock_now(), 0, freed.number);
}

void handle_kept(struct freed_handle freed)
{
    location_mine->freeing.handle = 0;
    if (freed.number == RECORD_COMM_NONE)
        return;
    comms_lock();
    uint64_t *value = table_put(&comms.numbers, freed.handle);
    if (value)
        *value = (uint64_t)freed.number + 1;
    comms_unlock();
}

void window_made(struct location *location, uint32_t parent, MPI_Win win)
{
    comms_lock();
    if (parent < comms.count) {
        struct comm_facts facts = comms.facts[parent];
        facts.window = true;
        facts_key(&facts, parent, 0);
        facts_keep(location, &facts, HANDLE_NUMBER(win), parent, (struct span){0});
        comms.freed++;
    }
    comms_unlock();
}

uint32_t window_number(struct location *location, MPI_Win win)
{
    if (location->last_comm == HANDLE_NUMBER(win) && location->last_comm_freed == comms.freed)
        return location->last_comm_number;
    comms_lock();
    const uint64_t *known = table_find(&comms.numbers, HANDLE_NUMBER(win));
    if (known) {
        location->last_comm = HANDLE_NUMBER(win);
        location->last_comm_freed = comms.freed;
        location->last_comm_number = (uint32_t)*known - 1;
    }
    uint32_t number = known ? location->last_comm_number : RECORD_WORLD;
    if (!known && is_freeing(location, HANDLE_NUMBER(win)))
        number = location->freeing.number;
    comms_unlock();
    return number;
}

struct freed_handle window_forget(const MPI_Win *win)
{
    return forget(win ? HANDLE_NUMBER(*win) : HANDLE_NUMBER(MPI_WIN_NULL));
}
