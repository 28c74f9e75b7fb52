/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/otf2/otf2_events.h"
#include "core/numbers.h"

/* An event waits for at most this many later ones. */
enum { WAIT_MOST = 32 * 1024 };

size_t otf2_location_ready(const struct otf2_location *location)
{
    uint64_t wait = location->first + location->count;
    /* An archive that never leaves a call, or never completes a collective, must not be kept in memory as a whole. */
    if (!location->more || location->count - location->head > WAIT_MOST)
        return location->count;
    if (location->call.open && location->call.enter < wait)
        wait = location->call.enter;
    for (size_t i = 0; i < location->posted_count; i++)
        wait = smaller(location->posted[i].enter, wait);
    if (wait > location->first + location->head)
        return (size_t)(wait - location->first);
    return location->head;
}

void otf2_location_clear(struct otf2_location *location)
{
    free(location->events);
    free(location->arena);
    free(location->posted);
    free(location->steps.step);
    free(location->call.posted.numbers);
    free(location->call.completed.numbers);
    map_clear(&location->modes);
}

/* Calls */

/* Only the outermost call counts: an MPI function may be made of others, and what happens in those belongs to the call
   that the program made. The memory of the two lists of numbers is kept from call to call. */
static void open_call(struct otf2_location *location, uint32_t state, uint64_t number)
{
    struct otf2_call *call = &location->call;
    if (call->depth++ > 0)
        return;
    *call = (struct otf2_call){.open = true,
                               .depth = 1,
                               .enter = number,
                               .state = state,
                               .comm = EVENT_UNKNOWN,
                               .root = EVENT_UNKNOWN,
                               .sent = BYTES_UNKNOWN,
                               .received = BYTES_UNKNOWN,
                               .posted = call->posted,
                               .completed = call->completed};
    call->posted.count = call->completed.count = 0;
}

/* Makes the leave of the outermost call: with what happened in it. */
static void close_call(struct otf2_location *location, OTF2_TimeStamp time, uint32_t state)
{
    struct otf2_call *call = &location->call;
    struct event requests;
    bool any = call->posted.count > 0 || call->completed.count > 0;
    if (any) {
        requests = EVENT_NOTHING;
        otf2_tell_requests(location, time, &requests);
    }
    /* After the last otf2_push, which may move the events. */
    struct event *leave = otf2_push(location, time, EVENT_LEAVE, state), *enter = otf2_event(location, call->enter);
    if (any) {
        leave->request = requests.request;
        leave->requests = requests.requests;
        leave->flags = requests.flags;
    }
    leave->comm = call->comm;
    /* NULL: it was given before its leave (WAIT_MOST), and keeps an unknown communicator. */
    if (enter)
        enter->comm = call->comm;
    if (call->moved) {
        leave->tag = call->root;
        leave->bytes_sent = call->sent;
        leave->bytes_received = call->received;
    }
    call->open = false;
}

static inline uint32_t state_of(struct otf2_location *location, OTF2_RegionRef region)
{
    const struct otf2_defs *otf2 = location->otf2;
    /* Writers number their regions from 0, but for a few with holes: an array serves nearly always. */
    if (region < otf2->near_count && otf2->near_states[region] != OTF2_NONE)
        return otf2->near_states[region];
    uint32_t index = otf2_index(&otf2->region_ids, region);
    location->undefined += index == OTF2_NONE;
    if (index == OTF2_NONE)
        return OTF2_NONE;
    return location->otf2->states[index];
}

static void enter(struct otf2_location *location, OTF2_TimeStamp time, uint32_t state, uint32_t site)
{
    uint64_t number = location->first + location->count;
    otf2_push(location, time, EVENT_ENTER, state)->site = site;
    if (location->otf2->defs->states[state].is_mpi)
        open_call(location, state, number);
}

static void leave(struct otf2_location *location, OTF2_TimeStamp time, uint32_t state)
{
    struct otf2_call *call = &location->call;
    if (location->otf2->defs->states[state].is_mpi && call->depth > 0 && --call->depth == 0 && call->open)
        close_call(location, time, state);
    else
        otf2_push(location, time, EVENT_LEAVE, state);
}

/* Where in the program the call is, if an attribute says so. */
static uint32_t site_of(const struct otf2_defs *otf2, OTF2_AttributeList *attributes)
{
    uint32_t count = attributes ? OTF2_AttributeList_GetNumberOfElements(attributes) : 0;
    for (uint32_t i = 0; i < count; i++) {
        OTF2_AttributeRef attribute;
        OTF2_Type type;
        OTF2_AttributeValue value;
        if (OTF2_AttributeList_GetAttributeByIndex(attributes, i, &attribute, &type, &value) == OTF2_SUCCESS &&
            type == OTF2_TYPE_SOURCE_CODE_LOCATION) {
            return otf2_site(otf2, value.sourceCodeLocationRef);
        }
    }
    return 0;
}

static OTF2_CallbackCode on_enter(EVENT_ARGUMENTS, OTF2_RegionRef region)
{
    BEGIN;
    uint32_t state = state_of(location, region);
    if (state != OTF2_NONE)
        enter(location, time, state, site_of(location->otf2, attributes));
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_leave(EVENT_ARGUMENTS, OTF2_RegionRef region)
{
    BEGIN;
    uint32_t state = state_of(location, region);
    if (state != OTF2_NONE)
        leave(location, time, state);
    return OTF2_CALLBACK_SUCCESS;
}

/* Calling contexts */

/* A context whose region is not defined has no path: nothing could be entered. */
static const struct otf2_context *context_of(struct otf2_location *location, OTF2_CallingContextRef context)
{
    uint32_t index = otf2_index(&location->otf2->context_ids, context);
    bool known = index != OTF2_NONE && location->otf2->context[index].path != OTF2_NONE;
    location->undefined += !known;
    if (known)
        return &location->otf2->context[index];
    return NULL;
}

/* Score-P with sampling writes no ENTER and LEAVE: the node of the call tree names the region. */
static OTF2_CallbackCode on_context_enter(EVENT_ARGUMENTS, OTF2_CallingContextRef entered, uint32_t distance)
{
    BEGIN;
    (void)distance;
    const struct otf2_context *context = context_of(location, entered);
    if (context)
        enter(location, time, location->otf2->defs->paths[context->path].state, context->site);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_context_leave(EVENT_ARGUMENTS, OTF2_CallingContextRef left)
{
    BEGIN;
    const struct otf2_context *context = context_of(location, left);
    if (context)
        leave(location, time, location->otf2->defs->paths[context->path].state);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_sample(EVENT_ARGUMENTS, OTF2_CallingContextRef sampled, uint32_t distance,
                                   OTF2_InterruptGeneratorRef generator)
{
    BEGIN;
    (void)distance;
    (void)generator;
    const struct otf2_context *context = context_of(location, sampled);
    if (context)
        otf2_push(location, time, EVENT_SAMPLE, context->path)->site = context->site;
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_EvtReaderCallbacks *otf2_location_callbacks(void)
{
    OTF2_EvtReaderCallbacks *callbacks = OTF2_EvtReaderCallbacks_New();
    SET(Enter, on_enter);
    SET(Leave, on_leave);
    SET(CallingContextEnter, on_context_enter);
    SET(CallingContextLeave, on_context_leave);
    SET(CallingContextSample, on_sample);
    otf2_set_mpi(callbacks);
    otf2_set_rma_io(callbacks);
    otf2_set_values(callbacks);
    return callbacks;
}
