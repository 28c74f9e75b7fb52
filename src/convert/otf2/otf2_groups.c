/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of location groups, and ranks of communicators. */
#include "convert/otf2/otf2_defs.h"
#include "convert/otf2/otf2_properties.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct otf2_group *group_of(const struct otf2_defs *otf2, OTF2_GroupType type, OTF2_GroupRef id)
{
    uint32_t index = otf2_index(&otf2->group_ids, map_pair(type, id));
    if (index == OTF2_NONE)
        return NULL;
    return &otf2->group[index];
}

/* The locations of MPI's ranks; NULL if the archive does not have them. The longest: an archive whose definitions are
   those of each process, put together, may have several. */
static const struct otf2_group *mpi_locations(const struct otf2_defs *otf2)
{
    const struct otf2_group *found = NULL;
    for (size_t i = 0; i < otf2->group_count; i++) {
        const struct otf2_group *group = &otf2->group[i];
        if (group->type == OTF2_GROUP_TYPE_COMM_LOCATIONS && group->paradigm == OTF2_PARADIGM_MPI &&
            (!found || group->count > found->count))
            found = group;
    }
    return found;
}

/* World ranks: of MPI's list of locations; else of the numbers in the groups' names ("MPI Rank 3", "P#3"); else of
   the order of definition. Those of accelerators are their creators'. */
static void rank_by_locations(struct otf2_defs *otf2, const struct otf2_group *ranks)
{
    for (uint32_t rank = 0; rank < ranks->count; rank++) {
        uint32_t location = otf2_index(&otf2->location_ids, ranks->members[rank]);
        if (location == OTF2_NONE)
            continue;
        /* A process that is named twice keeps its first rank. */
        uint32_t process = otf2_index(&otf2->process_ids, otf2->location[location].group);
        if (process != OTF2_NONE && otf2->process[process].rank == OTF2_NONE)
            otf2->process[process].rank = rank;
    }
}

/* The name must end with its number: "node17 rank 3" has none, since 17 is that of a machine. */
static bool number_in(const char *name, uint32_t *number)
{
    const char *digits = name ? strpbrk(name, "0123456789") : NULL;
    char *end;
    if (!digits)
        return false;
    unsigned long value = strtoul(digits, &end, 10);
    *number = (uint32_t)value;
    return !*end && value < PROCESS_LIMIT;
}

struct named_process {
    uint32_t number, process;
};

static int compare_numbers(const void *a, const void *b)
{
    return order_by(((const struct named_process *)a)->number, ((const struct named_process *)b)->number);
}

/* Processes with the numbers in their names, ascending; false: not all have one of their own. */
static bool number_names(const struct otf2_defs *otf2, struct named_process *named, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < otf2->process_count; i++) {
        if (otf2->process[i].type != OTF2_LOCATION_GROUP_TYPE_PROCESS)
            continue;
        named[*count].process = (uint32_t)i;
        if (!number_in(otf2_string(otf2, otf2->process[i].name), &named[(*count)++].number))
            return false;
    }
    qsort(named, *count, sizeof *named, compare_numbers);
    for (size_t i = 1; i < *count; i++)
        if (named[i].number == named[i - 1].number)
            return false;
    return *count > 0;
}

/* Either all names give distinct numbers, or none is trusted. With much room between them they are only an order, as
   those of the processes that a part of a run was recorded of. */
static void rank_by_names(struct otf2_defs *otf2)
{
    size_t count;
    struct named_process *named = memory_new((otf2->process_count + 1) * sizeof *named);
    if (number_names(otf2, named, &count)) {
        bool dense = named[count - 1].number < otf2->process_count;
        for (size_t i = 0; i < count; i++)
            otf2->process[named[i].process].rank = dense ? named[i].number : (uint32_t)i;
    }
    free(named);
}

/* Processes outside MPI's list (a daemon of the recorder) get the ranks above it. An accelerator is no process: its
   streams are locations of the process that created it. */
static void rank_others(struct otf2_defs *otf2)
{
    uint32_t next = 0;
    for (size_t i = 0; i < otf2->process_count; i++)
        if (otf2->process[i].rank != OTF2_NONE && otf2->process[i].rank >= next)
            next = otf2->process[i].rank + 1;
    for (size_t i = 0; i < otf2->process_count; i++) {
        struct otf2_process *process = &otf2->process[i];
        uint32_t creator = otf2_index(&otf2->process_ids, process->creator);
        if (process->rank != OTF2_NONE)
            continue;
        bool owned = process->type == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR && creator != OTF2_NONE &&
                     otf2->process[creator].rank != OTF2_NONE;
        process->rank = owned ? otf2->process[creator].rank : next++;
    }
    otf2->defs->processes = next;
}

/* The machine that a process ran on: the name of the nearest node of the system tree whose class is a machine. */
static const char *host_of(const struct otf2_defs *otf2, OTF2_SystemTreeNodeRef node)
{
    const char *nearest = NULL;
    /* Trees have machine, rack, node, socket at most; more is a circle. */
    for (unsigned depth = 0; depth < 16; depth++) {
        uint32_t index = otf2_index(&otf2->host_ids, node);
        if (index == OTF2_NONE)
            break;
        const char *class = otf2_string(otf2, otf2->host[index].class);
        const char *name = otf2_string(otf2, otf2->host[index].name);
        if (class && strcasecmp(class, "node") == 0)
            return name && strcmp(name, OTF2_UNKNOWN_HOST) == 0 ? NULL : name;
        nearest = nearest ? nearest : name;
        node = otf2->host[index].parent;
    }
    return nearest;
}

static bool is_rank_location(const struct otf2_group *ranks, uint32_t rank, OTF2_LocationRef id)
{
    return ranks && rank < ranks->count && ranks->members[rank] == id;
}

static void add_location(struct otf2_defs *otf2, struct otf2_location_def *location)
{
    static const enum location_kind kinds[] = {[OTF2_LOCATION_TYPE_UNKNOWN] = LOCATION_THREAD,
                                               [OTF2_LOCATION_TYPE_CPU_THREAD] = LOCATION_THREAD,
                                               [OTF2_LOCATION_TYPE_ACCELERATOR_STREAM] = LOCATION_STREAM,
                                               [OTF2_LOCATION_TYPE_METRIC] = LOCATION_METRIC};
    uint32_t process = otf2_index(&otf2->process_ids, location->group);
    struct location_def ours = {.process = location->process,
                                .thread = location->thread,
                                .kind = LOCATION_THREAD,
                                .id = location->id,
                                .name = (char *)(uintptr_t)otf2_string(otf2, location->name)};
    /* Later versions of the format may have more types than this table. */
    if (location->type < sizeof kinds / sizeof *kinds)
        ours.kind = kinds[location->type];
    if (process != OTF2_NONE) {
        ours.process_name = (char *)(uintptr_t)otf2_string(otf2, otf2->process[process].name);
        ours.host = (char *)(uintptr_t)host_of(otf2, otf2->process[process].host);
    }
    defs_add_location(otf2->defs, &ours);
    if (location->thread >= otf2->defs->threads)
        otf2->defs->threads = location->thread + 1;
}

/* Threads of a process are numbered in the order of their definition, but that the one MPI names is the first, and
   those that hold only counters are the last. */
static void number_threads(struct otf2_defs *otf2, const struct otf2_group *ranks)
{
    uint32_t *next = memory_new((otf2->defs->processes + 1) * sizeof *next);
    /* Thread 0 is where MPI is called in nearly all programs, and Score-P's "per process metrics" must not take its
       place. */
    for (int pass = 0; pass < 3; pass++)
        for (size_t i = 0; i < otf2->location_count; i++) {
            struct otf2_location_def *location = &otf2->location[i];
            uint32_t group = otf2_index(&otf2->process_ids, location->group);
            uint32_t rank = group == OTF2_NONE ? otf2->defs->processes : otf2->process[group].rank;
            int turn = 1;
            if (location->type == OTF2_LOCATION_TYPE_METRIC)
                turn = 2;
            else if (group != OTF2_NONE && is_rank_location(ranks, rank, location->id))
                turn = 0;
            if (turn != pass)
                continue;
            location->process = rank;
            location->thread = next[rank]++;
            add_location(otf2, location);
        }
    /* Locations without a group are a process of their own. */
    otf2->defs->processes += next[otf2->defs->processes] > 0;
    free(next);
}

void otf2_make_processes(struct otf2_defs *otf2)
{
    const struct otf2_group *ranks = mpi_locations(otf2);
    if (ranks)
        rank_by_locations(otf2, ranks);
    else
        rank_by_names(otf2);
    rank_others(otf2);
    number_threads(otf2, ranks);
}

/* World ranks of a group's members: those of communicators are ranks among MPI's locations. */
static uint32_t *world_ranks(const struct otf2_defs *otf2, OTF2_GroupRef id, uint32_t *count, bool *self, bool *mpi)
{
    const struct otf2_group *group = group_of(otf2, OTF2_GROUP_TYPE_COMM_GROUP, id), *ranks = mpi_locations(otf2);
    const struct otf2_group *own = group_of(otf2, OTF2_GROUP_TYPE_COMM_SELF, id);
    *count = 0;
    *self = !group && own;
    *mpi = ranks && ((group && group->paradigm == OTF2_PARADIGM_MPI) || (own && own->paradigm == OTF2_PARADIGM_MPI));
    if (!group && !own) {
        group = group_of(otf2, OTF2_GROUP_TYPE_COMM_LOCATIONS, id);
        *mpi = group && group->paradigm == OTF2_PARADIGM_MPI;
    }
    if (!*mpi || *self)
        return NULL;
    uint32_t *world = memory_new((group->count + 1) * sizeof *world);
    for (uint32_t i = 0; i < group->count; i++) {
        /* Members of COMM_GROUP are indices into COMM_LOCATIONS, those of COMM_LOCATIONS are locations themselves. */
        uint64_t member = group->type == OTF2_GROUP_TYPE_COMM_LOCATIONS ? i : group->members[i];
        uint32_t location = member < ranks->count ? otf2_index(&otf2->location_ids, ranks->members[member]) : OTF2_NONE;
        world[i] = location == OTF2_NONE ? OTF2_NONE : otf2->location[location].process;
    }
    *count = group->count;
    return world;
}

static int32_t add_comm(struct otf2_defs *otf2, const char *name, const uint32_t *world, uint32_t count)
{
    struct defs *defs = otf2->defs;
    int32_t index = defs_comm(defs, (int32_t)defs->comm_count);
    comm_set_name(&defs->comms[index], name);
    for (uint32_t rank = 0; rank < count; rank++)
        if (world[rank] != OTF2_NONE)
            defs_set_member(defs, index, (int32_t)rank, world[rank]);
    return index;
}

static bool is_all(const struct otf2_defs *otf2, const struct otf2_comm *comm)
{
    const struct otf2_group *ranks = mpi_locations(otf2);
    bool all = ranks && comm->mpi && !comm->self && !comm->inter && comm->count == ranks->count;
    for (uint32_t i = 0; all && i < comm->count; i++)
        all = comm->world[i] == i;
    return all;
}

/* MPI_COMM_WORLD is that of its name; else the first of all ranks in their order. */
static struct otf2_comm *find_world(struct otf2_defs *otf2)
{
    struct otf2_comm *found = NULL;
    for (size_t i = 0; i < otf2->comm_count; i++) {
        struct otf2_comm *comm = &otf2->comm[i];
        const char *name = otf2_string(otf2, comm->name);
        if (!is_all(otf2, comm))
            continue;
        if (name && (strcmp(name, "MPI_COMM_WORLD") == 0 || strcmp(name, "COMM_WORLD") == 0))
            return comm;
        found = found ? found : comm;
    }
    return found;
}

/* A window is a communicator of ours with the same members, so that its synchronising calls are matched like
   collectives. */
static void make_windows(struct otf2_defs *otf2)
{
    for (size_t i = 0; i < otf2->window_count; i++) {
        struct otf2_window *window = &otf2->window[i];
        uint32_t on = otf2_index(&otf2->comm_ids, window->comm);
        if (on == OTF2_NONE || !otf2->comm[on].mpi)
            continue;
        window->window = add_comm(otf2, otf2_string(otf2, window->name), otf2->comm[on].world, otf2->comm[on].count);
        otf2->defs->comms[window->window].window = true;
    }
}

/* One definition represents the self communicators of all processes. MPI_COMM_SELF is one definition without members
   (COMM_SELF), but as many communicators as there are processes: they get consecutive indices, and side_of adds the
   rank. */
static void make_selfs(struct otf2_defs *otf2, struct otf2_comm *comm)
{
    for (uint32_t process = 0; otf2->selfs == EVENT_UNKNOWN && process < otf2->defs->processes; process++) {
        int32_t self = add_comm(otf2, otf2_string(otf2, comm->name), &process, 1);
        otf2->defs->comms[self].self = true;
        comm->comm = process == 0 ? self : comm->comm;
    }
    if (otf2->selfs == EVENT_UNKNOWN)
        otf2->selfs = comm->comm;
    comm->comm = comm->other_comm = otf2->selfs;
}

/* The communicator that has this group for itself. */
static int32_t comm_of_group(const struct otf2_defs *otf2, OTF2_GroupRef group)
{
    for (size_t i = 0; i < otf2->comm_count; i++)
        if (!otf2->comm[i].inter && otf2->comm[i].group == group)
            return otf2->comm[i].comm;
    return EVENT_UNKNOWN;
}

/* The two groups of an inter-communicator are communicators of ours. */
static void make_sides(struct otf2_defs *otf2, struct otf2_comm *comm)
{
    const char *name = otf2_string(otf2, comm->name);
    comm->comm = comm_of_group(otf2, comm->group);
    comm->other_comm = comm_of_group(otf2, comm->other_group);
    if (comm->comm == EVENT_UNKNOWN)
        comm->comm = add_comm(otf2, name, comm->world, comm->count);
    if (comm->other_comm == EVENT_UNKNOWN)
        comm->other_comm = add_comm(otf2, name, comm->other_world, comm->other_count);
}

void otf2_make_comms(struct otf2_defs *otf2)
{
    for (size_t i = 0; i < otf2->comm_count; i++) {
        struct otf2_comm *comm = &otf2->comm[i];
        bool other_self, other_mpi;
        comm->world = world_ranks(otf2, comm->group, &comm->count, &comm->self, &comm->mpi);
        if (comm->inter)
            comm->other_world = world_ranks(otf2, comm->other_group, &comm->other_count, &other_self, &other_mpi);
        comm->comm = comm->other_comm = EVENT_UNKNOWN;
    }
    /* The world first: it becomes communicator 0, which is what a reader of the output expects. */
    otf2->selfs = EVENT_UNKNOWN;
    struct otf2_comm *world = find_world(otf2);
    if (world) {
        const char *name = otf2_string(otf2, world->name);
        world->comm = world->other_comm =
            add_comm(otf2, name && *name ? name : "MPI_COMM_WORLD", world->world, world->count);
        otf2->defs->comms[world->comm].world = true;
    }
    for (size_t i = 0; i < otf2->comm_count; i++) {
        struct otf2_comm *comm = &otf2->comm[i];
        if (!comm->mpi || comm->comm != EVENT_UNKNOWN)
            continue;
        if (comm->self)
            make_selfs(otf2, comm);
        else if (!comm->inter)
            comm->comm = comm->other_comm = add_comm(otf2, otf2_string(otf2, comm->name), comm->world, comm->count);
    }
    for (size_t i = 0; i < otf2->comm_count; i++)
        if (otf2->comm[i].inter && otf2->comm[i].mpi)
            make_sides(otf2, &otf2->comm[i]);
    make_windows(otf2);
}
