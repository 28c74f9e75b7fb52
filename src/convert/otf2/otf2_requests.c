/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests: the archive's ids become numbers of a process, which its threads share. */
#include "convert/otf2/otf2_events.h"
#include "core/payload.h"

#include <string.h>

/* A process with one location: what is read is in order of time. EZTrace gives the address of the program's request
   variable, Score-P a counter that only grows. Ours stay small: numbers that are free are used first. 0 is "no
   request". */
static void post_alone(struct otf2_location *location, uint64_t id)
{
    struct otf2_requests *requests = location->requests;
    struct otf2_numbers *posted = &location->call.posted;
    uint64_t *number = map_put(&requests->numbers, id, 0);
    if (*number == 0)
        *number = requests->spare_count ? requests->spare[--requests->spare_count] : ++requests->next;
    /* A post outside every MPI call has no leave that could state it. MPI_Isendrecv posts its request twice. */
    bool again = posted->count > 0 && posted->numbers[posted->count - 1] == (uint32_t)*number;
    if (location->call.open && !again)
        ARRAY_PUSH(posted->numbers, posted->count, posted->capacity, (uint32_t)*number);
}

/* The number is free from the end of the call on: a number that a call completes and posts again would mean two
   requests on one leave. */
static void complete_alone(struct otf2_location *location, uint64_t id)
{
    struct otf2_requests *requests = location->requests;
    struct otf2_numbers *completed = &location->call.completed;
    /* A completion without a post (recording began in between) is no request of ours. */
    const uint64_t *number = map_find(&requests->numbers, id);
    if (!number)
        return;
    if (location->call.open)
        ARRAY_PUSH(completed->numbers, completed->count, completed->capacity, (uint32_t)*number);
    else
        ARRAY_PUSH(requests->spare, requests->spare_count, requests->spare_capacity, (uint32_t)*number);
    /* EZTrace's ids are addresses, which programs use again at once: the next post of this id is another request. */
    map_remove(&requests->numbers, id);
}

/* Threads by the hundred may share requests: a heap finds the location with the next step. */
static void push_offer(struct otf2_requests *requests, struct otf2_offer offer)
{
    ARRAY_PUSH(requests->offers, requests->offer_count, requests->offer_capacity, offer);
    heap_up(requests->offers, requests->offer_count - 1, &otf2_by_time, NULL);
}

static struct otf2_offer pop_offer(struct otf2_requests *requests)
{
    struct otf2_offer first = requests->offers[0];
    requests->offer_count = heap_drop(requests->offers, requests->offer_count, &otf2_by_time, NULL);
    return first;
}

/* Into the heap with the location, unless it is there, has no next step, or the step's call is not read to its end. */
static void offer_step(struct otf2_location *location)
{
    struct otf2_steps *steps = &location->steps;
    if (steps->offered || steps->resolved == steps->count)
        return;
    const struct otf2_step *next = &steps->step[steps->resolved];
    if (next->open && location->more)
        return;
    steps->offered = true;
    push_offer(location->requests, (struct otf2_offer){next->time_ns, location});
}

void otf2_end_requests(struct otf2_location *location)
{
    offer_step(location);
}

/* Several locations: each is translated ahead of the others, so that a completion may be read before its post, and an
   id may have been used again meanwhile. What is read is kept, and gets its number when events are given, in order of
   time over all locations. */
static void keep_step(struct otf2_location *location, OTF2_TimeStamp time, uint64_t id, bool posts)
{
    struct otf2_steps *steps = &location->steps;
    const struct otf2_call *call = &location->call;
    struct otf2_numbers *told = &location->call.completed;
    int64_t time_ns = otf2_clock_ns(&location->clock, time);
    if (posts)
        told = &location->call.posted;
    bool again = posts && call->open && told->count > 0 && steps->count > 0 && steps->step[steps->count - 1].posts &&
                 steps->step[steps->count - 1].id == id;
    if (again)
        return;
    if (call->open)
        ARRAY_PUSH(told->numbers, told->count, told->capacity, steps->first + (uint32_t)steps->count);
    ARRAY_PUSH(
        steps->step, steps->count, steps->capacity,
        (struct otf2_step){.time_ns = time_ns, .leave_ns = time_ns, .id = id, .posts = posts, .open = call->open});
    offer_step(location);
}

void otf2_post(struct otf2_location *location, OTF2_TimeStamp time, uint64_t id)
{
    if (id == UINT64_MAX)
        return;
    if (location->requests->shared)
        keep_step(location, time, id, true);
    else
        post_alone(location, id);
}

void otf2_complete(struct otf2_location *location, OTF2_TimeStamp time, uint64_t id)
{
    if (id == UINT64_MAX)
        return;
    if (location->requests->shared)
        keep_step(location, time, id, false);
    else
        complete_alone(location, id);
}

/* The last first, so that the next call takes the lowest number. */
static void free_completed(struct otf2_requests *requests, const struct otf2_numbers *completed)
{
    for (size_t i = completed->count; i-- > 0;)
        ARRAY_PUSH(requests->spare, requests->spare_count, requests->spare_capacity, completed->numbers[i]);
}

/* Each step has a mark of its own, as it is not known yet which numbers are consecutive. */
static void tell_steps(struct otf2_location *location, OTF2_TimeStamp time, const struct otf2_numbers *told,
                       struct event *leave)
{
    for (size_t i = 0; i < told->count; i++) {
        struct event *event = leave;
        if (i + 1 < told->count)
            event = otf2_push(location, time, EVENT_MARK, location->otf2->request_mark);
        event->request = told->numbers[i];
        event->flags = OTF2_STEP;
    }
    struct otf2_steps *steps = &location->steps;
    for (size_t i = steps->count; i-- > 0 && steps->step[i].open;) {
        steps->step[i].leave_ns = otf2_clock_ns(&location->clock, time);
        steps->step[i].open = false;
    }
    offer_step(location);
}

/* Each mark, and the leave, has one range of consecutive numbers. */
static void tell_numbers(struct otf2_location *location, OTF2_TimeStamp time, const struct otf2_numbers *told,
                         struct event *leave)
{
    for (size_t i = 0; i < told->count;) {
        size_t end = i + 1;
        while (end < told->count && told->numbers[end] == told->numbers[end - 1] + 1 && end - i < REQUESTS_AT_ONCE_MAX)
            end++;
        struct event *event = leave;
        if (end < told->count)
            event = otf2_push(location, time, EVENT_MARK, location->otf2->request_mark);
        event->request = told->numbers[i];
        event->requests = (uint32_t)(end - i);
        i = end;
    }
}

void otf2_tell_requests(struct otf2_location *location, OTF2_TimeStamp time, struct event *leave)
{
    struct otf2_call *call = &location->call;
    /* MPI_Sendrecv and blocking calls complete what they post themselves: only waits and tests state what has
       completed. */
    bool waits = location->otf2->defs->states[call->state].class == CLASS_WAIT;
    const struct otf2_numbers *told = waits ? &call->completed : &call->posted;
    if (location->requests->shared) {
        tell_steps(location, time, told, leave);
    } else {
        tell_numbers(location, time, told, leave);
        free_completed(location->requests, &call->completed);
    }
}

/* Steps get their numbers */

/* A number is free after the call that completes its request has been left: another thread may post meanwhile. */
static uint32_t number_at(struct otf2_requests *requests, int64_t time_ns)
{
    if (requests->freed_head < requests->freed_count && requests->freed[requests->freed_head].time_ns < time_ns)
        return requests->freed[requests->freed_head++].number;
    return ++requests->next;
}

static void free_from(struct otf2_requests *requests, int64_t time_ns, uint32_t number)
{
    size_t left = requests->freed_count - requests->freed_head;
    if (requests->freed_head > left) {
        memmove(requests->freed, requests->freed + requests->freed_head, left * sizeof *requests->freed);
        requests->freed_head = 0;
        requests->freed_count = left;
    }
    ARRAY_PUSH(requests->freed, requests->freed_count, requests->freed_capacity, (struct otf2_freed){time_ns, number});
}

static void resolve_step(struct otf2_requests *requests, struct otf2_step *step)
{
    if (step->posts) {
        uint64_t *number = map_put(&requests->numbers, step->id, 0);
        if (*number == 0)
            *number = number_at(requests, step->time_ns);
        step->number = (uint32_t)*number;
        return;
    }
    const uint64_t *number = map_find(&requests->numbers, step->id);
    if (!number)
        return;
    step->number = (uint32_t)*number;
    free_from(requests, step->leave_ns, step->number);
    map_remove(&requests->numbers, step->id);
}

static struct otf2_step *next_step(const struct otf2_offer *offer)
{
    const struct otf2_steps *steps = &offer->location->steps;
    return &steps->step[steps->resolved];
}

/* At one time, an id that is in use is completed before it is posted again. */
static bool fits(const struct otf2_requests *requests, const struct otf2_step *step)
{
    return step->posts != (map_find(&requests->numbers, step->id) != NULL);
}

/* Takes the location with the next step from the heap: of those at the earliest time, the first whose step fits, else
   the first. There must be one. */
static struct otf2_offer take_offer(struct otf2_requests *requests)
{
    struct otf2_offer first = pop_offer(requests), taken = first;
    bool found = fits(requests, next_step(&taken));
    requests->passed_count = 0;
    while (!found && requests->offer_count > 0 && requests->offers[0].time_ns == first.time_ns) {
        ARRAY_PUSH(requests->passed, requests->passed_count, requests->passed_capacity, taken);
        taken = pop_offer(requests);
        found = fits(requests, next_step(&taken));
    }
    if (found || requests->passed_count == 0)
        first = taken;
    else
        requests->passed[0] = taken;
    for (size_t i = 0; i < requests->passed_count; i++)
        push_offer(requests, requests->passed[i]);
    return first;
}

void otf2_resolve_requests(struct otf2_requests *requests, int64_t until_ns)
{
    while (requests->offer_count > 0 && requests->offers[0].time_ns <= until_ns) {
        struct otf2_offer offer = take_offer(requests);
        resolve_step(requests, next_step(&offer));
        offer.location->steps.resolved++;
        offer.location->steps.offered = false;
        offer_step(offer.location);
    }
}

/* True if the event before it in the batch is a mark of the same call that its number continues. */
static bool continues(const struct otf2_location *location, const struct batch *batch, const struct event *event)
{
    if (batch->count < 2)
        return false;
    const struct event *before = event - 1;
    return before->kind == EVENT_MARK && before->state == location->otf2->request_mark &&
           before->process == event->process && before->thread == event->thread &&
           before->request + before->requests == event->request && before->requests < REQUESTS_AT_ONCE_MAX;
}

void otf2_name_request(struct otf2_location *location, struct batch *batch)
{
    struct event *event = &batch->events[batch->count - 1];
    struct otf2_steps *steps = &location->steps;
    uint32_t at = (uint32_t)event->request - steps->first;
    bool resolved = at < steps->resolved;
    event->request = resolved ? steps->step[at].number : 0;
    event->requests = event->request > 0;
    event->flags = 0;
    if (resolved)
        steps->told = at + 1;
    if (event->request > 0 && continues(location, batch, event)) {
        event->request = event[-1].request;
        event->requests = event[-1].requests + 1;
        event[-1] = *event;
        batch->count--;
    } else if (event->request == 0 && event->kind == EVENT_MARK) {
        batch->count--;
    }
}

void otf2_drop_steps(struct otf2_location *location, bool all)
{
    struct otf2_steps *steps = &location->steps;
    size_t drop = all ? steps->resolved : steps->told;
    if (drop == 0)
        return;
    steps->count -= drop;
    steps->resolved -= drop;
    steps->told = 0;
    steps->first += (uint32_t)drop;
    memmove(steps->step, steps->step + drop, steps->count * sizeof *steps->step);
}

void otf2_requests_clear(struct otf2_requests *requests)
{
    map_clear(&requests->numbers);
    free(requests->spare);
    free(requests->freed);
    free(requests->offers);
    free(requests->passed);
    *requests = (struct otf2_requests){0};
}
