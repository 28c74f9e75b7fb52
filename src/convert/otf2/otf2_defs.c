/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/otf2/otf2_defs.h"

#include "convert/otf2/otf2_properties.h"
#include "core/memory.h"
#include "core/payload.h"

#include <stdio.h>
#include <string.h>

/* Adds a row under its id. False: the id is taken, the row is not added. */
#define ADD(otf2, name, id, ...)                                                                                       \
    (take_id(otf2, &(otf2)->name##_ids, (id), (otf2)->name##_count) ? ADD_ROW(otf2, name, __VA_ARGS__) : false)
#define ADD_ROW(otf2, name, ...)                                                                                       \
    (__extension__({                                                                                                   \
        ARRAY_RESERVE((otf2)->name, (otf2)->name##_capacity, (otf2)->name##_count + 1);                                \
        (otf2)->name[(otf2)->name##_count++] = (__typeof__(*(otf2)->name))__VA_ARGS__;                                 \
        true;                                                                                                          \
    }))

/* All ones means "undefined" in every kind of reference; the map cannot hold it either. */
static bool take_id(struct otf2_defs *otf2, struct otf2_ids *ids, uint64_t id, size_t index)
{
    if (id == UINT64_MAX)
        return false;
    uint64_t *place = map_put(&ids->places, id, index);
    otf2->repeated += *place != index;
    return *place == index;
}

/* Callbacks of the library. */

static OTF2_CallbackCode on_clock(void *user, uint64_t resolution, uint64_t offset, uint64_t length, uint64_t realtime)
{
    struct otf2_defs *otf2 = user;
    (void)length;
    otf2->realtime = realtime;
    /* The length is what the writer believed when it closed the archive. */
    otf2->resolution = resolution;
    otf2->offset = offset;
    return OTF2_CALLBACK_SUCCESS;
}

/* Text of the archive as UTF-8. */
static OTF2_CallbackCode on_string(void *user, OTF2_StringRef self, const char *string)
{
    struct otf2_defs *otf2 = user;
    if (ADD(otf2, string, self, NULL))
        /* An archive may define a string without a text. */
        otf2->string[otf2->string_count - 1] = memory_copy_string(string ? string : "");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_host(void *user, OTF2_SystemTreeNodeRef self, OTF2_StringRef name, OTF2_StringRef class,
                                 OTF2_SystemTreeNodeRef parent)
{
    ADD((struct otf2_defs *)user, host, self, {name, class, parent});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_process(void *user, OTF2_LocationGroupRef self, OTF2_StringRef name,
                                    OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef host,
                                    OTF2_LocationGroupRef creator)
{
    ADD((struct otf2_defs *)user, process, self, {name, type, host, creator, OTF2_NONE});
    return OTF2_CALLBACK_SUCCESS;
}

/* Facts about processes have no numbers of their own. */
static OTF2_CallbackCode on_process_fact(void *user, OTF2_LocationGroupRef process, OTF2_StringRef name, OTF2_Type type,
                                         OTF2_AttributeValue value)
{
    struct otf2_defs *otf2 = user;
    /* Facts of other types are numbers of the measurement system. */
    if (type == OTF2_TYPE_STRING)
        ADD_ROW(otf2, fact, {process, name, value.stringRef});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_location(void *user, OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type,
                                     uint64_t events, OTF2_LocationGroupRef group)
{
    ADD((struct otf2_defs *)user, location, self, {self, name, type, events, group, 0, 0});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_region(void *user, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef canonical,
                                   OTF2_StringRef description, OTF2_RegionRole role, OTF2_Paradigm paradigm,
                                   OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t line, uint32_t end_line)
{
    (void)description;
    (void)flags;
    ADD((struct otf2_defs *)user, region, self, {name, canonical, file, role, paradigm, line, end_line});
    return OTF2_CALLBACK_SUCCESS;
}

/* EZTrace has groups of several types under one number: a number is looked up with its type. */
static OTF2_CallbackCode on_group(void *user, OTF2_GroupRef self, OTF2_StringRef name, OTF2_GroupType type,
                                  OTF2_Paradigm paradigm, OTF2_GroupFlag flags, uint32_t count, const uint64_t *members)
{
    struct otf2_defs *otf2 = user;
    (void)name;
    (void)flags;
    if (ADD(otf2, group, map_pair(type, self), {type, paradigm, NULL, count})) {
        /* The row is added: a group of an id that is taken keeps its first members. */
        struct otf2_group *group = &otf2->group[otf2->group_count - 1];
        group->members = memory_new(count * sizeof *members);
        /* memcpy() must not be given a null pointer, even for no bytes. */
        if (count)
            memcpy(group->members, members, count * sizeof *members);
    }
    return OTF2_CALLBACK_SUCCESS;
}

/* A communicator's parent is not needed: members say all that is asked later. */
static OTF2_CallbackCode on_comm(void *user, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group,
                                 OTF2_CommRef parent, OTF2_CommFlag flags)
{
    (void)parent;
    (void)flags;
    ADD((struct otf2_defs *)user, comm, self, {.name = name, .group = group});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_inter_comm(void *user, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group_a,
                                       OTF2_GroupRef group_b, OTF2_CommRef common, OTF2_CommFlag flags)
{
    (void)common;
    (void)flags;
    ADD((struct otf2_defs *)user, comm, self, {.name = name, .group = group_a, .other_group = group_b, .inter = true});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_window(void *user, OTF2_RmaWinRef self, OTF2_StringRef name, OTF2_CommRef comm,
                                   OTF2_RmaWinFlag flags)
{
    (void)flags;
    ADD((struct otf2_defs *)user, window, self, {name, comm, EVENT_UNKNOWN});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_member(void *user, OTF2_MetricMemberRef self, OTF2_StringRef name,
                                   OTF2_StringRef description, OTF2_MetricType kind, OTF2_MetricMode mode,
                                   OTF2_Type type, OTF2_Base base, int64_t exponent, OTF2_StringRef unit)
{
    (void)description;
    (void)kind;
    ADD((struct otf2_defs *)user, member, self, {name, unit, mode, type, base, exponent});
    return OTF2_CALLBACK_SUCCESS;
}

/* A METRIC event gives the values of a whole class at once: its members are counters one after the other. */
static OTF2_CallbackCode on_metric_class(void *user, OTF2_MetricRef self, uint8_t count,
                                         const OTF2_MetricMemberRef *members, OTF2_MetricOccurrence occurrence,
                                         OTF2_RecorderKind recorder)
{
    struct otf2_defs *otf2 = user;
    (void)occurrence;
    (void)recorder;
    if (ADD(otf2, metric, self, {.count = count, .mark = OTF2_NONE})) {
        struct otf2_metric *metric = &otf2->metric[otf2->metric_count - 1];
        metric->members = memory_new(count * sizeof *members);
        if (count)
            memcpy(metric->members, members, count * sizeof *members);
    }
    return OTF2_CALLBACK_SUCCESS;
}

/* An instance is a class that another location records: "per process metrics" of Score-P, whose scope is a process. */
static OTF2_CallbackCode on_metric_instance(void *user, OTF2_MetricRef self, OTF2_MetricRef class,
                                            OTF2_LocationRef recorder, OTF2_MetricScope scope, uint64_t of)
{
    (void)of;
    ADD((struct otf2_defs *)user, metric, self,
        {.instance = true, .of = class, .recorder = recorder, .scope = scope, .mark = OTF2_NONE});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_place(void *user, OTF2_SourceCodeLocationRef self, OTF2_StringRef file, uint32_t line)
{
    ADD((struct otf2_defs *)user, place, self, {file, line});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_context(void *user, OTF2_CallingContextRef self, OTF2_RegionRef region,
                                    OTF2_SourceCodeLocationRef place, OTF2_CallingContextRef parent)
{
    ADD((struct otf2_defs *)user, context, self, {region, place, parent, OTF2_NONE, 0});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_file(void *user, OTF2_IoFileRef self, OTF2_StringRef name, OTF2_SystemTreeNodeRef scope)
{
    (void)scope;
    ADD((struct otf2_defs *)user, file, self, name);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_api(void *user, OTF2_IoParadigmRef self, OTF2_StringRef identification, OTF2_StringRef name,
                                OTF2_IoParadigmClass class, OTF2_IoParadigmFlag flags, uint8_t count,
                                const OTF2_IoParadigmProperty *properties, const OTF2_Type *types,
                                const OTF2_AttributeValue *values)
{
    (void)identification;
    (void)class;
    (void)flags;
    (void)count;
    (void)properties;
    (void)types;
    (void)values;
    ADD((struct otf2_defs *)user, api, self, name);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_handle(void *user, OTF2_IoHandleRef self, OTF2_StringRef name, OTF2_IoFileRef file,
                                   OTF2_IoParadigmRef paradigm, OTF2_IoHandleFlag flags, OTF2_CommRef comm,
                                   OTF2_IoHandleRef parent)
{
    (void)flags;
    (void)parent;
    ADD((struct otf2_defs *)user, handle, self, {name, file, paradigm, comm});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_parameter(void *user, OTF2_ParameterRef self, OTF2_StringRef name, OTF2_ParameterType type)
{
    ADD((struct otf2_defs *)user, parameter, self, {name, type, OTF2_NONE});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_GlobalDefReaderCallbacks *callbacks_new(void)
{
    OTF2_GlobalDefReaderCallbacks *callbacks = OTF2_GlobalDefReaderCallbacks_New();
#define SET(Kind, function) OTF2_GlobalDefReaderCallbacks_Set##Kind##Callback(callbacks, function)
    SET(ClockProperties, on_clock);
    SET(String, on_string);
    SET(SystemTreeNode, on_host);
    SET(LocationGroup, on_process);
    SET(LocationGroupProperty, on_process_fact);
    SET(Location, on_location);
    SET(Region, on_region);
    SET(Group, on_group);
    SET(Comm, on_comm);
    SET(InterComm, on_inter_comm);
    SET(RmaWin, on_window);
    SET(MetricMember, on_member);
    SET(MetricClass, on_metric_class);
    SET(MetricInstance, on_metric_instance);
    SET(SourceCodeLocation, on_place);
    SET(CallingContext, on_context);
    SET(IoRegularFile, on_file);
    /* Directories are files to I/O events. */
    SET(IoDirectory, on_file);
    SET(IoParadigm, on_api);
    SET(IoHandle, on_handle);
    SET(Parameter, on_parameter);
#undef SET
    return callbacks;
}

/* The rest: places in the source, call paths, counters, files, parameters. */

static void make_sites(struct otf2_defs *otf2)
{
    otf2->sites = memory_new((otf2->place_count + 1) * sizeof *otf2->sites);
    for (size_t i = 0; i < otf2->place_count; i++)
        otf2->sites[i] =
            1 + defs_add_site(otf2->defs,
                              &(struct site_def){.file = (char *)(uintptr_t)otf2_string(otf2, otf2->place[i].file),
                                                 .id = EVENT_UNKNOWN,
                                                 .line = (int32_t)(otf2->place[i].line & INT32_MAX)});
}

/* A node after its parents; those that are their own parents have none. */
static void make_path(struct otf2_defs *otf2, uint32_t index)
{
    /* Deeper parents are cut off: the path begins 256 levels above its end. A cycle ends the same way. */
    uint32_t chain[256];
    size_t depth = 0;
    for (uint32_t at = index; at != OTF2_NONE && otf2->context[at].path == OTF2_NONE && depth < 256;
         at = otf2_index(&otf2->context_ids, otf2->context[at].parent))
        chain[depth++] = at;
    while (depth-- > 0) {
        struct otf2_context *context = &otf2->context[chain[depth]];
        uint32_t parent = otf2_index(&otf2->context_ids, context->parent);
        uint32_t region = otf2_index(&otf2->region_ids, context->region);
        /* Already made as the parent of another, or of a region that is not defined. */
        if (context->path != OTF2_NONE || region == OTF2_NONE)
            continue;
        bool under = parent != OTF2_NONE && otf2->context[parent].path != OTF2_NONE;
        context->site = otf2_site(otf2, context->place);
        context->path = defs_add_path(otf2->defs, &(struct path_def){under ? otf2->context[parent].path + 1 : 0,
                                                                     otf2->states[region], context->site});
    }
}

static void make_paths(struct otf2_defs *otf2)
{
    for (uint32_t i = 0; i < otf2->context_count; i++)
        make_path(otf2, i);
}

static enum counter_type type_of(OTF2_Type type)
{
    /* Floats are widened when their values are read. */
    if (type == OTF2_TYPE_DOUBLE || type == OTF2_TYPE_FLOAT)
        return COUNTER_DOUBLE;
    if (type == OTF2_TYPE_INT64)
        return COUNTER_INT64;
    return COUNTER_UINT64;
}

static struct counter_def counter_of(const struct otf2_defs *otf2, const struct otf2_member *member,
                                     OTF2_MetricScope scope, bool instance)
{
    struct counter_def counter = {.type = type_of(member->type)};
    /* START, POINT, LAST and NEXT, which say when a value holds, are dropped: ours hold at the event. */
    switch (member->mode & OTF2_METRIC_VALUE_MASK) {
    case OTF2_METRIC_VALUE_ACCUMULATED:
        counter.mode = COUNTER_MODE_ACCUMULATED;
        break;
    case OTF2_METRIC_VALUE_RELATIVE:
        counter.mode = COUNTER_MODE_RELATIVE;
        break;
    default:
        counter.mode = COUNTER_MODE_ABSOLUTE;
    }
    /* A class without an instance is of the location that records it. */
    if (instance && scope == OTF2_SCOPE_LOCATION_GROUP)
        counter.scope = COUNTER_OF_PROCESS;
    else if (instance && scope == OTF2_SCOPE_SYSTEM_TREE_NODE)
        counter.scope = COUNTER_OF_HOST;
    else if (instance && scope == OTF2_SCOPE_GROUP)
        counter.scope = COUNTER_OF_ALL;
    /* The value stands for value * base^exponent: kept apart, so that no precision is lost. */
    if (member->exponent != 0 && member->exponent >= INT32_MIN && member->exponent <= INT32_MAX) {
        counter.base = member->base == OTF2_BASE_BINARY ? 2 : 10;
        counter.exponent = (int32_t)member->exponent;
    }
    /* Borrowed: adding a mark copies it. */
    counter.unit = (char *)(uintptr_t)otf2_string(otf2, member->unit);
    if (counter.unit && strcmp(counter.unit, "#") == 0)
        counter.unit = NULL; /* OTF2's word for a number of things */
    return counter;
}

/* Instances of a class that are each recorded by another location are one counter: events say whose it is. Those that
   share a location (a plug-in that reads counters of several processes) are counters of their own. `counters` holds the
   first instance of each class and scope, `recorders` who records its counter. False: the metric gets its own. */
static bool share_counter(struct otf2_defs *otf2, struct otf2_metric *metric, uint32_t class, struct map *counters,
                          struct map *recorders)
{
    uint32_t self = (uint32_t)(metric - otf2->metric), recorder = otf2_index(&otf2->location_ids, metric->recorder);
    uint32_t first = (uint32_t)*map_put(counters, map_pair(class, metric->scope), self);
    uint64_t *taken = map_put(recorders, map_pair(first, recorder), self);
    if (*taken != self || first == self || recorder == OTF2_NONE)
        return false;
    metric->mark = otf2->metric[first].mark;
    metric->count = otf2->metric[first].count;
    return true;
}

static void make_metrics(struct otf2_defs *otf2)
{
    struct map counters = {0}, recorders = {0};
    for (size_t i = 0; i < otf2->metric_count; i++) {
        uint32_t class = otf2->metric[i].instance ? otf2_index(&otf2->metric_ids, otf2->metric[i].of) : OTF2_NONE;
        if (class != OTF2_NONE)
            otf2->metric[class].has_instances = true;
    }
    for (size_t i = 0; i < otf2->metric_count; i++) {
        struct otf2_metric *metric = &otf2->metric[i];
        uint32_t class = metric->instance ? otf2_index(&otf2->metric_ids, metric->of) : (uint32_t)i;
        /* An instance of an instance could be a circle. */
        if (class == OTF2_NONE || otf2->metric[class].instance)
            continue;
        const struct otf2_metric *of = &otf2->metric[class];
        if (metric->instance && share_counter(otf2, metric, class, &counters, &recorders))
            continue;
        metric->mark = (uint32_t)otf2->defs->mark_count;
        metric->count = of->count;
        for (uint8_t k = 0; k < of->count; k++) {
            /* A member without definition keeps its place: values are counted by position. */
            static const struct otf2_member nothing = {.type = OTF2_TYPE_UINT64, .name = OTF2_UNDEFINED_STRING};
            uint32_t index = otf2_index(&otf2->member_ids, of->members[k]);
            const struct otf2_member *member = index == OTF2_NONE ? &nothing : &otf2->member[index];
            defs_add_mark(otf2->defs,
                          &(struct mark_def){.name = (char *)(uintptr_t)otf2_string(otf2, member->name),
                                             .id = EVENT_UNKNOWN,
                                             .defined = true,
                                             .made_up = metric->has_instances,
                                             .counter = counter_of(otf2, member, metric->scope, metric->instance)});
        }
    }
    map_clear(&counters);
    map_clear(&recorders);
}

static void make_handles(struct otf2_defs *otf2)
{
    otf2->handles = memory_new((otf2->handle_count + 1) * sizeof *otf2->handles);
    for (size_t i = 0; i < otf2->handle_count; i++) {
        const struct otf2_handle *handle = &otf2->handle[i];
        uint32_t file = otf2_index(&otf2->file_ids, handle->file), api = otf2_index(&otf2->api_ids, handle->paradigm);
        uint32_t comm = otf2_index(&otf2->comm_ids, handle->comm);
        struct handle_def ours = {.name = (char *)(uintptr_t)otf2_string(otf2, handle->name), .comm = EVENT_UNKNOWN};
        /* The path of the file says more than the handle's name, which is often empty. Pipes and sockets have none. */
        const char *path = file == OTF2_NONE ? NULL : otf2_string(otf2, otf2->file[file]);
        if (path)
            ours.name = (char *)(uintptr_t)path;
        if (api != OTF2_NONE)
            ours.api = (char *)(uintptr_t)otf2_string(otf2, otf2->api[api]);
        if (comm != OTF2_NONE)
            ours.comm = otf2->comm[comm].comm;
        otf2->handles[i] = defs_add_handle(otf2->defs, &ours);
    }
}

static uint32_t plain_mark(struct otf2_defs *otf2, const char *name)
{
    return defs_add_mark(otf2->defs,
                         &(struct mark_def){.name = (char *)(uintptr_t)name, .id = EVENT_UNKNOWN, .defined = true});
}

/* Marks that are not the archive's: what our format needs for requests, and for threads without calls. */
static void make_marks(struct otf2_defs *otf2)
{
    otf2->request_mark =
        defs_add_mark(otf2->defs, &(struct mark_def){.name = (char *)(uintptr_t)REQUEST_MARK_NAME,
                                                     .format = (char *)(uintptr_t)PAYLOAD_REQUESTS_FORMAT,
                                                     .id = EVENT_UNKNOWN,
                                                     .defined = true});
    otf2->begin_mark = plain_mark(otf2, BEGIN_MARK_NAME);
    otf2->end_mark = plain_mark(otf2, END_MARK_NAME);
    for (size_t i = 0; i < otf2->parameter_count; i++) {
        /* Parameters that are no text are whole numbers of 64 bits. */
        bool text = otf2->parameter[i].type == OTF2_PARAMETER_TYPE_STRING;
        struct mark_def mark = {.name = (char *)(uintptr_t)otf2_string(otf2, otf2->parameter[i].name),
                                .format = text ? NULL : (char *)(uintptr_t) "value=%l",
                                .id = EVENT_UNKNOWN,
                                .defined = true};
        otf2->parameter[i].mark = defs_add_mark(otf2->defs, &mark);
    }
}

static void make_facts(struct otf2_defs *otf2)
{
    otf2_read_realtime(otf2->defs, otf2->realtime);
    for (size_t i = 0; i < otf2->fact_count; i++) {
        const char *name = otf2_string(otf2, otf2->fact[i].name), *value = otf2_string(otf2, otf2->fact[i].value);
        uint32_t index = otf2_index(&otf2->process_ids, otf2->fact[i].group);
        /* A fact of an accelerator's process has no rank of ours. */
        if (!name || index == OTF2_NONE || otf2->process[index].rank >= otf2->defs->processes)
            continue;
        char *ours = otf2_property_read_name(name);
        property_add_of(&otf2->defs->properties, ours, value, otf2->process[index].rank, otf2->process[index].rank);
        free(ours);
    }
}

enum status otf2_defs_read(struct otf2_defs *otf2, struct otf2_archive *archive, struct reader *reader,
                           struct error *err)
{
    otf2_file_show(archive, OTF2_UNDEFINED_LOCATION, "def");
    OTF2_GlobalDefReader *definitions = OTF2_Reader_GetGlobalDefReader(archive->library);
    otf2_file_hide(archive);
    uint64_t count = 0;
    otf2->defs = reader->defs;
    /* Until the archive says otherwise, which it must before its first event. */
    otf2->resolution = 1000000000;
    OTF2_ErrorCode code = OTF2_ERROR_INVALID;
    if (definitions) {
        OTF2_GlobalDefReaderCallbacks *callbacks = callbacks_new();
        OTF2_Reader_RegisterGlobalDefCallbacks(archive->library, definitions, callbacks, otf2);
        OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
        code = OTF2_Reader_ReadAllGlobalDefinitions(archive->library, definitions, &count);
        OTF2_Reader_CloseGlobalDefReader(archive->library, definitions);
    }
    const char *why = otf2_complaint(archive);
    /* Locations come late in the definitions: without one, no event could be read. Damage after them costs names
       only. */
    if (code != OTF2_SUCCESS && otf2->location_count == 0)
        return error_set(err, ERROR_INPUT, "%s: the definitions of this archive cannot be read%s%s",
                         reader->input->name, *why ? ": " : "", why);
    if (code != OTF2_SUCCESS)
        reader_damage(reader, 0, "the definitions are damaged%s%s", *why ? ": " : "", why);
    if (otf2->resolution == 0) {
        reader_damage(reader, 0, "the clock has no resolution: taken for 1 ns");
        otf2->resolution = 1000000000;
    }
    /* In this order: communicators need the processes, contexts the states and places, handles the communicators. */
    otf2_make_states(otf2);
    otf2_make_processes(otf2);
    otf2_make_comms(otf2);
    make_sites(otf2);
    make_paths(otf2);
    make_metrics(otf2);
    make_handles(otf2);
    make_marks(otf2);
    make_facts(otf2);
    return STATUS_OK;
}

void otf2_defs_clear(struct otf2_defs *otf2)
{
    for (size_t i = 0; i < otf2->string_count; i++)
        free(otf2->string[i]);
    for (size_t i = 0; i < otf2->group_count; i++)
        free(otf2->group[i].members);
    for (size_t i = 0; i < otf2->metric_count; i++)
        free(otf2->metric[i].members);
    for (size_t i = 0; i < otf2->comm_count; i++) {
        free(otf2->comm[i].world);
        free(otf2->comm[i].other_world);
    }
#define OTF2_FREE(name, type)                                                                                          \
    free(otf2->name);                                                                                                  \
    map_clear(&otf2->name##_ids.places);
    OTF2_KINDS(OTF2_FREE)
#undef OTF2_FREE
    free(otf2->states);
    free(otf2->handles);
    free(otf2->sites);
    free(otf2->near_states);
}
