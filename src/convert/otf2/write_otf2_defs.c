/* SPDX-License-Identifier: BSD-3-Clause */
/* The definitions of an archive, in the order in which they are used. */
#include "convert/otf2/write_otf2.h"

#include "convert/otf2/otf2_properties.h"
#include "core/memory.h"

#include <stdio.h>
#include <string.h>

/* FNV-1a; 63 bits, as the map's keys are below UINT64_MAX. Two texts of the same hash would become one: at 2^16 texts,
   a chance of one in 10^9. */
uint32_t otf2_text_number(struct otf2_writer *otf2, const char *text)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (const char *at = text; *at; at++)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
    const uint64_t *known = map_find(&otf2->string_ids, hash >> 1);
    if (known)
        return (uint32_t)*known;
    if (otf2->string_count >= OTF2_TEXTS_MOST)
        return OTF2_UNDEFINED_UINT32;
    *map_put(&otf2->string_ids, hash >> 1, 0) = otf2->string_count;
    ARRAY_PUSH(otf2->strings, otf2->string_count, otf2->string_capacity, memory_copy_string(text));
    return (uint32_t)otf2->string_count - 1;
}

/* Numbers: 0 is the world, then the other communicators, those that windows are on, inter-communicators. */
void otf2_number_comms(struct otf2_writer *otf2)
{
    const struct defs *defs = otf2->defs;
    otf2->comms = memory_new((defs->comm_count + 1) * sizeof *otf2->comms);
    otf2->windows = memory_new((defs->comm_count + 1) * sizeof *otf2->windows);
    uint32_t windows = 0, self = 0; /* one definition is for the own communicators of all processes */
    bool world = false;
    otf2->comm_count = 1;
    for (size_t i = 0; i < defs->comm_count; i++) {
        /* Recordings of several programs that met have several worlds: only the first is MPI_COMM_WORLD here. */
        bool is_world = defs->comms[i].world && !world;
        world |= is_world;
        if (defs->comms[i].self && self == 0)
            self = otf2->comm_count++;
        if (is_world)
            otf2->comms[i] = 0;
        else
            otf2->comms[i] = defs->comms[i].self ? self : otf2->comm_count++;
        otf2->windows[i] = defs->comms[i].window ? windows++ : OTF2_UNDEFINED_UINT32;
    }
    for (size_t i = 0; i < defs->comm_count; i++) {
        const uint64_t *other = map_find(&otf2->other_side, i);
        /* Both groups name each other: one definition for the pair. */
        if (other && i < *other)
            *map_put(&otf2->inters, i, 0) = otf2->comm_count++;
    }
}

struct writing {
    struct otf2_writer *otf2;
    OTF2_GlobalDefWriter *library;
    bool fine;
};

static void check(struct writing *writing, OTF2_ErrorCode code)
{
    writing->fine &= code == OTF2_SUCCESS;
}

/* Texts found after the events get their own numbers, in order. */
static uint32_t text(struct writing *writing, const char *string)
{
    struct otf2_writer *otf2 = writing->otf2;
    size_t before = otf2->string_count;
    uint32_t number = otf2_text_number(otf2, string ? string : "");
    if (number == OTF2_UNDEFINED_UINT32) {
        ARRAY_PUSH(otf2->strings, otf2->string_count, otf2->string_capacity, memory_copy_string(string));
        number = (uint32_t)before;
    }
    if (otf2->string_count > before)
        check(writing, OTF2_GlobalDefWriter_WriteString(writing->library, number, otf2->strings[number]));
    return number;
}

#define WRITE(kind, ...) check(writing, OTF2_GlobalDefWriter_Write##kind(writing->library, __VA_ARGS__))

/* Of facts that belong to some processes. */
static void write_group_properties(struct writing *writing, uint32_t process)
{
    const struct property_list *list = &writing->otf2->defs->properties;
    for (size_t i = 0; i < list->count; i++) {
        char name[OTF2_PROPERTY_NAME_SIZE];
        OTF2_AttributeValue value;
        if (!property_has_rank(&list->rows[i], process))
            continue;
        if (!otf2_property_name(list->rows[i].name, name)) {
            writer_lose(&writing->otf2->writer, "facts about the run whose names OTF2 has no place for", 1);
            continue;
        }
        value.stringRef = text(writing, list->rows[i].value);
        WRITE(LocationGroupProperty, process, text(writing, name), OTF2_TYPE_STRING, value);
    }
}

static void write_locations(struct writing *writing)
{
    struct otf2_writer *otf2 = writing->otf2;
    const struct defs *defs = otf2->defs;
    struct map hosts = {0};
    uint32_t host_count = 0;
    for (size_t i = 0; i < otf2->location_count; i++) {
        const struct otf2_written *location = &otf2->locations[i];
        const struct location_def *about = defs_find_location(defs, location->process, location->thread);
        char name[64];
        if (i == 0 || location->process != otf2->locations[i - 1].process) {
            const char *host = about && about->host ? about->host : OTF2_UNKNOWN_HOST;
            uint32_t host_text = text(writing, host);
            uint64_t *node = map_put(&hosts, host_text, UINT64_MAX);
            if (*node == UINT64_MAX) {
                *node = host_count++;
                WRITE(SystemTreeNode, (uint32_t)*node, host_text, text(writing, "node"),
                      OTF2_UNDEFINED_SYSTEM_TREE_NODE);
            }
            *map_put(&otf2->nodes, location->process, 0) = *node;
            snprintf(name, sizeof name, "MPI Rank %u", location->process);
            WRITE(LocationGroup, location->process,
                  text(writing, about && about->process_name ? about->process_name : name),
                  OTF2_LOCATION_GROUP_TYPE_PROCESS, (uint32_t)*node, OTF2_UNDEFINED_LOCATION_GROUP);
            write_group_properties(writing, location->process);
        }
        /* Without a definition, a CPU thread with the name that Score-P gives. */
        static const OTF2_LocationType types[] = {[LOCATION_THREAD] = OTF2_LOCATION_TYPE_CPU_THREAD,
                                                  [LOCATION_STREAM] = OTF2_LOCATION_TYPE_ACCELERATOR_STREAM,
                                                  [LOCATION_METRIC] = OTF2_LOCATION_TYPE_METRIC};
        snprintf(name, sizeof name, location->thread ? "thread %u" : "Master thread", location->thread);
        const char *known = about && about->name ? about->name : name;
        WRITE(Location, otf2_location_id(location->process, location->thread), text(writing, known),
              types[about ? about->kind : LOCATION_THREAD], location->events, location->process);
    }
    map_clear(&hosts);
}

/* Scalasca finds its wait states by the roles of MPI's functions. */
static OTF2_RegionRole role_of_region(const struct state_def *state)
{
    switch (state->class) {
    case CLASS_P2P:
    case CLASS_PROBE:
    case CLASS_WAIT:
        return OTF2_REGION_ROLE_POINT2POINT;
    case CLASS_COLLECTIVE:
        return OTF2_REGION_ROLE_COLL_OTHER;
    case CLASS_SYNC:
        return OTF2_REGION_ROLE_BARRIER;
    case CLASS_RMA:
        return OTF2_REGION_ROLE_RMA;
    case CLASS_IO:
        return OTF2_REGION_ROLE_FILE_IO;
    default:
        if (state->role == ROLE_LOOP)
            return OTF2_REGION_ROLE_LOOP;
        if (state->role == ROLE_PARALLEL)
            return OTF2_REGION_ROLE_PARALLEL;
        if (state->role == ROLE_BARRIER)
            return OTF2_REGION_ROLE_BARRIER;
        return OTF2_REGION_ROLE_FUNCTION;
    }
}

static OTF2_Paradigm paradigm_of_region(const struct state_def *state)
{
    if (state->is_mpi)
        return OTF2_PARADIGM_MPI;
    if (state->class == CLASS_TOOL)
        return OTF2_PARADIGM_MEASUREMENT_SYSTEM;
    switch (state->paradigm) {
    case PARADIGM_COMPILER:
        return OTF2_PARADIGM_COMPILER;
    case PARADIGM_OPENMP:
        return OTF2_PARADIGM_OPENMP;
    case PARADIGM_PTHREAD:
        return OTF2_PARADIGM_PTHREAD;
    case PARADIGM_CUDA:
        return OTF2_PARADIGM_CUDA;
    case PARADIGM_HIP:
        return OTF2_PARADIGM_HIP;
    default:
        return OTF2_PARADIGM_USER;
    }
}

static void write_regions(struct writing *writing)
{
    const struct defs *defs = writing->otf2->defs;
    for (size_t i = 0; i < defs->state_count; i++) {
        const struct state_def *state = &defs->states[i];
        uint32_t name = text(writing, state->name);
        WRITE(Region, (uint32_t)i, name, name, text(writing, ""), role_of_region(state), paradigm_of_region(state),
              OTF2_REGION_FLAG_NONE, state->file ? text(writing, state->file) : OTF2_UNDEFINED_STRING,
              (uint32_t)state->line, (uint32_t)state->end_line);
    }
    for (size_t i = 0; i < defs->site_count; i++)
        WRITE(SourceCodeLocation, (uint32_t)i, text(writing, defs->sites[i].file), (uint32_t)defs->sites[i].line);
    if (defs->site_count)
        WRITE(Attribute, 0, text(writing, "call site"), text(writing, ""), OTF2_TYPE_SOURCE_CODE_LOCATION);
}

static void write_marks(struct writing *writing)
{
    const struct defs *defs = writing->otf2->defs;
    for (size_t i = 0; i < defs->mark_count; i++)
        WRITE(Parameter, (uint32_t)i, text(writing, defs->marks[i].name), OTF2_PARAMETER_TYPE_STRING);
}

static void write_class(struct writing *writing, uint32_t number, uint32_t member, const struct mark_def *mark)
{
    static const OTF2_MetricMode modes[] = {[COUNTER_MODE_UNKNOWN] = OTF2_METRIC_ABSOLUTE_POINT,
                                            [COUNTER_MODE_ACCUMULATED] = OTF2_METRIC_ACCUMULATED_START,
                                            [COUNTER_MODE_ABSOLUTE] = OTF2_METRIC_ABSOLUTE_POINT,
                                            [COUNTER_MODE_RELATIVE] = OTF2_METRIC_RELATIVE_POINT};
    const struct counter_def *counter = &mark->counter;
    OTF2_Base base = counter->base == 2 ? OTF2_BASE_BINARY : OTF2_BASE_DECIMAL;
    uint32_t unit = text(writing, counter->unit ? counter->unit : "#"); /* "#" is OTF2's word for a number */
    WRITE(MetricMember, member, text(writing, mark->name), text(writing, ""), OTF2_METRIC_TYPE_OTHER,
          modes[counter->mode], otf2_type_of(counter), base, counter->exponent, unit);
    WRITE(MetricClass, number, 1, &member, OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_ABSTRACT);
}

static void write_instance(struct writing *writing, uint32_t number, const struct otf2_metric_number *metric)
{
    struct otf2_writer *otf2 = writing->otf2;
    const struct otf2_written *location = &otf2->locations[metric->location];
    OTF2_MetricScope scope = OTF2_SCOPE_GROUP;
    uint64_t of = 0; /* the group of all processes */
    if (otf2->defs->marks[metric->mark].counter.scope == COUNTER_OF_PROCESS) {
        scope = OTF2_SCOPE_LOCATION_GROUP;
        of = location->process;
    } else if (otf2->defs->marks[metric->mark].counter.scope == COUNTER_OF_HOST) {
        scope = OTF2_SCOPE_SYSTEM_TREE_NODE;
        of = *map_find(&otf2->nodes, location->process);
    }
    WRITE(MetricInstance, number, metric->class, otf2_location_id(location->process, location->thread), scope, of);
}

/* After locations, hosts and groups, which instances name. */
static void write_metrics(struct writing *writing)
{
    const struct otf2_writer *otf2 = writing->otf2;
    uint32_t member = 0;
    for (uint32_t i = 0; i < otf2->metric_count; i++)
        if (otf2->metrics[i].location == OTF2_NO_LOCATION)
            write_class(writing, i, member++, &otf2->defs->marks[otf2->metrics[i].mark]);
        else
            write_instance(writing, i, &otf2->metrics[i]);
}

/* World ranks of a communicator's members, by rank; free() them. */
static uint64_t *members_of(const struct otf2_writer *otf2, int32_t comm, uint32_t *count)
{
    uint32_t processes = otf2->defs->processes;
    uint64_t *members = memory_new((processes + 1) * sizeof *members);
    for (*count = 0; *count < processes; ++*count) {
        int32_t world = comm < 0 ? (int32_t)*count : defs_world_rank(otf2->defs, comm, (int32_t)*count);
        /* The first rank without a process ends the group: MPI numbers members without holes. */
        if (world < 0 || (uint32_t)world >= processes)
            break;
        members[*count] = (uint64_t)world;
    }
    return members;
}

static void write_comm(struct writing *writing, uint32_t number, int32_t index)
{
    const struct comm_def *comm = index < 0 ? NULL : &writing->otf2->defs->comms[index];
    uint32_t count;
    uint64_t *members = members_of(writing->otf2, comm && !comm->world ? index : -1, &count);
    const char *name = number == 0 ? "MPI_COMM_WORLD" : "";
    if (comm && comm->name)
        name = comm->name;
    OTF2_GroupType type = OTF2_GROUP_TYPE_COMM_GROUP;
    if (comm && comm->self) {
        type = OTF2_GROUP_TYPE_COMM_SELF; /* each process's own: without members */
        count = 0;
    }
    WRITE(Group, number + 1, text(writing, ""), type, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, count, members);
    WRITE(Comm, number, text(writing, name), number + 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    free(members);
}

/* Group n + 1 belongs to communicator n, since group 0 is that of all locations, to which all others refer. */
static void write_comms(struct writing *writing)
{
    struct otf2_writer *otf2 = writing->otf2;
    const struct defs *defs = otf2->defs;
    uint64_t *locations = memory_new((defs->processes + 1) * sizeof *locations);
    for (uint32_t i = 0; i < defs->processes; i++)
        locations[i] = otf2_location_id(i, 0);
    WRITE(Group, 0, text(writing, ""), OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
          defs->processes, locations);
    free(locations);
    /* Scalasca wants MPI_COMM_WORLD to be defined first, and always. */
    int32_t world = -1;
    for (size_t i = 0; i < defs->comm_count; i++)
        if (otf2->comms[i] == 0)
            world = (int32_t)i;
    write_comm(writing, 0, world);
    uint32_t next = 1;
    for (size_t i = 0; i < defs->comm_count; i++)
        if (otf2->comms[i] == next)
            write_comm(writing, next++, (int32_t)i);
    for (size_t i = 0; i < defs->comm_count; i++) {
        const uint64_t *inter = map_find(&otf2->inters, i), *other = map_find(&otf2->other_side, i);
        if (inter)
            WRITE(InterComm, (uint32_t)*inter, text(writing, defs->comms[i].name), otf2->comms[i] + 1,
                  otf2->comms[*other] + 1, 0, OTF2_COMM_FLAG_NONE);
        if (otf2->windows[i] != OTF2_UNDEFINED_UINT32)
            WRITE(RmaWin, otf2->windows[i], text(writing, defs->comms[i].name), otf2->comms[i], OTF2_RMA_WIN_FLAG_NONE);
    }
}

bool otf2_write_defs(struct otf2_writer *otf2)
{
    struct writing all = {.otf2 = otf2, .library = OTF2_Archive_GetGlobalDefWriter(otf2->archive), .fine = true};
    struct writing *writing = &all;
    if (!all.library)
        return false;
    /* Offset and length: the length is one more than the difference, as the end itself belongs to the trace. */
    WRITE(ClockProperties, 1000000000, (uint64_t)(otf2->least_ns + otf2->shift_ns),
          (uint64_t)time_since(otf2->least_ns, otf2->largest_ns) + 1, otf2_realtime(otf2->defs));
    for (size_t i = 0; i < otf2->string_count; i++)
        WRITE(String, (uint32_t)i, otf2->strings[i]);
    write_locations(writing);
    write_regions(writing);
    write_marks(writing);
    write_comms(writing);
    write_metrics(writing);
    return all.fine && OTF2_Archive_CloseGlobalDefWriter(otf2->archive, all.library) == OTF2_SUCCESS;
}
