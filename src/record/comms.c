/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/comms.h"

#include "record/clock.h"
#include "record/recorder.h"
#include "record/table.h"
#include "record/topology.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* What is known of a communicator besides its handle. */
struct comm_facts {
    uint64_t key, members; /* members: hash of their world ranks, in order */
    uint32_t size, remote_size;
    int32_t rank;
    uint32_t side, foreign;
};

static struct {
    pthread_mutex_t lock;
    struct table numbers;     /* handle -> number + 1 */
    struct table namesakes;   /* (parent, members) -> how many there were */
    struct comm_facts *facts; /* by number */
    uint32_t count, capacity;
    uint32_t freed; /* how many handles were forgotten: what a lane remembers is valid until the next one */
    MPI_Group world;
} comms = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void comms_lock(void)
{
    if (recorder.threaded)
        pthread_mutex_lock(&comms.lock);
}

static void comms_unlock(void)
{
    if (recorder.threaded)
        pthread_mutex_unlock(&comms.lock);
}

/* Small numbers are what comes in: every bit must reach all others, or communicators would be taken for one another. */
static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = hash * UINT64_C(0x9E3779B97F4A7C15) + value + UINT64_C(0x632BE59BD9B4E019);
    hash = (hash ^ hash >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    hash = (hash ^ hash >> 27) * UINT64_C(0x94D049BB133111EB);
    return hash ^ hash >> 31;
}

/* Hash of the members' world ranks; the lowest of them; and whether some are of another world. */
static uint64_t group_members(MPI_Group group, uint32_t *size, int *lowest, uint32_t *foreign)
{
    int count = 0;
    PMPI_Group_size(group, &count);
    *size = (uint32_t)count;
    *lowest = count ? INT32_MAX : -1;
    int *ranks = count ? malloc(2 * sizeof *ranks * (size_t)count) : NULL;
    if (!ranks)
        return 0;
    for (int i = 0; i < count; i++)
        ranks[i] = i;
    PMPI_Group_translate_ranks(group, count, ranks, comms.world, ranks + count);
    uint64_t hash = (uint64_t)count;
    for (int i = count; i < 2 * count; i++) {
        hash = mix(hash, (uint64_t)(uint32_t)ranks[i]);
        *lowest = ranks[i] < *lowest ? ranks[i] : *lowest;
        *foreign |= ranks[i] == MPI_UNDEFINED;
    }
    free(ranks);
    return hash;
}

static void facts_look(struct comm_facts *facts, MPI_Comm comm)
{
    MPI_Group group;
    int rank = 0, inter = 0, lowest, remote_lowest;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_test_inter(comm, &inter);
    PMPI_Comm_group(comm, &group);
    facts->rank = rank;
    facts->members = group_members(group, &facts->size, &lowest, &facts->foreign);
    PMPI_Group_free(&group);
    if (!inter)
        return;
    PMPI_Comm_remote_group(comm, &group);
    uint64_t remote = group_members(group, &facts->remote_size, &remote_lowest, &facts->foreign);
    PMPI_Group_free(&group);
    /* Both sides must come to the same answer. */
    facts->side = lowest > remote_lowest;
    facts->members = facts->side ? mix(remote, facts->members) : mix(facts->members, remote);
}

/* The key: how many communicators of these members the parent had before is part of it. Both sides of an
   inter-communicator may know different parents. */
static void facts_key(struct comm_facts *facts, uint32_t parent)
{
    uint64_t of = parent < comms.count && facts->remote_size == 0 ? comms.facts[parent].key : 0;
    uint64_t family = mix(of, facts->members) | 1;
    uint64_t *before = table_put(&comms.namesakes, family);
    facts->key = mix(family, before ? (*before)++ : 0);
}

static void facts_define(struct lane *lane, const struct comm_facts *facts, uint32_t number, uint32_t parent)
{
    struct record_comm record = {.base = {.ticks = clock_now()},
                                 .key = facts->key,
                                 .parent = parent,
                                 .size = facts->size,
                                 .remote_size = facts->remote_size,
                                 .rank = facts->rank,
                                 .side = facts->side,
                                 .foreign = facts->foreign};
    lane_define(lane, &record, sizeof record, RECORD_COMM, number);
}

static uint32_t facts_add(struct lane *lane, const struct comm_facts *facts, MPI_Comm comm, uint32_t parent)
{
    if (comms.count == comms.capacity) {
        uint32_t capacity = comms.capacity ? 2 * comms.capacity : 16;
        struct comm_facts *larger = realloc(comms.facts, capacity * sizeof *larger);
        if (!larger)
            return RECORD_COMM_NONE;
        comms.facts = larger;
        comms.capacity = capacity;
    }
    uint32_t number = comms.count++;
    comms.facts[number] = *facts;
    uint64_t *value = table_put(&comms.numbers, HANDLE_NUMBER(comm));
    if (value)
        *value = number + 1;
    facts_define(lane, facts, number, parent);
    return number;
}

static uint32_t comm_add(struct lane *lane, uint32_t parent, MPI_Comm comm)
{
    struct comm_facts facts = {0};
    facts_look(&facts, comm);
    facts_key(&facts, parent);
    uint32_t number = facts_add(lane, &facts, comm, parent);
    if (facts.remote_size == 0)
        topology_tell(lane, number, comm);
    return number;
}

/* World and self are told by their members: in a program of sessions they cannot be asked. */
static void group_add(struct lane *lane, MPI_Group group, int rank, MPI_Comm comm)
{
    struct comm_facts facts = {.rank = rank};
    int lowest;
    facts.members = group_members(group, &facts.size, &lowest, &facts.foreign);
    facts_key(&facts, RECORD_COMM_NONE);
    facts_add(lane, &facts, comm, RECORD_COMM_NONE);
}

void comms_start(struct lane *lane, MPI_Group world)
{
    MPI_Group self;
    comms.world = world;
    group_add(lane, world, recorder.rank, MPI_COMM_WORLD);
    PMPI_Group_incl(world, 1, &recorder.rank, &self);
    group_add(lane, self, 0, MPI_COMM_SELF);
    PMPI_Group_free(&self);
}

void comms_resume(MPI_Group world)
{
    comms.world = world;
}

void comms_finish(void)
{
    PMPI_Group_free(&comms.world);
}

uint32_t comm_number(struct lane *lane, MPI_Comm comm)
{
    if (comm == MPI_COMM_WORLD)
        return RECORD_WORLD;
    if (lane->last_comm == HANDLE_NUMBER(comm) && lane->last_comm_freed == comms.freed)
        return lane->last_comm_number;
    if (comm == MPI_COMM_NULL)
        return RECORD_WORLD;
    comms_lock();
    const uint64_t *known = table_find(&comms.numbers, HANDLE_NUMBER(comm));
    uint32_t number = known ? (uint32_t)*known - 1 : comm_add(lane, RECORD_COMM_NONE, comm);
    lane->last_comm = HANDLE_NUMBER(comm);
    lane->last_comm_freed = comms.freed;
    lane->last_comm_number = number;
    comms_unlock();
    return number;
}

void comm_made(struct lane *lane, uint32_t parent, MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL)
        return;
    comms_lock();
    comm_add(lane, parent, comm);
    comms.freed++; /* a lane may remember an older communicator of this handle that was freed unseen */
    comms_unlock();
}

void comm_promised(struct lane *lane, uint32_t parent, MPI_Comm of, MPI_Comm comm)
{
    comms_lock();
    if (parent < comms.count) {
        struct comm_facts facts = comms.facts[parent];
        facts_key(&facts, parent);
        uint32_t number = facts_add(lane, &facts, comm, parent);
        if (facts.remote_size == 0)
            topology_tell(lane, number, of);
        comms.freed++;
    }
    comms_unlock();
}

void comm_freed(struct lane *lane, MPI_Comm comm)
{
    comms_lock();
    const uint64_t *known = table_find(&comms.numbers, HANDLE_NUMBER(comm));
    if (known) {
        lane_put(lane, RECORD_COMM_FREED, clock_now(), 0, (uint32_t)*known - 1);
        table_remove(&comms.numbers, HANDLE_NUMBER(comm));
        comms.freed++;
    }
    comms_unlock();
}
