/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests on their way through the threads of a process. An archive is written location by location, but what one
   thread posts another may complete: whose request it is and which id it has are known while events come in, in order
   of time over all threads. */
#include "convert/otf2/write_otf2.h"

#include "core/memory.h"
#include "core/payload.h"

#include <ctype.h>
#include <string.h>

/* A trace whose process never leaves MPI_Finalize, or an open call to its end, must not be kept in memory. */
enum { CALL_EVENTS_MOST = 1 << 17 };

bool otf2_is_posting(const char *name)
{
    return strncmp(name, "MPI_I", 5) == 0 && islower((unsigned char)name[5]);
}

enum otf2_role otf2_role_of(const struct state_def *state)
{
    const char *name = state->name;
    switch (state->class) {
    case CLASS_P2P:
        if (strncmp(name, "MPI_Start", 9) == 0)
            return OTF2_START;
        if (strstr(name, "_init"))
            return OTF2_INIT;
        if (otf2_is_posting(name))
            return OTF2_POST;
        return OTF2_PLAIN;
    case CLASS_WAIT:
        return OTF2_WAIT;
    case CLASS_COLLECTIVE:
    case CLASS_SYNC:
        if (strstr(name, "_init"))
            return OTF2_PLAIN;
        if (otf2_is_posting(name))
            return OTF2_POST_MEETING;
        return OTF2_MEET;
    /* MPI_Comm_dup, MPI_Cart_create and the like: collectives without data, on the communicator that they start
       from. */
    case CLASS_SETUP:
        if (mpi_function_starts_or_ends(name))
            return OTF2_PLAIN;
        return OTF2_MEET;
    case CLASS_RMA:
        return OTF2_ONE_SIDED;
    default:
        return OTF2_PLAIN;
    }
}

unsigned otf2_kinds_of(enum otf2_role role, const struct state_def *state)
{
    if (role == OTF2_POST_MEETING)
        return OTF2_COLLECTS;
    /* MPI_Isendrecv has one request for both directions. */
    if (strstr(state->name, "sendrecv"))
        return OTF2_SENDS | OTF2_RECEIVES;
    if (state->direction == DIRECTION_SEND)
        return OTF2_SENDS;
    return OTF2_RECEIVES;
}

enum otf2_place otf2_place_of(struct otf2_open_call *call, const struct defs *defs, const struct event *event)
{
    bool opens = event->kind == EVENT_ENTER && call->depth == 0 && defs->states[event->state].is_mpi;
    if (call->depth == 0 && !opens)
        return OTF2_OUTSIDE;
    if (opens)
        *call = (struct otf2_open_call){.state = event->state};
    call->events += event->kind != OTF2_REQUEST_ELSEWHERE;
    /* Calls of the same function inside it are counted, so that their leaves do not end it. */
    if (event->kind <= EVENT_LEAVE && event->state == call->state)
        call->depth += event->kind == EVENT_ENTER ? 1 : -1u;
    if (call->depth == 0)
        return OTF2_LEFT;
    if (call->events <= CALL_EVENTS_MOST)
        return OTF2_INSIDE;
    call->depth = 0;
    return OTF2_TOO_LONG;
}

void otf2_add_called(struct otf2_called *called, const struct defs *defs, const struct event *event, bool last)
{
    bool mark = event->kind == EVENT_MARK && defs->marks[event->state].gives_requests;
    /* Marks first and the leave last, as payload.h says. A number or count beyond what one payload can hold is damage.
     */
    if ((!mark && !last) || event->request == 0 || event->request > INT32_MAX || event->requests > REQUESTS_AT_ONCE_MAX)
        return;
    for (uint32_t k = 0; k < event->requests; k++)
        ARRAY_PUSH(called->numbers, called->count, called->capacity, (uint32_t)event->request + k);
}

static struct otf2_thread *thread_of(struct otf2_followed *requests, const struct event *event)
{
    uint64_t *place =
        map_put(&requests->thread_places, map_pair(event->process, event->thread), requests->thread_count);
    if (*place == requests->thread_count)
        ARRAY_PUSH(requests->threads, requests->thread_count, requests->thread_capacity, (struct otf2_thread){0});
    return &requests->threads[*place];
}

static struct otf2_request *request_of(struct otf2_followed *requests, uint32_t process, uint32_t number)
{
    const uint64_t *place = map_find(&requests->places, map_pair(process, number));
    return place ? &requests->requests[*place] : NULL;
}

static void request_put(struct otf2_followed *requests, uint32_t process, uint32_t number, struct otf2_request with)
{
    uint64_t *place = map_put(&requests->places, map_pair(process, number), requests->count);
    if (*place == requests->count)
        ARRAY_PUSH(requests->requests, requests->count, requests->capacity, with);
    requests->requests[*place] = with;
}

/* Ids are unique in the process, as request numbers are. */
static uint64_t take_ids(struct otf2_followed *requests, uint32_t process, size_t count)
{
    uint64_t *last = map_put(&requests->places, map_pair(process, 0), 0), first = *last + 1;
    *last += count;
    return first;
}

static enum status tell_of_others(struct otf2_writer *otf2, const struct event *leave, const struct otf2_called *called,
                                  otf2_add *add, struct error *err)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < called->count && status == STATUS_OK; i++) {
        const struct otf2_request *request = request_of(&otf2->incoming, leave->process, called->numbers[i]);
        if (!request || request->thread == leave->thread)
            continue;
        struct event elsewhere = request->pending.leave;
        elsewhere.kind = OTF2_REQUEST_ELSEWHERE;
        elsewhere.time_ns = leave->time_ns;
        elsewhere.process = leave->process;
        elsewhere.thread = leave->thread;
        elsewhere.payload_length = 0;
        elsewhere.request = called->numbers[i];
        elsewhere.value = (int64_t)request->pending.id;
        elsewhere.requests = request->pending.kinds;
        elsewhere.flags = request->pending.active;
        status = add(otf2, &elsewhere, err);
    }
    return status;
}

/* The call has been left: what it did with its requests. */
static void use_requests(struct otf2_followed *requests, enum otf2_role role, const struct state_def *state,
                         const struct event *leave, const struct otf2_called *called)
{
    for (size_t i = 0; i < called->count; i++) {
        struct otf2_request *request = request_of(requests, leave->process, called->numbers[i]);
        uint64_t id = (uint64_t)leave->value + i;
        if (role == OTF2_WAIT && request) {
            request->pending.active = false;
            request->thread = leave->thread;
        } else if (role == OTF2_START && request && !request->pending.active) {
            request->pending.active = true;
            request->pending.id = id;
            request->thread = leave->thread;
        } else if (role != OTF2_WAIT && role != OTF2_START) {
            struct otf2_pending pending = {
                .id = id, .kinds = otf2_kinds_of(role, state), .active = role != OTF2_INIT, .leave = *leave};
            request_put(requests, leave->process, called->numbers[i],
                        (struct otf2_request){.pending = pending, .thread = leave->thread});
        }
    }
}

enum status otf2_follow_requests(struct otf2_writer *otf2, struct event *event, otf2_add *add, struct error *err)
{
    struct otf2_followed *requests = &otf2->incoming;
    struct otf2_thread *thread = thread_of(requests, event);
    enum otf2_place place = otf2_place_of(&thread->call, otf2->defs, event);
    if (place == OTF2_OUTSIDE)
        return STATUS_OK;
    if (event->kind == EVENT_ENTER && thread->call.events == 1) {
        thread->comm = event->comm;
        thread->called.count = 0;
    }
    otf2_add_called(&thread->called, otf2->defs, event, place == OTF2_LEFT);
    if (place != OTF2_LEFT || thread->called.count == 0)
        return STATUS_OK;
    const struct state_def *state = &otf2->defs->states[event->state];
    enum otf2_role role = otf2_role_of(state);
    if (role != OTF2_WAIT && !otf2_role_posts(role))
        return STATUS_OK;
    enum status status = STATUS_OK;
    if (role == OTF2_WAIT || role == OTF2_START)
        status = tell_of_others(otf2, event, &thread->called, add, err);
    if (role != OTF2_WAIT)
        event->value = (int64_t)take_ids(requests, event->process, thread->called.count);
    /* Readers set it on both; a damaged trace may lack one of them. */
    struct event whole = *event;
    if (thread->comm >= 0)
        whole.comm = thread->comm;
    use_requests(requests, role, state, &whole, &thread->called);
    return status;
}

void otf2_followed_clear(struct otf2_followed *requests)
{
    for (size_t i = 0; i < requests->thread_count; i++)
        free(requests->threads[i].called.numbers);
    free(requests->threads);
    free(requests->requests);
    map_clear(&requests->thread_places);
    map_clear(&requests->places);
}
