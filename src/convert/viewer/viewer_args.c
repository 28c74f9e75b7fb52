/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/viewer/viewer_args.h"

#include "core/payload.h"

#include <stdio.h>

void viewer_args_number(struct viewer_args *args, const char *key, int64_t number)
{
    if (args->count < VIEWER_ARGS)
        args->arg[args->count++] = (struct viewer_arg){.key = key, .number = number};
}

/* What is beyond VIEWER_ARGS is left out: the constant is as large as the longest list here. */
void viewer_args_text(struct viewer_args *args, const char *key, const char *text)
{
    if (text && args->count < VIEWER_ARGS)
        args->arg[args->count++] = (struct viewer_arg){.key = key, .text = text};
}

static void known_number(struct viewer_args *args, const char *key, int64_t number, int64_t unknown)
{
    /* What is not known is left out: viewers show every argument. */
    if (number != unknown)
        viewer_args_number(args, key, number);
}

static void add_comm(struct viewer_args *args, const struct defs *defs, int32_t comm)
{
    if (comm < 0 || (size_t)comm >= defs->comm_count)
        return;
    const struct comm_def *def = &defs->comms[comm];
    /* Its own name, else MPI's; its number says more than nothing. */
    if (def->name)
        viewer_args_text(args, "communicator", def->name);
    else if (def->world || def->self)
        viewer_args_text(args, "communicator", def->world ? "MPI_COMM_WORLD" : "MPI_COMM_SELF");
    else
        viewer_args_number(args, "communicator", def->id);
}

static void add_site(struct viewer_args *args, const struct defs *defs, uint32_t site)
{
    /* 0 is a call whose place is not known. */
    if (site == 0 || site > defs->site_count)
        return;
    const struct site_def *def = &defs->sites[site - 1];
    snprintf(args->place, sizeof args->place, "%s:%d", def->file, (int)def->line);
    viewer_args_text(args, "source", args->place);
    viewer_args_text(args, "function", def->function);
}

static void add_payload(struct viewer_args *args, const char *format, const struct event *event,
                        const unsigned char *arena)
{
    if (event->payload_length == 0)
        return;
    viewer_args_text(args, "payload", payload_event_text(args->text, sizeof args->text, format, event, arena));
}

static void add_requests(struct viewer_args *args, const struct event *event)
{
    /* Most calls have no requests; one number stands for consecutive ones. */
    if (event->requests == 0)
        return;
    viewer_args_number(args, "request", (int64_t)event->request);
    if (event->requests > 1)
        viewer_args_number(args, "requests", event->requests);
}

static void add_message(struct viewer_args *args, const struct defs *defs, const struct event *event)
{
    bool sends = event->kind == EVENT_SEND;
    known_number(args, sends ? "to" : "from", event->partner, EVENT_UNKNOWN);
    known_number(args, "tag", event->tag, EVENT_UNKNOWN);
    known_number(args, "bytes", sends ? event->bytes_sent : event->bytes_received, BYTES_UNKNOWN);
    add_comm(args, defs, event->comm);
    add_requests(args, event);
}

static void add_moved(struct viewer_args *args, const struct defs *defs, const struct event *event)
{
    known_number(args, "sent", event->bytes_sent, BYTES_UNKNOWN);
    known_number(args, "received", event->bytes_received, BYTES_UNKNOWN);
    add_comm(args, defs, event->comm);
}

static void add_collective(struct viewer_args *args, const struct defs *defs, const struct event *event)
{
    known_number(args, "root", event->tag, EVENT_UNKNOWN);
    add_moved(args, defs, event);
    add_requests(args, event);
}

/* What a call on a communicator moves stands on its leave. */
static void add_call(struct viewer_args *args, const struct defs *defs, const struct event *event)
{
    const struct state_def *state = &defs->states[event->state];
    /* Of other calls the same fields are a message's, which has an event of its own. */
    if (!state->is_mpi || state->class < CLASS_COLLECTIVE || state->class > CLASS_SETUP)
        return;
    /* The same field holds the root of a collective and the target of a one-sided operation. */
    known_number(args, state->class == CLASS_RMA ? "target" : "root", event->tag, EVENT_UNKNOWN);
    add_moved(args, defs, event);
}

static void add_state(struct viewer_args *args, const struct defs *defs, const struct event *event,
                      const unsigned char *arena)
{
    /* The place is where the call is entered; what it moved is known when it is left. */
    if (event->kind == EVENT_ENTER)
        add_site(args, defs, event->site);
    else
        add_call(args, defs, event);
    add_payload(args, defs->states[event->state].format, event, arena);
    add_requests(args, event);
}

/* One-sided and I/O operations have the same fields: bytes there and back, and with whom or on what. */
static void add_operation(struct viewer_args *args, const struct defs *defs, const struct event *event)
{
    known_number(args, "with", event->partner, EVENT_UNKNOWN);
    add_moved(args, defs, event);
    if (event->kind == EVENT_IO && event->state < defs->handle_count)
        viewer_args_text(args, "file", defs->handles[event->state].name);
    add_requests(args, event);
}

void viewer_args_of(struct viewer_args *args, const struct defs *defs, const struct event *event,
                    const unsigned char *arena)
{
    /* One struct serves for all events: its texts are used before the next event comes. */
    args->count = 0;
    switch (event->kind) {
    case EVENT_ENTER:
    case EVENT_LEAVE:
        add_state(args, defs, event, arena);
        break;
    case EVENT_SEND:
    case EVENT_RECEIVE:
        add_message(args, defs, event);
        break;
    case EVENT_COLLECTIVE:
        add_collective(args, defs, event);
        break;
    case EVENT_MARK:
        add_payload(args, defs->marks[event->state].format, event, arena);
        break;
    case EVENT_RMA:
    case EVENT_IO:
        add_operation(args, defs, event);
        break;
    case EVENT_SAMPLE:
        /* A sample stands for so much time. */
        viewer_args_number(args, "ns", event->value);
        break;
    default:
        break;
    }
}

/* What is drawn in the slice, so it has to be short. */
const char *viewer_event_name(const struct defs *defs, const struct event *event)
{
    const char *step = NULL;
    switch (event->kind) {
    case EVENT_ENTER:
    case EVENT_LEAVE:
        return defs->states[event->state].name;
    case EVENT_SEND:
        return "send";
    case EVENT_RECEIVE:
        return "receive";
    case EVENT_COLLECTIVE:
        return "collective";
    case EVENT_RMA:
        step = rma_step_name(event->value);
        break;
    case EVENT_IO:
        step = io_step_name(event->value);
        break;
    case EVENT_SAMPLE:
        step = defs_path_name(defs, event->state);
        break;
    default:
        return defs->marks[event->state].name;
    }
    if (step)
        return step;
    return "unknown";
}

/* Categories are what viewers filter by: the class of a function, else the kind of the event. */
const char *viewer_event_category(const struct defs *defs, const struct event *event)
{
    static const char *const names[] = {
        [EVENT_SEND] = "message", [EVENT_RECEIVE] = "message", [EVENT_COLLECTIVE] = "collective",
        [EVENT_MARK] = "mark",    [EVENT_COUNTER] = "counter", [EVENT_RMA] = "rma",
        [EVENT_IO] = "io",        [EVENT_SAMPLE] = "sample"};
    if (event->kind <= EVENT_LEAVE)
        return function_class_name(defs->states[event->state].class);
    return names[event->kind];
}
