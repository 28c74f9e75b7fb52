/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/otf2/otf2_events.h"

/* Messages */

/* Nearly all messages of a location are on the same communicator as the one before: the last look-up is kept. */
static const struct otf2_comm *comm_of(struct otf2_location *location, OTF2_CommRef id)
{
    if (id != location->last_comm_id || location->last_comm == OTF2_NONE) {
        location->last_comm_id = id;
        location->last_comm = otf2_index(&location->otf2->comm_ids, id);
    }
    location->undefined += location->last_comm == OTF2_NONE;
    if (location->last_comm == OTF2_NONE)
        return NULL;
    return &location->otf2->comm[location->last_comm];
}

/* True if the process is in the second group of the inter-communicator. */
static bool is_other_side(const struct otf2_location *location, const struct otf2_comm *comm)
{
    uint32_t process = location->otf2->location[location->def].process;
    for (uint32_t i = 0; comm->inter && i < comm->other_count; i++)
        if (comm->other_world[i] == process)
            return true;
    return false;
}

/* MPI_PROC_NULL is -1 or -2 as its MPI has it. Other impossible ranks become unknown: recorders use statuses that were
   never filled. */
static int32_t partner_of(const struct otf2_location *location, const uint32_t *world, uint32_t count, bool self,
                          uint32_t rank)
{
    if (rank >= UINT32_MAX - 1)
        return PARTNER_NONE;
    if (self && rank == 0)
        return (int32_t)location->otf2->location[location->def].process;
    if (rank < count && world[rank] != OTF2_NONE)
        return (int32_t)world[rank];
    return EVENT_UNKNOWN;
}

/* Our communicator of one of its groups. */
static int32_t side_of(const struct otf2_location *location, const struct otf2_comm *comm, bool other)
{
    if (comm->self)
        return location->otf2->selfs + (int32_t)location->otf2->location[location->def].process;
    if (other)
        return comm->other_comm;
    return comm->comm;
}

static void message(struct otf2_location *location, OTF2_TimeStamp time, uint8_t kind, uint32_t rank, OTF2_CommRef id,
                    uint32_t tag, uint64_t length)
{
    const struct otf2_comm *comm = comm_of(location, id);
    struct event *event = otf2_push(location, time, kind, 0);
    /* A tag of 2^32 - 1 is EZTrace's -1 of a message to MPI_PROC_NULL. */
    event->tag = (int32_t)tag;
    if (kind == EVENT_SEND)
        event->bytes_sent = otf2_bytes(length);
    else
        event->bytes_received = otf2_bytes(length);
    if (!comm) {
        event->partner = partner_of(location, NULL, 0, false, rank);
        return;
    }
    /* Between two groups the rank is one of the remote group, which has members of its own. */
    bool other = is_other_side(location, comm), far = comm->inter && !other;
    event->comm = side_of(location, comm, other);
    event->partner_comm = side_of(location, comm, far);
    if (far)
        event->partner = partner_of(location, comm->other_world, comm->other_count, comm->self, rank);
    else
        event->partner = partner_of(location, comm->world, comm->count, comm->self, rank);
    /* MPI_Sendrecv's two messages are on one communicator; a wait may complete messages of several. */
    struct otf2_call *call = &location->call;
    if (call->open && call->comm == EVENT_UNKNOWN && location->otf2->defs->states[call->state].class == CLASS_P2P)
        call->comm = event->comm;
}

static OTF2_CallbackCode on_send(EVENT_ARGUMENTS, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t length)
{
    BEGIN;
    message(location, time, EVENT_SEND, receiver, comm, tag, length);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_isend(EVENT_ARGUMENTS, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t length,
                                  uint64_t request)
{
    otf2_post(user, time, request);
    return on_send(id, time, position, user, attributes, receiver, comm, tag, length);
}

static OTF2_CallbackCode on_receive(EVENT_ARGUMENTS, uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t length)
{
    BEGIN;
    message(location, time, EVENT_RECEIVE, sender, comm, tag, length);
    return OTF2_CALLBACK_SUCCESS;
}

/* MPI_IRECV stands where the receive completes, not where it was posted: in the wait, the test, or the Irecv itself. */
static OTF2_CallbackCode on_irecv(EVENT_ARGUMENTS, uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t length,
                                  uint64_t request)
{
    otf2_complete(user, time, request);
    return on_receive(id, time, position, user, attributes, sender, comm, tag, length);
}

static OTF2_CallbackCode on_post(EVENT_ARGUMENTS, uint64_t request)
{
    BEGIN;
    otf2_post(location, time, request);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_complete(EVENT_ARGUMENTS, uint64_t request)
{
    BEGIN;
    otf2_complete(location, time, request);
    return OTF2_CALLBACK_SUCCESS;
}

/* Collectives */

/* On an inter-communicator, the root says that it is it, and the others of its group that they take no part; the other
   group has the root's rank. (OTF2 calls MPI_PROC_NULL "this group".) */
static int32_t root_of(uint32_t root)
{
    if (root == OTF2_COLLECTIVE_ROOT_SELF)
        return ROOT_SELF;
    if (root == OTF2_COLLECTIVE_ROOT_THIS_GROUP)
        return ROOT_BESIDE;
    if (root <= INT32_MAX)
        return (int32_t)root;
    return EVENT_UNKNOWN;
}

static int32_t own_side(struct otf2_location *location, OTF2_CommRef id)
{
    const struct otf2_comm *comm = comm_of(location, id);
    if (comm)
        return side_of(location, comm, is_other_side(location, comm));
    return EVENT_UNKNOWN;
}

static OTF2_CallbackCode on_collective(EVENT_ARGUMENTS, OTF2_CollectiveOp operation, OTF2_CommRef comm, uint32_t root,
                                       uint64_t sent, uint64_t received)
{
    BEGIN;
    struct otf2_call *call = &location->call;
    (void)operation;
    /* There may be collectives without the call around them: traces that were filtered. */
    if (!call->open) {
        struct event *event = otf2_push(location, time, EVENT_COLLECTIVE, 0);
        event->comm = own_side(location, comm);
        event->tag = root_of(root);
        event->bytes_sent = otf2_bytes(sent);
        event->bytes_received = otf2_bytes(received);
        return OTF2_CALLBACK_SUCCESS;
    }
    call->comm = own_side(location, comm);
    /* MPI_Barrier, MPI_Comm_dup and MPI_Comm_free have MPI_COLLECTIVE_END, too, but neither root nor bytes. */
    if (location->otf2->defs->states[call->state].class != CLASS_COLLECTIVE)
        return OTF2_CALLBACK_SUCCESS;
    /* Writers that do not know the bytes give 0 both ways. */
    bool known = sent > 0 || received > 0;
    call->root = root_of(root);
    call->sent = known ? otf2_bytes(sent) : BYTES_UNKNOWN;
    call->received = known ? otf2_bytes(received) : BYTES_UNKNOWN;
    call->moved = true;
    return OTF2_CALLBACK_SUCCESS;
}

/* The post names only its request: the communicator is known at completion, which may be many calls later. Until then
   the events from the post on are held back (otf2_location_ready). */
static OTF2_CallbackCode on_collective_posted(EVENT_ARGUMENTS, uint64_t request)
{
    BEGIN;
    otf2_post(location, time, request);
    if (location->call.open)
        ARRAY_PUSH(location->posted, location->posted_count, location->posted_capacity,
                   (struct otf2_posted){request, location->call.enter, 0});
    return OTF2_CALLBACK_SUCCESS;
}

/* The leave of a call from its enter on. NULL: it has been given, as the location holds no more than WAIT_MOST events;
   then the communicator stays unknown. */
static struct event *leave_of(struct otf2_location *location, uint64_t enter_number)
{
    const struct event *enter_event = otf2_event(location, enter_number);
    if (!enter_event)
        return NULL;
    for (uint64_t number = enter_number + 1; number < location->first + location->count; number++) {
        struct event *event = otf2_event(location, number);
        if (event->kind == EVENT_LEAVE && event->state == enter_event->state)
            return event;
    }
    return NULL;
}

static OTF2_CallbackCode on_collective_completed(EVENT_ARGUMENTS, OTF2_CollectiveOp operation, OTF2_CommRef comm,
                                                 uint32_t root, uint64_t sent, uint64_t received, uint64_t request)
{
    BEGIN;
    (void)operation;
    for (size_t i = 0; i < location->posted_count; i++) {
        if (location->posted[i].request != request)
            continue;
        struct event *entered = otf2_event(location, location->posted[i].enter);
        struct event *left = leave_of(location, location->posted[i].enter);
        if (entered)
            entered->comm = own_side(location, comm);
        if (left) {
            left->comm = own_side(location, comm);
            left->tag = root_of(root);
            left->bytes_sent = otf2_bytes(sent);
            left->bytes_received = otf2_bytes(received);
        }
        /* Order among the posted does not matter: their requests differ. */
        location->posted[i] = location->posted[--location->posted_count];
        break;
    }
    otf2_complete(location, time, request);
    return OTF2_CALLBACK_SUCCESS;
}

void otf2_set_mpi(OTF2_EvtReaderCallbacks *callbacks)
{
    SET(MpiSend, on_send);
    SET(MpiIsend, on_isend);
    SET(MpiRecv, on_receive);
    SET(MpiIrecv, on_irecv);
    SET(MpiIrecvRequest, on_post);
    SET(MpiIsendComplete, on_complete);
    SET(MpiRequestCancelled, on_complete);
    SET(MpiCollectiveEnd, on_collective);
    SET(NonBlockingCollectiveRequest, on_collective_posted);
    SET(NonBlockingCollectiveComplete, on_collective_completed);
}
