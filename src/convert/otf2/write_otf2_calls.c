/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of events. The effect of a call is known when it is left: the events of an MPI call are kept until then. */
#include "convert/otf2/write_otf2.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/payload.h"

#include <string.h>

static OTF2_TimeStamp ticks(const struct otf2_writer *otf2, int64_t time_ns)
{
    return (OTF2_TimeStamp)(time_ns + otf2->shift_ns);
}

/* Notes the first fault of the library; counts the record. */
static void wrote(struct otf2_writer *otf2, OTF2_ErrorCode code)
{
    otf2->location->events += code == OTF2_SUCCESS;
    if (code != OTF2_SUCCESS && otf2->fault.kind == ERROR_NONE)
        error_set(&otf2->fault, ERROR_OUTPUT, "%s: libotf2 cannot write a record: %s", otf2->path,
                  OTF2_Error_GetDescription(code));
}

static void lose(struct otf2_writer *otf2, const char *what, bool lost)
{
    writer_lose(&otf2->writer, what, lost);
}

/* Regions: every leave is that of the innermost. */

static void put_enter(struct otf2_writer *otf2, const struct event *event)
{
    lose(otf2, "payloads of states", event->payload_length > 0);
    if (event->site > 0 && event->site <= otf2->defs->site_count)
        OTF2_AttributeList_AddSourceCodeLocationRef(otf2->attributes, 0, event->site - 1);
    wrote(otf2, OTF2_EvtWriter_Enter(otf2->events, otf2->attributes, ticks(otf2, event->time_ns), event->state));
    ARRAY_PUSH(otf2->stack, otf2->depth, otf2->stack_capacity, event->state);
}

/* Vampir and Scalasca demand that every leave is that of the innermost region. States of CLOG-2 may cross: those that
   are inside are left first and entered again at the same time, which adds no time to any of them. */
static void put_leave(struct otf2_writer *otf2, const struct event *event)
{
    size_t at = otf2->depth;
    OTF2_TimeStamp time = ticks(otf2, event->time_ns);
    lose(otf2, "payloads of states", event->payload_length > 0);
    while (at > 0 && otf2->stack[at - 1] != event->state)
        at--;
    lose(otf2, "leaves without an enter", at == 0);
    if (at == 0)
        return;
    lose(otf2, "states that cross: they are left and entered again", at < otf2->depth);
    for (size_t i = otf2->depth; i >= at; i--)
        wrote(otf2, OTF2_EvtWriter_Leave(otf2->events, NULL, time, otf2->stack[i - 1]));
    for (size_t i = at; i < otf2->depth; i++) {
        wrote(otf2, OTF2_EvtWriter_Enter(otf2->events, NULL, time, otf2->stack[i]));
        otf2->stack[i - 1] = otf2->stack[i];
    }
    otf2->depth--;
}

/* Requests */

static struct otf2_pending *pending_of(struct otf2_writer *otf2, uint32_t number)
{
    const uint64_t *place = map_find(&otf2->requests, number);
    if (place)
        return &otf2->pending[*place];
    return NULL;
}

/* A number is used again after its request is over; the archive's ids are never, as Scalasca looks for them. */
static struct otf2_pending *pending_put(struct otf2_writer *otf2, uint32_t number, struct otf2_pending with)
{
    uint64_t *place = map_put(&otf2->requests, number, otf2->pending_count);
    if (*place == otf2->pending_count)
        ARRAY_PUSH(otf2->pending, otf2->pending_count, otf2->pending_capacity, with);
    otf2->pending[*place] = with;
    return &otf2->pending[*place];
}

/* Without the prefix, and in any case: neighbourhood and non-blocking variants are the same operation. */
static OTF2_CollectiveOp operation_of(const struct state_def *state)
{
    static const struct {
        const char *name;
        OTF2_CollectiveOp operation;
    } operations[] = {{"barrier", OTF2_COLLECTIVE_OP_BARRIER},
                      {"bcast", OTF2_COLLECTIVE_OP_BCAST},
                      {"gather", OTF2_COLLECTIVE_OP_GATHER},
                      {"gatherv", OTF2_COLLECTIVE_OP_GATHERV},
                      {"scatter", OTF2_COLLECTIVE_OP_SCATTER},
                      {"scatterv", OTF2_COLLECTIVE_OP_SCATTERV},
                      {"allgather", OTF2_COLLECTIVE_OP_ALLGATHER},
                      {"allgatherv", OTF2_COLLECTIVE_OP_ALLGATHERV},
                      {"alltoall", OTF2_COLLECTIVE_OP_ALLTOALL},
                      {"alltoallv", OTF2_COLLECTIVE_OP_ALLTOALLV},
                      {"alltoallw", OTF2_COLLECTIVE_OP_ALLTOALLW},
                      {"allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE},
                      {"reduce", OTF2_COLLECTIVE_OP_REDUCE},
                      {"reduce_scatter", OTF2_COLLECTIVE_OP_REDUCE_SCATTER},
                      {"reduce_scatter_block", OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
                      {"scan", OTF2_COLLECTIVE_OP_SCAN},
                      {"exscan", OTF2_COLLECTIVE_OP_EXSCAN}};
    const char *name = state->name + strlen("MPI_");
    if (strncmp(name, "Neighbor_", 9) == 0 || strncmp(name, "Ineighbor_", 10) == 0)
        name = strchr(name, '_') + 1;
    else if (otf2_is_posting(state->name))
        name++;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strcasecmp(name, operations[i].name) == 0)
            return operations[i].operation;
    if (strstr(name, "free"))
        return OTF2_COLLECTIVE_OP_DESTROY_HANDLE;
    return OTF2_COLLECTIVE_OP_CREATE_HANDLE;
}

/* The communicator's number in the archive. */
static uint32_t comm_number(const struct otf2_writer *otf2, int32_t comm)
{
    if (comm < 0)
        return OTF2_UNDEFINED_COMM;
    return otf2->comms[comm];
}

/* That of a message: between two groups the inter-communicator's. */
static uint32_t message_comm(const struct otf2_writer *otf2, const struct event *message)
{
    int32_t comm = message->comm, partner = message->partner_comm;
    if (comm < 0 || partner < 0 || comm == partner)
        return comm_number(otf2, comm);
    const uint64_t *inter = map_find(&otf2->inters, (uint64_t)smaller(comm, partner));
    if (inter)
        return (uint32_t)*inter;
    return OTF2_UNDEFINED_COMM;
}

static uint32_t root_number(int32_t root)
{
    if (root == ROOT_SELF)
        return OTF2_COLLECTIVE_ROOT_SELF;
    if (root == ROOT_BESIDE)
        return OTF2_COLLECTIVE_ROOT_THIS_GROUP;
    if (root >= 0)
        return (uint32_t)root;
    return OTF2_COLLECTIVE_ROOT_NONE;
}

static uint64_t size_of(int64_t bytes)
{
    /* The format has no unknown size; the loss is counted where it matters (messages). */
    if (bytes > 0)
        return (uint64_t)bytes;
    return 0;
}

/* Messages */

static void put_message(struct otf2_writer *otf2, const struct event *event, const struct otf2_pending *pending)
{
    bool send = event->kind == EVENT_SEND;
    int64_t bytes = send ? event->bytes_sent : event->bytes_received;
    int32_t rank = EVENT_UNKNOWN; /* in the communicator: that is what OTF2 wants */
    if (event->partner >= 0 && event->partner_comm >= 0)
        rank = defs_comm_rank(otf2->defs, event->partner_comm, (uint32_t)event->partner);
    uint32_t comm = message_comm(otf2, event);
    OTF2_TimeStamp time = ticks(otf2, event->time_ns);
    /* The communicator is not known, or not that its groups belong together: the message stays, with world ranks. */
    if (event->partner >= 0 && (rank < 0 || comm == OTF2_UNDEFINED_COMM)) {
        lose(otf2, "communicators of messages", event->comm >= 0);
        comm = 0;
        rank = event->partner;
    }
    lose(otf2, "messages to or from MPI_PROC_NULL", event->partner == PARTNER_NONE);
    lose(otf2, "messages whose partner is not known", event->partner != PARTNER_NONE && rank < 0);
    if (rank < 0)
        return;
    lose(otf2, "that tags are not known", event->tag == EVENT_UNKNOWN);
    lose(otf2, "that message sizes are not known", bytes < 0);
    uint32_t tag = event->tag == EVENT_UNKNOWN ? 0 : (uint32_t)event->tag, partner = (uint32_t)rank;
    if (send && pending)
        wrote(otf2, OTF2_EvtWriter_MpiIsend(otf2->events, NULL, time, partner, comm, tag, size_of(bytes), pending->id));
    else if (send)
        wrote(otf2, OTF2_EvtWriter_MpiSend(otf2->events, NULL, time, partner, comm, tag, size_of(bytes)));
    else if (pending)
        wrote(otf2, OTF2_EvtWriter_MpiIrecv(otf2->events, NULL, time, partner, comm, tag, size_of(bytes), pending->id));
    else
        wrote(otf2, OTF2_EvtWriter_MpiRecv(otf2->events, NULL, time, partner, comm, tag, size_of(bytes)));
}

static void put_mark(struct otf2_writer *otf2, const struct event *event, const unsigned char *arena)
{
    const struct mark_def *mark = &otf2->defs->marks[event->state];
    char text[1024];
    /* What our recorder notes about requests is in the records of messages; the rest has no place in the format. */
    bool ours = payload_mark_is_ours(mark->name);
    if (strcmp(mark->name, BEGIN_MARK_NAME) == 0) {
        wrote(otf2,
              OTF2_EvtWriter_ThreadBegin(otf2->events, NULL, ticks(otf2, event->time_ns), OTF2_UNDEFINED_COMM, 0));
        return;
    }
    if (strcmp(mark->name, END_MARK_NAME) == 0) {
        wrote(otf2, OTF2_EvtWriter_ThreadEnd(otf2->events, NULL, ticks(otf2, event->time_ns), OTF2_UNDEFINED_COMM, 0));
        return;
    }
    lose(otf2, "facts about calls on windows, and neighbours", ours && !mark->gives_requests);
    if (ours)
        return;
    /* The payload of a mark inside a call is gone by the time the call is written (arena is NULL): the moment stays. */
    if (arena)
        payload_event_text(text, sizeof text, mark->format, event, arena);
    else
        payload_text(text, sizeof text, event->flags & EVENT_PAYLOAD_TEXT ? NULL : mark->format, NULL, 0);
    uint32_t string = otf2_text_number(otf2, text);
    lose(otf2, "texts of single events: there are too many", string == OTF2_UNDEFINED_UINT32);
    if (string != OTF2_UNDEFINED_UINT32)
        wrote(otf2,
              OTF2_EvtWriter_ParameterString(otf2->events, NULL, ticks(otf2, event->time_ns), event->state, string));
}

static uint32_t metric_number(struct otf2_writer *otf2, uint32_t mark, uint32_t location, uint32_t class)
{
    uint64_t *number = map_put(&otf2->metric_numbers, map_pair(mark, location), otf2->metric_count);
    if (*number == otf2->metric_count)
        ARRAY_PUSH(otf2->metrics, otf2->metric_count, otf2->metric_capacity,
                   (struct otf2_metric_number){mark, class, location});
    return (uint32_t)*number;
}

static uint32_t metric_of(struct otf2_writer *otf2, uint32_t mark)
{
    uint32_t class = metric_number(otf2, mark, OTF2_NO_LOCATION, 0);
    if (otf2->defs->marks[mark].counter.scope == COUNTER_OF_THREAD)
        return class;
    return metric_number(otf2, mark, (uint32_t)otf2->location_count - 1, class);
}

/* Events outside MPI calls, or independent of their call. */
static void put_plain(struct otf2_writer *otf2, const struct event *event, const unsigned char *arena)
{
    OTF2_TimeStamp time = ticks(otf2, event->time_ns);
    switch (event->kind) {
    case EVENT_ENTER:
        put_enter(otf2, event);
        break;
    case EVENT_LEAVE:
        put_leave(otf2, event);
        break;
    case EVENT_SEND:
    case EVENT_RECEIVE:
        put_message(otf2, event, NULL);
        break;
    case EVENT_COUNTER: {
        OTF2_Type type = otf2_type_of(&otf2->defs->marks[event->state].counter);
        OTF2_MetricValue value = {.signed_int = event->value};
        wrote(otf2, OTF2_EvtWriter_Metric(otf2->events, NULL, time, metric_of(otf2, event->state), 1, &type, &value));
        break;
    }
    case EVENT_MARK:
        put_mark(otf2, event, arena);
        break;
    case EVENT_RMA:
        lose(otf2, "steps of one-sided operations", true);
        break;
    case EVENT_IO:
        lose(otf2, "I/O operations", true);
        break;
    case EVENT_SAMPLE:
        lose(otf2, "samples", true);
        break;
    default:
        break;
    }
}

/* Calls */

/* The next of the requests that sends or receives. NULL: there is none. Messages of a call that posts or completes
   several requests are in the order of the requests. */
static struct otf2_pending *next_pending(struct otf2_writer *otf2, struct otf2_called *numbers, unsigned kind)
{
    while (numbers->at < numbers->count) {
        struct otf2_pending *pending = pending_of(otf2, numbers->numbers[numbers->at++]);
        if (pending && pending->active && pending->kinds & kind)
            return pending;
    }
    return NULL;
}

static void post_requests(struct otf2_writer *otf2, enum otf2_role role, const struct state_def *state,
                          const struct event *leave, const struct otf2_called *numbers)
{
    OTF2_TimeStamp time = ticks(otf2, otf2->call[0].time_ns);
    for (size_t i = 0; i < numbers->count; i++) {
        struct otf2_pending *pending = pending_of(otf2, numbers->numbers[i]);
        /* otf2_follow_requests has set it. */
        uint64_t id = (uint64_t)leave->value + i;
        /* A persistent request that is started again is a new one to the archive. */
        if (role == OTF2_START && pending && !pending->active)
            pending->id = id;
        else if (role != OTF2_START)
            pending = pending_put(otf2, numbers->numbers[i],
                                  (struct otf2_pending){.id = id, .kinds = otf2_kinds_of(role, state)});
        else
            continue;
        pending->active = role != OTF2_INIT;
        pending->leave = *leave;
        if (role == OTF2_INIT)
            continue;
        if (pending->kinds & OTF2_RECEIVES)
            wrote(otf2, OTF2_EvtWriter_MpiIrecvRequest(otf2->events, NULL, time, pending->id));
        if (pending->kinds & OTF2_COLLECTS && comm_number(otf2, leave->comm) != OTF2_UNDEFINED_COMM)
            wrote(otf2, OTF2_EvtWriter_NonBlockingCollectiveRequest(otf2->events, NULL, time, pending->id));
    }
}

/* What completes in the call without a message. */
static void complete_requests(struct otf2_writer *otf2, const struct event *leave, const struct otf2_called *numbers)
{
    OTF2_TimeStamp time = ticks(otf2, leave->time_ns);
    for (size_t i = 0; i < numbers->count; i++) {
        struct otf2_pending *pending = pending_of(otf2, numbers->numbers[i]);
        if (!pending || !pending->active)
            continue;
        const struct event *posted = &pending->leave;
        pending->active = false;
        if (pending->kinds & OTF2_SENDS)
            wrote(otf2, OTF2_EvtWriter_MpiIsendComplete(otf2->events, NULL, time, pending->id));
        else if (pending->kinds & OTF2_RECEIVES)
            /* A receive that completes without a message was cancelled, or was from MPI_PROC_NULL. */
            wrote(otf2, OTF2_EvtWriter_MpiRequestCancelled(otf2->events, NULL, time, pending->id));
        else if (comm_number(otf2, posted->comm) != OTF2_UNDEFINED_COMM)
            wrote(otf2, OTF2_EvtWriter_NonBlockingCollectiveComplete(
                            otf2->events, NULL, time, operation_of(&otf2->defs->states[posted->state]),
                            comm_number(otf2, posted->comm), root_number(posted->tag), size_of(posted->bytes_sent),
                            size_of(posted->bytes_received), pending->id));
    }
}

/* The library wants a completion for each operation, with the same number: the leave of the call is when it is known
   to be done at this process. */
static void put_one_sided(struct otf2_writer *otf2, const struct state_def *state, const struct event *enter,
                          const struct event *leave)
{
    OTF2_TimeStamp time = ticks(otf2, leave->time_ns);
    uint32_t window = enter->comm >= 0 ? otf2->windows[enter->comm] : OTF2_UNDEFINED_UINT32;
    const char *name = state->name;
    if (window == OTF2_UNDEFINED_UINT32)
        return;
    uint32_t target = leave->tag >= 0 ? (uint32_t)leave->tag : 0;
    uint64_t sent = size_of(leave->bytes_sent), received = size_of(leave->bytes_received), id = ++otf2->next_operation;
    if (strcmp(name, "MPI_Win_fence") == 0) {
        wrote(otf2, OTF2_EvtWriter_RmaCollectiveBegin(otf2->events, NULL, ticks(otf2, enter->time_ns)));
        wrote(otf2, OTF2_EvtWriter_RmaCollectiveEnd(otf2->events, NULL, time, OTF2_COLLECTIVE_OP_BARRIER,
                                                    OTF2_RMA_SYNC_LEVEL_MEMORY | OTF2_RMA_SYNC_LEVEL_PROCESS, window,
                                                    OTF2_UNDEFINED_UINT32, 0, 0));
    } else if (leave->tag < 0) {
        lose(otf2, "windows of synchronising calls", true);
    } else if (strstr(name, "ut") && strncmp(name, "MPI_Win", 7) != 0) {
        wrote(otf2, OTF2_EvtWriter_RmaPut(otf2->events, NULL, time, window, target, sent, id));
        wrote(otf2, OTF2_EvtWriter_RmaOpCompleteNonBlocking(otf2->events, NULL, time, window, id));
    } else if (strcmp(name, "MPI_Get") == 0 || strcmp(name, "MPI_Rget") == 0) {
        wrote(otf2, OTF2_EvtWriter_RmaGet(otf2->events, NULL, time, window, target, received, id));
        wrote(otf2, OTF2_EvtWriter_RmaOpCompleteNonBlocking(otf2->events, NULL, time, window, id));
    } else {
        wrote(otf2, OTF2_EvtWriter_RmaAtomic(otf2->events, NULL, time, window, target, OTF2_RMA_ATOMIC_TYPE_ACCUMULATE,
                                             sent, received, id));
        wrote(otf2, OTF2_EvtWriter_RmaOpCompleteNonBlocking(otf2->events, NULL, time, window, id));
    }
}

/* The messages and the rest between enter and leave. */
static void put_inside(struct otf2_writer *otf2, enum otf2_role role, struct otf2_called *numbers)
{
    for (size_t i = 1; i + 1 < otf2->call_count; i++) {
        const struct event *event = &otf2->call[i];
        struct otf2_pending *pending = NULL;
        if (event->kind == EVENT_SEND && (role == OTF2_POST || role == OTF2_START)) {
            pending = next_pending(otf2, numbers, OTF2_SENDS);
        } else if (event->kind == EVENT_RECEIVE && role == OTF2_WAIT) {
            pending = next_pending(otf2, numbers, OTF2_RECEIVES);
            if (pending)
                /* That of MPI_Isendrecv still has its send to complete. */
                pending->active = pending->kinds & OTF2_SENDS;
        }
        if (event->kind == EVENT_SEND || event->kind == EVENT_RECEIVE)
            put_message(otf2, event, pending);
        else
            put_plain(otf2, event, NULL);
    }
}

/* Some formats state communicator, root and bytes inside the call, not on its leave. */
static void take_details(struct event *whole, const struct event *inside)
{
    if (whole->comm < 0)
        whole->comm = inside->comm;
    if (inside->tag >= 0)
        whole->tag = inside->tag;
    if (inside->bytes_sent != BYTES_UNKNOWN)
        whole->bytes_sent = inside->bytes_sent;
    if (inside->bytes_received != BYTES_UNKNOWN)
        whole->bytes_received = inside->bytes_received;
}

/* Another thread has used the request: what this one knows of it is out of date. */
static void adopt(struct otf2_writer *otf2, const struct event *elsewhere)
{
    pending_put(otf2, (uint32_t)elsewhere->request,
                (struct otf2_pending){.id = (uint64_t)elsewhere->value,
                                      .kinds = elsewhere->requests,
                                      .active = elsewhere->flags,
                                      .leave = *elsewhere});
}

static void write_call(struct otf2_writer *otf2)
{
    const struct event *enter = &otf2->call[0], *leave = &otf2->call[otf2->call_count - 1];
    const struct state_def *state = &otf2->defs->states[enter->state];
    enum otf2_role role = otf2_role_of(state);
    struct event whole = *leave;
    /* Readers set it on both; a damaged trace may lack one of them. */
    whole.comm = enter->comm >= 0 ? enter->comm : leave->comm;
    for (size_t i = 1; i + 1 < otf2->call_count; i++)
        if (otf2->call[i].kind == EVENT_COLLECTIVE)
            take_details(&whole, &otf2->call[i]);
    struct otf2_called numbers = {0};
    for (size_t i = 0; i < otf2->call_count; i++) {
        otf2_add_called(&numbers, otf2->defs, &otf2->call[i], i + 1 == otf2->call_count);
        if (otf2->call[i].kind == OTF2_REQUEST_ELSEWHERE)
            adopt(otf2, &otf2->call[i]);
    }
    uint32_t comm = comm_number(otf2, whole.comm);
    bool meets = role == OTF2_MEET && comm != OTF2_UNDEFINED_COMM;
    put_enter(otf2, enter);
    if (meets)
        wrote(otf2, OTF2_EvtWriter_MpiCollectiveBegin(otf2->events, NULL, ticks(otf2, enter->time_ns)));
    if (otf2_role_posts(role))
        post_requests(otf2, role, state, &whole, &numbers);
    put_inside(otf2, role, &numbers);
    if (role == OTF2_WAIT)
        complete_requests(otf2, leave, &numbers);
    if (meets)
        wrote(otf2, OTF2_EvtWriter_MpiCollectiveEnd(otf2->events, NULL, ticks(otf2, leave->time_ns),
                                                    operation_of(state), comm, root_number(whole.tag),
                                                    size_of(whole.bytes_sent), size_of(whole.bytes_received)));
    if (role == OTF2_ONE_SIDED)
        put_one_sided(otf2, state, enter, leave);
    put_leave(otf2, leave);
    free(numbers.numbers);
}

/* The call is not left, or too long: its events are written as they are. */
static void give_up_call(struct otf2_writer *otf2)
{
    for (size_t i = 0; i < otf2->call_count; i++)
        put_plain(otf2, &otf2->call[i], NULL);
    otf2->call_count = 0;
    otf2->open_call = (struct otf2_open_call){0};
}

void otf2_write_event(struct otf2_writer *otf2, const struct event *event, const unsigned char *arena)
{
    enum otf2_place place = otf2_place_of(&otf2->open_call, otf2->defs, event);
    if (place == OTF2_OUTSIDE) {
        put_plain(otf2, event, arena);
        return;
    }
    ARRAY_PUSH(otf2->call, otf2->call_count, otf2->call_capacity, *event);
    if (place == OTF2_LEFT) {
        write_call(otf2);
        otf2->call_count = 0;
    } else if (place == OTF2_TOO_LONG) {
        give_up_call(otf2);
    }
}

void otf2_write_end(struct otf2_writer *otf2)
{
    give_up_call(otf2);
    otf2->depth = 0;
    otf2->pending_count = 0;
    map_clear(&otf2->requests);
}
