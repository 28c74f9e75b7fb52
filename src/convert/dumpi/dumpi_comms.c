/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/dumpi/dumpi_comms.h"

#include "convert/dumpi/dumpi_file.h"
#include "core/event.h"
#include "core/memory.h"

#include <string.h>

enum kind { KIND_NONE, KIND_DUP, KIND_SPLIT, KIND_GROUP, KIND_CART, KIND_SUB, KIND_OTHER, KIND_FREE };
/* Numbers of communicators in a file are those of one process. Which of different processes are the same one, and who
   is in it, follows from a replay of all that make or free one: they are collective on a parent, so that the n-th on it
   of each member is the same call. */
enum {
    MEMBERS_MOST = 1 << 22, /* of all communicators together: a damaged file may split for ever */
    FIRST_ID = 16,
    DIMS_MOST = 8
};

/* Instead of a list: all ranks of the communicator. */
#define WHOLE map_pair(UINT32_MAX, 0)

static const struct {
    const char *name;
    enum kind kind;
} makers[] = {{"MPI_Comm_dup", KIND_DUP},        {"MPI_Comm_split", KIND_SPLIT}, {"MPI_Comm_create", KIND_GROUP},
              {"MPI_Cart_create", KIND_CART},    {"MPI_Cart_sub", KIND_SUB},     {"MPI_Comm_free", KIND_FREE},
              {"MPI_Comm_disconnect", KIND_FREE}};

/* What a function does to communicators. Other functions that give a communicator (spawn, intercomm): its members
   stay unknown. */
static enum kind kind_of(const struct dumpi_call *call)
{
    const char *name = dumpi_function(call->function);
    for (size_t i = 0; name && i < sizeof makers / sizeof *makers; i++)
        if (strcmp(name, makers[i].name) == 0)
            return makers[i].kind;
    if (dumpi_has(call, 'v'))
        return KIND_OTHER;
    return KIND_NONE;
}

static uint32_t keep_list(struct dumpi_process *process, const struct dumpi_call *call, char letter)
{
    uint32_t first = (uint32_t)process->list_count;
    for (int32_t i = 0; i < dumpi_count(call, letter); i++)
        ARRAY_PUSH(process->list, process->list_count, process->list_capacity, dumpi_at(call, letter, i));
    return first;
}

/* Groups of a communicator, and of chosen ranks of it: all others are not known. A group is a number of one process,
   too. Groups that are made of two others, or by exclusion, are not followed. */
static void note_group(struct dumpi_process *process, const struct dumpi_call *call)
{
    const char *name = dumpi_function(call->function);
    uint64_t group = (uint64_t)dumpi_number(call, 'u'), made = (uint64_t)dumpi_number(call, 'z');
    if (strcmp(name, "MPI_Comm_group") == 0) {
        *map_put(&process->groups, group, 0) = WHOLE;
        *map_put(&process->group_comms, group, 0) = (uint64_t)dumpi_number(call, 'c');
        return;
    }
    const uint64_t *of = map_find(&process->groups, group), *comm = map_find(&process->group_comms, group);
    bool known = strcmp(name, "MPI_Group_incl") == 0 && of && comm && *of == WHOLE;
    if (known) {
        *map_put(&process->group_comms, made, 0) = *comm;
        *map_put(&process->groups, made, 0) = map_pair(keep_list(process, call, 'q'), (uint32_t)dumpi_count(call, 'q'));
    } else if (dumpi_has(call, 'z')) {
        map_remove(&process->groups, made);
    } else if (strcmp(name, "MPI_Group_free") == 0) {
        map_remove(&process->groups, group);
    }
}

/* The ranks with which MPI_Comm_create makes a communicator, where the group is one of the same communicator. */
static void take_group(const struct dumpi_process *process, const struct dumpi_call *call, struct dumpi_step_of *step)
{
    const uint64_t *group = map_find(&process->groups, (uint64_t)dumpi_number(call, 'u'));
    const uint64_t *comm = map_find(&process->group_comms, (uint64_t)dumpi_number(call, 'u'));
    if (!group || !comm || *comm != step->parent) {
        step->kind = KIND_OTHER;
        return;
    }
    if (*group == WHOLE)
        step->kind = KIND_DUP;
    step->list = (uint32_t)(*group >> 32);
    step->list_count = (uint32_t)*group;
}

/* The first pass keeps of each process, in order, only what makes or frees communicators. */
void dumpi_comms_note(struct dumpi_comms *comms, uint32_t rank, const struct dumpi_call *call)
{
    struct dumpi_process *process = &comms->process[rank];
    enum kind kind = kind_of(call);
    if (kind == KIND_NONE) {
        if (dumpi_has(call, 'u') && dumpi_function(call->function))
            note_group(process, call);
        return;
    }
    struct dumpi_step_of step = {.kind = (uint8_t)kind,
                                 .parent = (uint16_t)dumpi_number(call, 'c'),
                                 .made = (uint16_t)dumpi_number(call, 'v'),
                                 .colour = (int32_t)dumpi_number(call, 'k'),
                                 .key = (int32_t)dumpi_number(call, 'K'),
                                 .reorders = dumpi_number(call, 'f') != 0,
                                 .result = EVENT_UNKNOWN};
    if (kind == KIND_CART || kind == KIND_SUB) {
        step.list_count = (uint32_t)dumpi_count(call, 'q');
        step.list = keep_list(process, call, 'q');
    } else if (kind == KIND_GROUP) {
        take_group(process, call, &step);
    }
    ARRAY_PUSH(process->step, process->count, process->capacity, step);
}

/* The replay. */

struct made {
    uint32_t *member; /* processes, by rank */
    uint32_t count, arrived;
    int32_t dims[DIMS_MOST]; /* of a Cartesian topology */
    uint32_t dim_count;
};

struct replay {
    struct dumpi_comms *comms;
    struct defs *defs;
    struct made *made;
    size_t made_count, made_capacity, members;
    struct map index; /* definition -> made */
    uint32_t *queue;
    size_t queue_count, queue_capacity;
};

static int32_t make(struct replay *replay, uint32_t *member, uint32_t count)
{
    int32_t id = replay->made_count == 0 ? 0 : FIRST_ID + (int32_t)replay->made_count;
    int32_t comm = defs_comm(replay->defs, id);
    replay->defs->comms[comm].world = replay->made_count == 0;
    for (uint32_t i = 0; i < count; i++)
        defs_set_member(replay->defs, comm, (int32_t)i, member[i]);
    map_put(&replay->index, (uint64_t)comm, replay->made_count);
    map_put(&replay->comms->sizes, (uint64_t)comm, count);
    ARRAY_PUSH(replay->made, replay->made_count, replay->made_capacity,
               (struct made){.member = member, .count = count});
    replay->members += count;
    return comm;
}

struct candidate {
    int32_t colour, key;
    uint32_t rank, process;
};

static int by_colour(const void *a, const void *b)
{
    const struct candidate *left = a, *right = b;
    if (left->colour != right->colour)
        return left->colour < right->colour ? -1 : 1;
    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return (left->rank > right->rank) - (left->rank < right->rank);
}

static struct dumpi_step_of *step_at(const struct replay *replay, uint32_t process)
{
    struct dumpi_process *of = &replay->comms->process[process];
    if (of->at < of->count)
        return &of->step[of->at];
    return NULL;
}

/* Colour and key of a member of a Cartesian topology whose other dimensions remain. MPI_Cart_sub: processes that
   agree in the dimensions that are dropped are together; what remains orders them, row by row. */
static bool place_in_sub(const struct made *parent, const struct dumpi_process *process,
                         const struct dumpi_step_of *step, uint32_t rank, struct candidate *candidate)
{
    uint32_t size = 1;
    if (parent->dim_count == 0 || parent->dim_count != step->list_count)
        return false;
    for (uint32_t i = 0; i < parent->dim_count; i++)
        size *= (uint32_t)parent->dims[i];
    candidate->colour = candidate->key = 0;
    for (uint32_t i = 0; i < parent->dim_count; i++) {
        size /= (uint32_t)parent->dims[i];
        int32_t coordinate = (int32_t)(rank / size);
        rank %= size;
        int32_t *to = process->list[step->list + i] ? &candidate->key : &candidate->colour;
        *to = *to * parent->dims[i] + coordinate;
    }
    return true;
}

/* Number of places of a Cartesian topology; 0 if it is none that the parent has room for. */
static uint32_t cart_size(const struct made *parent, const struct dumpi_process *process,
                          const struct dumpi_step_of *step)
{
    uint64_t size = 1;
    /* MPI may give the places to other ranks if it is allowed to reorder: then who is where is not known. */
    if (step->reorders || step->list_count == 0 || step->list_count > DIMS_MOST)
        return 0;
    for (uint32_t i = 0; i < step->list_count; i++) {
        int32_t dim = process->list[step->list + i];
        if (dim <= 0 || (size *= (uint64_t)dim) > parent->count)
            return 0;
    }
    return (uint32_t)size;
}

/* What the step means for a member: false if it does not get a communicator, or nobody knows which. */
static bool place(const struct replay *replay, const struct made *parent, uint32_t rank, struct candidate *candidate)
{
    const struct dumpi_process *process = &replay->comms->process[parent->member[rank]];
    const struct dumpi_step_of *step = &process->step[process->at];
    *candidate = (struct candidate){.colour = 0, .key = (int32_t)rank, .rank = rank, .process = parent->member[rank]};
    /* MPI_UNDEFINED as a colour, or not in the group: MPI gave no communicator. */
    if (step->made <= DUMPI_COMM_NULL)
        return false;
    switch (step->kind) {
    case KIND_DUP:
        return true;
    case KIND_SPLIT:
        candidate->colour = step->colour;
        candidate->key = step->key;
        return true;
    case KIND_GROUP:
        for (uint32_t i = 0; i < step->list_count; i++)
            if (process->list[step->list + i] == (int32_t)rank) {
                candidate->key = (int32_t)i;
                return true;
            }
        return false;
    case KIND_CART:
        return rank < cart_size(parent, process, step);
    case KIND_SUB:
        return place_in_sub(parent, process, step, rank, candidate);
    default:
        return false;
    }
}

/* For a later MPI_Cart_sub of the communicator. */
static void take_dims(struct replay *replay, int32_t comm, uint32_t from)
{
    const struct dumpi_process *process = &replay->comms->process[from];
    const struct dumpi_step_of *step = &process->step[process->at];
    struct made *made = &replay->made[*map_find(&replay->index, (uint64_t)comm)];
    if (step->kind != KIND_CART)
        return;
    made->dim_count = step->list_count;
    memcpy(made->dims, process->list + step->list, step->list_count * sizeof *made->dims);
}

/* All members have come to their step: the communicators are made. */
static void perform(struct replay *replay, size_t index)
{
    uint32_t count = replay->made[index].count, candidates = 0;
    struct candidate *candidate = memory_new(count * sizeof *candidate);
    uint8_t kind = step_at(replay, replay->made[index].member[0])->kind;
    bool same = replay->members + count <= MEMBERS_MOST;
    for (uint32_t rank = 0; rank < count; rank++) {
        /* Members that call different functions at the same turn: calls are missing in a file. Then nothing is made
           of it. */
        same = same && step_at(replay, replay->made[index].member[rank])->kind == kind;
        candidates += place(replay, &replay->made[index], rank, &candidate[candidates]);
    }
    /* MPI's order: by key, equal keys by rank in the parent. */
    qsort(candidate, candidates, sizeof *candidate, by_colour);
    for (uint32_t i = 0, end; same && i < candidates; i = end) {
        for (end = i + 1; end < candidates && candidate[end].colour == candidate[i].colour;)
            end++;
        uint32_t *member = memory_new((end - i) * sizeof *member);
        for (uint32_t k = i; k < end; k++)
            member[k - i] = candidate[k].process;
        int32_t comm = make(replay, member, end - i);
        take_dims(replay, comm, member[0]);
        for (uint32_t k = i; k < end; k++)
            step_at(replay, candidate[k].process)->result = comm;
    }
    replay->made[index].arrived = 0;
    for (uint32_t rank = 0; rank < count; rank++) {
        struct dumpi_process *process = &replay->comms->process[replay->made[index].member[rank]];
        process->waits = false;
        /* A queue, not recursion: with thousands of communicators one after the other the stack would not do. */
        ARRAY_PUSH(replay->queue, replay->queue_count, replay->queue_capacity, replay->made[index].member[rank]);
    }
    free(candidate);
}

static void pass_step(struct dumpi_comms *comms, uint32_t process)
{
    struct dumpi_process *of = &comms->process[process];
    const struct dumpi_step_of *step = &of->step[of->at++];
    uint64_t made = map_pair(process, step->kind == KIND_FREE ? step->parent : step->made);
    if (step->result == EVENT_UNKNOWN)
        map_remove(&comms->local, made);
    else
        *map_put(&comms->local, made, 0) = (uint64_t)(uint32_t)step->result;
}

/* Takes a process through its steps up to the next that others have not come to yet. */
static void advance(struct replay *replay, uint32_t process)
{
    struct dumpi_process *of = &replay->comms->process[process];
    const struct dumpi_step_of *step;
    while (!of->waits && (step = step_at(replay, process))) {
        int32_t parent = dumpi_comm(replay->comms, process, step->parent);
        const uint64_t *index = parent == EVENT_UNKNOWN ? NULL : map_find(&replay->index, (uint64_t)parent);
        if (step->kind == KIND_OTHER || step->kind == KIND_FREE || !index) {
            pass_step(replay->comms, process);
            continue;
        }
        of->waits = true;
        if (++replay->made[*index].arrived < replay->made[*index].count)
            return;
        perform(replay, *index);
        return;
    }
}

/* After a step has been performed its members go on: each passes it, then advances. */
static void drain(struct replay *replay)
{
    while (replay->queue_count > 0) {
        uint32_t process = replay->queue[--replay->queue_count];
        pass_step(replay->comms, process);
        advance(replay, process);
    }
}

void dumpi_comms_define(struct dumpi_comms *comms, struct defs *defs)
{
    struct replay replay = {.comms = comms, .defs = defs};
    uint32_t *world = memory_new((comms->processes + 1) * sizeof *world);
    for (uint32_t i = 0; i < comms->processes; i++)
        world[i] = i;
    comms->world = make(&replay, world, comms->processes);
    for (uint32_t i = 0; i < comms->processes; i++) {
        if (!comms->process[i].waits)
            advance(&replay, i);
        drain(&replay);
    }
    for (uint32_t i = 0; i < comms->processes; i++) {
        struct dumpi_process *process = &comms->process[i];
        for (size_t k = 0; k < process->count; k++)
            comms->unknown += process->step[k].kind != KIND_FREE && process->step[k].made > DUMPI_COMM_NULL &&
                              process->step[k].result == EVENT_UNKNOWN;
        /* The second pass goes through the steps again, so that numbers mean what they meant at that moment. */
        process->at = 0;
    }
    for (size_t i = 0; i < replay.made_count; i++)
        free(replay.made[i].member);
    free(replay.made);
    free(replay.queue);
    map_clear(&replay.index);
    map_clear(&comms->local);
}

int32_t dumpi_comms_pass(struct dumpi_comms *comms, uint32_t process, const struct dumpi_call *call)
{
    struct dumpi_process *of = &comms->process[process];
    if (kind_of(call) == KIND_NONE || of->at >= of->count)
        return EVENT_UNKNOWN;
    pass_step(comms, process);
    return of->step[of->at - 1].result;
}

int32_t dumpi_comm(const struct dumpi_comms *comms, uint32_t process, uint16_t number)
{
    if (number == DUMPI_COMM_WORLD)
        return comms->world;
    const uint64_t *known = map_find(&comms->local, map_pair(process, number));
    if (known)
        return (int32_t)(uint32_t)*known;
    return EVENT_UNKNOWN;
}

int64_t dumpi_comm_size(const struct dumpi_comms *comms, int32_t comm)
{
    const uint64_t *size = comm == EVENT_UNKNOWN ? NULL : map_find(&comms->sizes, (uint64_t)comm);
    if (size)
        return (int64_t)*size;
    return -1;
}

void dumpi_comms_clear(struct dumpi_comms *comms)
{
    for (uint32_t i = 0; i < comms->processes; i++) {
        free(comms->process[i].step);
        free(comms->process[i].list);
        map_clear(&comms->process[i].groups);
        map_clear(&comms->process[i].group_comms);
    }
    free(comms->process);
    map_clear(&comms->local);
    map_clear(&comms->sizes);
}
