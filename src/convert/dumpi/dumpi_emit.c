/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of a call: what it sends when it is entered, what it receives when it is left. */
#include "convert/dumpi/dumpi_state.h"

#include "core/payload.h"

#include <string.h>

enum { NO_REQUEST = 1 /* and below: MPI_REQUEST_NULL */ };

/* Thread ids are hashed numbers of pthreads: threads are counted as they appear. The first one of a process is
   nearly always the one that calls MPI_Init. */
uint32_t dumpi_thread(struct dumpi_state *state, uint16_t thread)
{
    for (uint32_t i = 0; i < state->thread_count; i++)
        if (state->thread[i] == thread)
            return i;
    if (state->thread_count == DUMPI_THREADS_MOST)
        return DUMPI_THREADS_MOST - 1;
    state->thread[state->thread_count] = thread;
    return state->thread_count++;
}

void dumpi_emit_begin(struct dumpi_state *state, struct error *err)
{
    int32_t sizes[64];
    if (!state->type_bytes)
        state->type_bytes = memory_new(DUMPI_TYPES * sizeof *state->type_bytes);
    for (size_t i = 0; i < DUMPI_TYPES; i++)
        state->type_bytes[i] = BYTES_UNKNOWN;
    size_t count = dumpi_file_sizes(state->file, sizes, sizeof sizes / sizeof *sizes, err);
    /* 0 and 1 are errors and MPI_DATATYPE_NULL. */
    for (size_t i = 2; i < count; i++)
        state->type_bytes[i] = sizes[i];
    map_clear(&state->requests);
    state->request_count = state->spare_count = 0;
    state->thread_count = 0;
    state->gave_members = false;
}

/* Bytes of so many of a datatype. */
static int64_t bytes_of(const struct dumpi_state *state, int64_t count, int64_t type)
{
    int64_t bytes, one = state->type_bytes[type & (DUMPI_TYPES - 1)];
    if (one == BYTES_UNKNOWN || count < 0 || __builtin_mul_overflow(count, one, &bytes))
        return BYTES_UNKNOWN;
    return bytes;
}

static int64_t sum_of(const struct dumpi_call *call, char letter)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < dumpi_count(call, letter); i++)
        sum += dumpi_at(call, letter, i);
    return sum;
}

/* Datatypes */

static int64_t struct_bytes(const struct dumpi_state *state, const struct dumpi_call *call)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < dumpi_count(call, 'q') && i < dumpi_count(call, 'T'); i++) {
        int64_t bytes = bytes_of(state, dumpi_at(call, 'q', i), dumpi_short_at(call, 'T', i));
        if (bytes == BYTES_UNKNOWN || __builtin_add_overflow(sum, bytes, &sum))
            return BYTES_UNKNOWN;
    }
    return sum;
}

static int64_t subarray_bytes(const struct dumpi_state *state, const struct dumpi_call *call)
{
    int64_t count = 1;
    for (int32_t i = 0; i < dumpi_count(call, 'q'); i++)
        if (__builtin_mul_overflow(count, dumpi_at(call, 'q', i), &count))
            return BYTES_UNKNOWN;
    return bytes_of(state, count, dumpi_number(call, 't'));
}

/* Bytes of one of the datatype that the call makes. What a constructor's count times its parts sum up to;
   displacements and strides have no bytes. */
static int64_t made_bytes(const struct dumpi_state *state, const struct dumpi_call *call, const char *name)
{
    int64_t type = dumpi_number(call, 't');
    if (dumpi_has(call, 'T'))
        return struct_bytes(state, call);
    if (strcmp(name, "MPI_Type_create_subarray") == 0)
        return subarray_bytes(state, call);
    if (strcmp(name, "MPI_Type_create_darray") == 0)
        return BYTES_UNKNOWN;
    if (dumpi_has(call, 'q'))
        return bytes_of(state, sum_of(call, 'q'), type);
    if (dumpi_has(call, 'N'))
        return bytes_of(state, dumpi_number(call, 'n') * dumpi_number(call, 'N'), type);
    return bytes_of(state, dumpi_has(call, 'n') ? dumpi_number(call, 'n') : 1, type);
}

static void take_types(struct dumpi_state *state, const struct dumpi_call *call, const char *name)
{
    if (dumpi_has(call, 'y'))
        state->type_bytes[dumpi_number(call, 'y') & (DUMPI_TYPES - 1)] = made_bytes(state, call, name);
    /* The program asked, and MPI's answer is recorded: this also serves for types that are not followed. */
    else if (strcmp(name, "MPI_Type_size") == 0)
        state->type_bytes[dumpi_number(call, 't') & (DUMPI_TYPES - 1)] = dumpi_number(call, 'N');
}

/* Events */

static struct event *push(struct dumpi_state *state, const struct dumpi_call *call, enum event_kind kind,
                          int64_t time_ns)
{
    ARRAY_RESERVE(state->queue, state->queue_capacity, state->queue_count + 1);
    struct event *event = &state->queue[state->queue_count++];
    *event = EVENT_NOTHING;
    event->kind = (uint8_t)kind;
    event->time_ns = time_ns;
    event->process = state->process;
    event->thread = dumpi_thread(state, call->thread);
    return event;
}

/* The process is in a communicator from now on. */
static void push_member(struct dumpi_state *state, const struct defs *defs, const struct dumpi_call *call,
                        enum comm_step step, int32_t comm, int64_t time_ns)
{
    struct event *event = push(state, call, EVENT_COMM_MADE, time_ns);
    event->value = step;
    event->partner_comm = comm;
    event->tag = defs_comm_rank(defs, comm, state->process);
}

static void push_first_members(struct dumpi_state *state, const struct defs *defs, const struct dumpi_call *call)
{
    if (state->gave_members)
        return;
    state->gave_members = true;
    push_member(state, defs, call, COMM_STEP_WORLD, state->comms.world, call->enter_ns);
    if (state->selfs[state->process] != EVENT_UNKNOWN)
        push_member(state, defs, call, COMM_STEP_SELF, state->selfs[state->process], call->enter_ns);
}

static int32_t comm_of(const struct dumpi_state *state, const struct dumpi_call *call)
{
    uint16_t number = (uint16_t)dumpi_number(call, 'c');
    if (!dumpi_has(call, 'c'))
        return EVENT_UNKNOWN;
    if (number == DUMPI_COMM_SELF)
        return state->selfs[state->process];
    return dumpi_comm(&state->comms, state->process, number);
}

static void push_message(struct dumpi_state *state, const struct defs *defs, const struct dumpi_call *call,
                         enum event_kind kind, const struct dumpi_request *of)
{
    struct event *event = push(state, call, kind, kind == EVENT_SEND ? call->enter_ns : call->leave_ns);
    event->comm = event->partner_comm = of->comm;
    event->tag = of->tag;
    if (kind == EVENT_SEND)
        event->bytes_sent = of->bytes;
    else
        event->bytes_received = of->bytes;
    if (of->partner == EVENT_UNKNOWN)
        return;
    if (of->partner < 0)
        event->partner = PARTNER_NONE;
    else if (of->comm != EVENT_UNKNOWN)
        event->partner = defs_world_rank(defs, of->comm, of->partner);
}

static struct dumpi_request sent_by(const struct dumpi_state *state, const struct dumpi_call *call, int32_t comm)
{
    return (struct dumpi_request){.kind = DUMPI_REQUEST_SEND,
                                  .comm = comm,
                                  .partner = (int32_t)dumpi_number(call, 'd'),
                                  .tag = (int32_t)dumpi_number(call, 'g'),
                                  .bytes = bytes_of(state, dumpi_number(call, 'n'), dumpi_number(call, 't'))};
}

/* What is asked for: -1 is MPI_ANY_SOURCE and MPI_ANY_TAG. */
static struct dumpi_request asked_by(const struct dumpi_call *call, int32_t comm)
{
    int32_t source = (int32_t)dumpi_number(call, 's');
    int32_t tag = (int32_t)dumpi_number(call, dumpi_has(call, 'G') ? 'G' : 'g');
    struct dumpi_request asked = {
        .kind = DUMPI_REQUEST_RECEIVE, .comm = comm, .partner = source, .tag = tag, .bytes = BYTES_UNKNOWN};
    if (source == -1)
        asked.partner = EVENT_UNKNOWN;
    if (tag < 0)
        asked.tag = EVENT_UNKNOWN;
    return asked;
}

/* A message has come: what the status says of it goes before what was asked for. */
static void push_received(struct dumpi_state *state, const struct defs *defs, const struct dumpi_call *call,
                          const struct dumpi_request *asked, int32_t index)
{
    struct dumpi_request got = *asked;
    struct dumpi_status status;
    if (dumpi_status(call, index, &status)) {
        /* Only of requests that the program cancelled: the flag is garbage elsewhere. */
        if (got.cancelled && status.cancelled)
            return;
        got.partner = status.source;
        if (status.tag >= 0)
            got.tag = status.tag;
        got.bytes = status.bytes >= 0 ? status.bytes : BYTES_UNKNOWN;
    }
    push_message(state, defs, call, EVENT_RECEIVE, &got);
}

/* Requests */

static void note_request(struct dumpi_state *state, int64_t number)
{
    if (number > NO_REQUEST)
        ARRAY_PUSH(state->named, state->named_count, state->named_capacity, (uint32_t)number);
}

static struct dumpi_request *request_of(struct dumpi_state *state, int64_t number)
{
    const uint64_t *index = number > NO_REQUEST ? map_find(&state->requests, (uint64_t)number) : NULL;
    if (index)
        return &state->request[*index];
    return NULL;
}

static void request_free(struct dumpi_state *state, int64_t number)
{
    const uint64_t *index = number > NO_REQUEST ? map_find(&state->requests, (uint64_t)number) : NULL;
    if (!index)
        return;
    ARRAY_PUSH(state->spare, state->spare_count, state->spare_capacity, (uint32_t)*index);
    map_remove(&state->requests, (uint64_t)number);
}

static void post(struct dumpi_state *state, int64_t number, const struct dumpi_request *request)
{
    if (number <= NO_REQUEST)
        return;
    /* A number may come again although its end was not recorded: functions can be switched off. */
    request_free(state, number);
    uint64_t index = state->request_count;
    if (state->spare_count > 0)
        index = state->spare[--state->spare_count];
    else
        ARRAY_PUSH(state->request, state->request_count, state->request_capacity, *request);
    state->request[index] = *request;
    *map_put(&state->requests, (uint64_t)number, 0) = index;
    note_request(state, number);
}

static void start(struct dumpi_state *state, const struct defs *defs, const struct dumpi_call *call, int64_t number)
{
    struct dumpi_request *request = request_of(state, number);
    if (!request || !request->persistent)
        return;
    request->active = true;
    if (request->kind == DUMPI_REQUEST_SEND)
        push_message(state, defs, call, EVENT_SEND, request);
    note_request(state, number);
}

/* A request is complete; `index` is that of its status. */
static void complete(struct dumpi_state *state, const struct defs *defs, const struct dumpi_call *call, int64_t number,
                     int32_t index)
{
    struct dumpi_request *request = request_of(state, number);
    if (!request || !request->active)
        return;
    /* Statuses of sends are stale copies of earlier receives. */
    if (request->kind == DUMPI_REQUEST_RECEIVE)
        push_received(state, defs, call, request, index);
    note_request(state, number);
    request->active = request->cancelled = false;
    if (!request->persistent)
        request_free(state, number);
}

/* What calls that wait and test have completed. */
static void complete_all(struct dumpi_state *state, const struct defs *defs, const struct dumpi_call *call)
{
    /* A test that found nothing. */
    if (dumpi_has(call, 'f') && dumpi_number(call, 'f') == 0)
        return;
    if (dumpi_has(call, 'r')) {
        complete(state, defs, call, dumpi_number(call, 'r'), 0);
    } else if (dumpi_has(call, 'x')) {
        int64_t index = dumpi_number(call, 'x');
        if (index >= 0 && index < dumpi_count(call, 'R'))
            complete(state, defs, call, dumpi_at(call, 'R', (int32_t)index), 0);
    } else if (dumpi_has(call, 'X')) {
        for (int32_t i = 0; i < dumpi_count(call, 'X'); i++) {
            int32_t index = dumpi_at(call, 'X', i);
            if (index >= 0 && index < dumpi_count(call, 'R'))
                complete(state, defs, call, dumpi_at(call, 'R', index), i);
        }
    } else {
        for (int32_t i = 0; i < dumpi_count(call, 'R'); i++)
            complete(state, defs, call, dumpi_at(call, 'R', i), i);
    }
}

/* Posts, prepares, starts, cancels and frees. */
static void take_requests(struct dumpi_state *state, const struct defs *defs, const struct dumpi_call *call,
                          const char *name, int32_t comm)
{
    size_t length = strlen(name);
    int64_t number = dumpi_number(call, 'r');
    bool persistent = length > 5 && strcmp(name + length - 5, "_init") == 0;
    if (dumpi_has(call, 'd') || dumpi_has(call, 's') || dumpi_has(call, 'F')) {
        struct dumpi_request request = {.kind = DUMPI_REQUEST_OTHER}; /* of operations on files */
        if (dumpi_has(call, 'd'))
            request = sent_by(state, call, comm);
        else if (dumpi_has(call, 's'))
            request = asked_by(call, comm);
        request.persistent = persistent;
        request.active = !persistent;
        post(state, number, &request);
    } else if (strcmp(name, "MPI_Start") == 0) {
        start(state, defs, call, number);
    } else if (strcmp(name, "MPI_Request_free") == 0) {
        note_request(state, number);
        request_free(state, number);
    } else if (strcmp(name, "MPI_Cancel") == 0 && request_of(state, number)) {
        request_of(state, number)->cancelled = true;
    }
}

/* Puts the requests of the call on its leave; numbers that do not follow each other go on marks before it. */
static void push_leave(struct dumpi_state *state, const struct dumpi_call *call, uint32_t what, int32_t comm)
{
    size_t i = 0, end = 0;
    for (; i < state->named_count; i = end) {
        for (end = i + 1; end < state->named_count && state->named[end] == state->named[end - 1] + 1 &&
                          end - i < REQUESTS_AT_ONCE_MAX;)
            end++;
        if (end == state->named_count)
            break;
        struct event *mark = push(state, call, EVENT_MARK, call->leave_ns);
        mark->state = state->request_mark;
        mark->request = state->named[i];
        mark->requests = (uint32_t)(end - i);
    }
    struct event *leave = push(state, call, EVENT_LEAVE, call->leave_ns);
    leave->state = what;
    leave->comm = comm;
    leave->request = end > 0 ? state->named[i] : 0;
    leave->requests = (uint32_t)(end - i);
    state->named_count = 0;
}

/* Collectives */

enum give { GIVES_ALL, GIVES_ONE_TO_ALL, GIVES_TO_EACH, GIVES_TO_ROOT, GIVES_GATHERED, GIVES_SCATTERED };
static const struct {
    const char *name;
    enum give give;
} collectives[] = {
    {"MPI_Bcast", GIVES_ONE_TO_ALL},   {"MPI_Reduce", GIVES_TO_ROOT},      {"MPI_Allreduce", GIVES_ALL},
    {"MPI_Scan", GIVES_ALL},           {"MPI_Exscan", GIVES_ALL},          {"MPI_Gather", GIVES_GATHERED},
    {"MPI_Gatherv", GIVES_GATHERED},   {"MPI_Scatter", GIVES_SCATTERED},   {"MPI_Scatterv", GIVES_SCATTERED},
    {"MPI_Allgather", GIVES_GATHERED}, {"MPI_Allgatherv", GIVES_GATHERED}, {"MPI_Alltoall", GIVES_TO_EACH},
    {"MPI_Alltoallv", GIVES_TO_EACH}};

/* So many times, where both are known. */
static int64_t times(int64_t bytes, int64_t count)
{
    int64_t product;
    if (bytes == BYTES_UNKNOWN || count < 0 || __builtin_mul_overflow(bytes, count, &product))
        return BYTES_UNKNOWN;
    return product;
}

/* Bytes that the process gives and gets, as recordings of SIGHT count them. */
static void move(const struct dumpi_state *state, const struct defs *defs, const struct dumpi_call *call,
                 enum give give, struct event *leave)
{
    bool has_root = dumpi_has(call, 'o'), sized = dumpi_has(call, 'p') || dumpi_has(call, 'q'), root = false;
    int64_t out = dumpi_has(call, 'q') ? sum_of(call, 'q') : dumpi_number(call, 'n');
    int64_t in = dumpi_has(call, 'p') ? sum_of(call, 'p') : dumpi_number(call, 'N');
    int64_t given = bytes_of(state, out, dumpi_number(call, 't')), got = bytes_of(state, in, dumpi_number(call, 'U'));
    if (has_root) {
        leave->tag = (int32_t)dumpi_number(call, 'o');
        root = leave->comm != EVENT_UNKNOWN && leave->tag == defs_comm_rank(defs, leave->comm, state->process);
    }
    /* Who is the root cannot be said in a communicator that is not known, nor how many blocks there are. */
    if (has_root && leave->comm == EVENT_UNKNOWN)
        return;
    int64_t blocks = sized ? 1 : dumpi_comm_size(&state->comms, leave->comm);
    leave->bytes_sent = given;
    leave->bytes_received = got;
    switch (give) {
    case GIVES_ALL:
        leave->bytes_received = given;
        break;
    case GIVES_ONE_TO_ALL:
        leave->bytes_sent = root ? given : 0;
        leave->bytes_received = root ? 0 : given;
        break;
    case GIVES_TO_ROOT:
        leave->bytes_received = root ? given : 0;
        break;
    case GIVES_GATHERED:
        leave->bytes_received = has_root && !root ? 0 : times(got, blocks);
        break;
    case GIVES_SCATTERED:
        leave->bytes_sent = root ? times(given, blocks) : 0;
        break;
    case GIVES_TO_EACH:
        leave->bytes_sent = times(given, blocks);
        leave->bytes_received = times(got, blocks);
        break;
    }
}

/* Calls */

static void take_messages(struct dumpi_state *state, const struct defs *defs, const struct dumpi_call *call,
                          int32_t comm)
{
    if (dumpi_has(call, 'r') || !dumpi_has(call, 'n'))
        return;
    if (dumpi_has(call, 'd')) {
        struct dumpi_request sent = sent_by(state, call, comm);
        push_message(state, defs, call, EVENT_SEND, &sent);
    }
    if (dumpi_has(call, 's')) {
        struct dumpi_request asked = asked_by(call, comm);
        push_received(state, defs, call, &asked, 0);
    }
}

void dumpi_emit(struct dumpi_state *state, const struct defs *defs, const struct dumpi_call *call)
{
    const char *name = dumpi_function(call->function);
    if (!name || state->states[call->function] == EVENT_UNKNOWN) {
        state->other++;
        return;
    }
    uint32_t what = (uint32_t)state->states[call->function];
    int32_t comm = comm_of(state, call);
    push_first_members(state, defs, call);
    struct event *enter = push(state, call, EVENT_ENTER, call->enter_ns);
    enter->state = what;
    enter->comm = comm;
    /* Sends leave when the call is entered, receives arrive when one is left: what else the call says is between. */
    if (dumpi_has(call, 'r') && dumpi_has(call, 'd') && strstr(name, "_init") == NULL) {
        struct dumpi_request sent = sent_by(state, call, comm);
        push_message(state, defs, call, EVENT_SEND, &sent);
    }
    take_messages(state, defs, call, comm);
    /* MPI_Request_get_status asks, and leaves the request as it is. */
    if (defs->states[what].class == CLASS_WAIT && strcmp(name, "MPI_Request_get_status") != 0)
        complete_all(state, defs, call);
    else if (dumpi_has(call, 'r'))
        take_requests(state, defs, call, name, comm);
    else
        for (int32_t i = 0; i < dumpi_count(call, 'R'); i++)
            start(state, defs, call, dumpi_at(call, 'R', i));
    take_types(state, call, name);
    push_leave(state, call, what, comm);
    for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++)
        if (strcmp(name, collectives[i].name) == 0)
            move(state, defs, call, collectives[i].give, &state->queue[state->queue_count - 1]);
    int32_t made = dumpi_comms_pass(&state->comms, state->process, call);
    if (made != EVENT_UNKNOWN)
        push_member(state, defs, call, COMM_STEP_INTRA, made, call->leave_ns);
}
