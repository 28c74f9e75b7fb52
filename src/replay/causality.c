/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/causality.h"

#include "core/memory.h"
#include "core/open_states.h"
#include "replay/collective.h"
#include "replay/message_queues.h"

#include <string.h>

/* A thread: what is open on it. */
struct thread_state {
    struct open_states open; /* MPI states */
    uint32_t member;         /* 1 + the collective that it is in, or was in last; 0: none */
    uint32_t timeline;
};

/* A function on a communicator. */
struct causal_stream {
    int32_t comm;
    uint32_t most; /* participants of its largest collective */
    bool moves;    /* it is there to move bytes: who has none takes no part */
};

struct causality_builder {
    struct sink sink;
    struct causality *result;
    struct thread_state *threads;
    size_t thread_count, thread_capacity;
    struct causal_stream *streams;
    size_t stream_count, stream_capacity;
    uint8_t *shapes; /* by state: enum causal_shape */
    size_t shape_count, shape_capacity;
    struct map timelines;    /* process -> timeline */
    struct map thread_index; /* (process, thread) -> thread */
    struct map stream_index; /* (communicator, function) -> stream */
    struct map turns;        /* (thread, stream) -> collectives so far */
    struct map group_index;  /* (stream, turn) -> group */
    struct message_queues queues;
    uint32_t recent_process, recent_thread, recent_index;
    bool recent;
};

static enum status builder_begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    (void)err;
    ((struct causality_builder *)sink)->result->defs = defs;
    return STATUS_OK;
}

static uint32_t timeline_of(struct causality_builder *builder, const struct event *event)
{
    struct causality *result = builder->result;
    uint64_t *at = map_put(&builder->timelines, event->process, result->timeline_count);
    if (*at == result->timeline_count)
        ARRAY_PUSH(result->timelines, result->timeline_count, result->timeline_capacity,
                   (struct causal_timeline){.process = event->process,
                                            .begin_ns = event->time_ns,
                                            .end_ns = event->time_ns,
                                            .latest_ns = event->time_ns});
    return (uint32_t)*at;
}

static uint32_t thread_of(struct causality_builder *builder, const struct event *event)
{
    if (builder->recent && builder->recent_process == event->process && builder->recent_thread == event->thread)
        return builder->recent_index;
    uint64_t *at = map_put(&builder->thread_index, map_pair(event->process, event->thread), builder->thread_count);
    if (*at == builder->thread_count) {
        uint32_t timeline = timeline_of(builder, event);
        ARRAY_PUSH(builder->threads, builder->thread_count, builder->thread_capacity,
                   (struct thread_state){.timeline = timeline});
    }
    builder->recent = true;
    builder->recent_process = event->process;
    builder->recent_thread = event->thread;
    builder->recent_index = (uint32_t)*at;
    return builder->recent_index;
}

static void add_event(struct causality_builder *builder, uint32_t timeline, size_t index, enum causal_kind kind)
{
    struct causal_timeline *where = &builder->result->timelines[timeline];
    ARRAY_PUSH(where->events, where->count, where->capacity,
               (struct causal_event){(uint32_t)index << 2 | (uint32_t)kind, (uint32_t)where->seen});
}

/* Messages */

/* The message that the end is of: the first that waits for it, or a new one. While a message waits, the time of its
   missing end holds 1 + the next that waits. */
static uint32_t meet(struct causality_builder *builder, uint32_t timeline, const struct event *event, bool receive)
{
    struct causality *result = builder->result;
    struct message_queue *queue = message_queue_of(&builder->queues, event);
    if (queue->first && queue->sends == receive) {
        uint32_t found = queue->first - 1;
        struct causal_message *message = &result->messages[found];
        int64_t *missing_ns = receive ? &message->receive_ns : &message->send_ns;
        queue->first = (uint32_t)*missing_ns;
        *missing_ns = event->time_ns;
        *(receive ? &message->receiver : &message->sender) = timeline;
        return found;
    }
    uint32_t made = (uint32_t)result->message_count;
    struct causal_message message = {.sender = CAUSAL_NONE, .receiver = CAUSAL_NONE};
    *(receive ? &message.receive_ns : &message.send_ns) = event->time_ns;
    *(receive ? &message.receiver : &message.sender) = timeline;
    ARRAY_PUSH(result->messages, result->message_count, result->message_capacity, message);
    if (queue->first) {
        struct causal_message *last = &result->messages[queue->last - 1];
        *(receive ? &last->send_ns : &last->receive_ns) = made + 1;
    } else {
        queue->first = made + 1;
        queue->sends = !receive;
    }
    queue->last = made + 1;
    return made;
}

static void take_message(struct causality_builder *builder, uint32_t timeline, const struct event *event)
{
    if (event->partner < 0)
        return;
    if (builder->result->message_count >= CAUSAL_LINKS - 1) {
        builder->result->too_large = true;
        return;
    }
    bool receive = event->kind == EVENT_RECEIVE;
    add_event(builder, timeline, meet(builder, timeline, event, receive), receive ? CAUSAL_RECEIVE : CAUSAL_SEND);
}

/* Collectives */

/* True of functions with which counts may differ between processes: who neither gives nor gets anything need not wait.
 */
static bool goes_by_counts(const char *name)
{
    static const char reduce_scatter[] = "MPI_Reduce_scatter";
    size_t length = strlen(name);
    if (length > 2 && strcmp(name + length - 2, "_c") == 0)
        length -= 2;
    return (length > 0 && (name[length - 1] == 'v' || name[length - 1] == 'w')) ||
           (length == sizeof reduce_scatter - 1 && strncmp(name, reduce_scatter, length) == 0);
}

/* What ties the function's calls. MPI does not promise that MPI_Init and MPI_Finalize wait for anybody. */
static enum causal_shape shape_of(const struct state_def *state)
{
    struct collective collective = collective_of(state);
    if (collective.stage != STAGE_BLOCKING || goes_by_counts(state->name) ||
        (state->class != CLASS_COLLECTIVE && state->class != CLASS_SYNC))
        return CAUSAL_UNBOUND;
    switch ((enum collective_shape)collective.shape) {
    case SHAPE_ALL_TO_ALL:
        return CAUSAL_ALL_TO_ALL;
    case SHAPE_ONE_TO_ALL:
        return CAUSAL_ONE_TO_ALL;
    case SHAPE_ALL_TO_ONE:
        return CAUSAL_ALL_TO_ONE;
    default:
        return CAUSAL_UNBOUND;
    }
}

static enum causal_shape state_shape(struct causality_builder *builder, uint32_t state)
{
    while (builder->shape_count <= state) {
        const struct state_def *next = &builder->result->defs->states[builder->shape_count];
        ARRAY_PUSH(builder->shapes, builder->shape_count, builder->shape_capacity, (uint8_t)shape_of(next));
    }
    return (enum causal_shape)builder->shapes[state];
}

static uint32_t stream_of(struct causality_builder *builder, int32_t comm, uint32_t state)
{
    uint64_t *stream = map_put(&builder->stream_index, map_pair((uint32_t)comm, state), builder->stream_count);
    if (*stream == builder->stream_count)
        ARRAY_PUSH(builder->streams, builder->stream_count, builder->stream_capacity,
                   (struct causal_stream){comm, 0, builder->result->defs->states[state].class == CLASS_COLLECTIVE});
    return (uint32_t)*stream;
}

static uint32_t group_of(struct causality_builder *builder, uint32_t thread, uint32_t stream, enum causal_shape shape)
{
    struct causality *result = builder->result;
    uint64_t turn = (*map_put(&builder->turns, map_pair(thread, stream), 0))++;
    uint64_t *group = map_put(&builder->group_index, map_pair(stream, (uint32_t)turn), result->group_count);
    if (*group == result->group_count)
        ARRAY_PUSH(result->groups, result->group_count, result->group_capacity,
                   (struct causal_group){.shape = (uint8_t)shape,
                                         .moves = builder->streams[stream].moves,
                                         .stream = stream,
                                         .root = CAUSAL_NONE,
                                         .hub = CAUSAL_NONE});
    return (uint32_t)*group;
}

static void enter_collective(struct causality_builder *builder, uint32_t thread, const struct event *event,
                             enum causal_shape shape)
{
    struct causality *result = builder->result;
    if (result->member_count >= CAUSAL_LINKS - 1) {
        result->too_large = true;
        return;
    }
    struct thread_state *state = &builder->threads[thread];
    uint32_t stream = stream_of(builder, event->comm, result->defs->states[event->state].first_of_name);
    uint32_t index = group_of(builder, thread, stream, shape), member = (uint32_t)result->member_count;
    ARRAY_PUSH(result->members, result->member_count, result->member_capacity,
               (struct causal_member){.enter_ns = event->time_ns,
                                      .leave_ns = INT64_MIN,
                                      .timeline = state->timeline,
                                      .group = index & (CAUSAL_LINKS - 1)});
    struct causal_group *group = &result->groups[index];
    if (++group->count > builder->streams[stream].most)
        builder->streams[stream].most = group->count;
    state->member = member + 1;
    add_event(builder, state->timeline, member, CAUSAL_ENTER);
}

/* What is told of the thread's latest collective: its root, a rank of the communicator, and whether it moves bytes. */
static void note_collective(struct causality_builder *builder, uint32_t thread, const struct event *event)
{
    const struct thread_state *state = &builder->threads[thread];
    struct causality *result = builder->result;
    if (state->member == 0)
        return;
    struct causal_member *member = &result->members[state->member - 1];
    if (event->tag >= 0 && event->tag < PROCESS_LIMIT &&
        defs_world_rank(result->defs, event->comm, event->tag) == (int32_t)result->timelines[member->timeline].process)
        result->groups[member->group].root = state->member - 1;
    if (result->groups[member->group].moves) {
        member->gives_nothing |= event->bytes_sent == 0;
        member->gets_nothing |= event->bytes_received == 0;
    }
}

static void leave_collective(struct causality_builder *builder, uint32_t thread, const struct event *event)
{
    struct thread_state *state = &builder->threads[thread];
    note_collective(builder, thread, event);
    builder->result->members[state->member - 1].leave_ns = event->time_ns;
    add_event(builder, state->timeline, state->member - 1, CAUSAL_LEAVE);
    state->member = 0;
}

static void enter(struct causality_builder *builder, uint32_t thread, const struct event *event)
{
    struct thread_state *state = &builder->threads[thread];
    if (!builder->result->defs->states[event->state].is_mpi)
        return;
    if (state->open.depth == 0) {
        state->member = 0;
        enum causal_shape shape = state_shape(builder, event->state);
        if (shape != CAUSAL_UNBOUND)
            enter_collective(builder, thread, event, shape);
    }
    open_states_enter(&state->open, event->state, event->time_ns);
}

static void leave(struct causality_builder *builder, uint32_t thread, const struct event *event)
{
    struct thread_state *state = &builder->threads[thread];
    ptrdiff_t at = open_states_find(&state->open, event->state);
    if (at == OPEN_STATES_NONE)
        return;
    open_states_remove(&state->open, at);
    if (state->open.depth == 0 && state->member)
        leave_collective(builder, thread, event);
}

static void take(struct causality_builder *builder, const struct event *event)
{
    uint32_t thread = thread_of(builder, event), timeline = builder->threads[thread].timeline;
    switch (event->kind) {
    case EVENT_ENTER:
        enter(builder, thread, event);
        break;
    case EVENT_LEAVE:
        leave(builder, thread, event);
        break;
    case EVENT_SEND:
    case EVENT_RECEIVE:
        take_message(builder, timeline, event);
        break;
    case EVENT_COLLECTIVE:
        note_collective(builder, thread, event);
        break;
    default:
        break;
    }
    struct causal_timeline *where = &builder->result->timelines[timeline];
    where->goes_back |= event->time_ns < where->latest_ns;
    where->latest_ns = event->time_ns;
    where->begin_ns = event->time_ns < where->begin_ns ? event->time_ns : where->begin_ns;
    where->end_ns = event->time_ns > where->end_ns ? event->time_ns : where->end_ns;
    where->seen++;
    builder->result->too_large |= where->seen >= UINT32_MAX;
}

static enum status builder_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    (void)err;
    for (size_t i = 0; i < batch->count; i++)
        if (event_counts(&batch->events[i]))
            take((struct causality_builder *)sink, &batch->events[i]);
    return STATUS_OK;
}

struct causality_builder *causality_builder_new(void)
{
    struct causality_builder *builder = memory_new(sizeof *builder);
    builder->result = memory_new(sizeof *builder->result);
    builder->sink = (struct sink){.begin = builder_begin, .events = builder_events};
    return builder;
}

struct sink *causality_builder_sink(struct causality_builder *builder)
{
    return &builder->sink;
}

/* Sides of inter-communicators: who depends on whom there is another rule. */
static void find_inter(const struct defs *defs, struct map *inter)
{
    for (size_t i = 0; i < defs->comm_row_count; i++) {
        const struct comm_row *row = &defs->comm_rows[i];
        if (row->kind == COMM_KIND_INTER || row->kind == COMM_KIND_LOCAL || row->kind == COMM_KIND_REMOTE)
            map_put(inter, (uint32_t)row->id, 1);
    }
}

/* Binds only what everyone took part in that takes part in its largest; without communicators only what the whole run
   takes part in is sure to be one collective. */
static void judge_groups(struct causality_builder *builder)
{
    struct causality *result = builder->result;
    struct map inter = {0};
    find_inter(result->defs, &inter);
    for (size_t i = 0; i < result->group_count; i++) {
        struct causal_group *group = &result->groups[i];
        const struct causal_stream *stream = &builder->streams[group->stream];
        bool complete = group->count > 1 && group->count == stream->most &&
                        (stream->comm != EVENT_UNKNOWN || group->count == result->defs->processes);
        bool rootless = group->shape != CAUSAL_ALL_TO_ALL && group->root == CAUSAL_NONE;
        bool two_groups = stream->comm >= 0 && map_find(&inter, (uint32_t)result->defs->comms[stream->comm].id);
        if (!complete || rootless || two_groups)
            group->shape = CAUSAL_UNBOUND;
    }
    map_clear(&inter);
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static uint32_t renumbered(const uint32_t *numbers, uint32_t timeline)
{
    return timeline == CAUSAL_NONE ? CAUSAL_NONE : numbers[timeline];
}

/* Timelines come in the order in which their processes are met: which that is must not matter to anybody. */
static void sort_timelines(struct causality *causality)
{
    size_t count = causality->timeline_count;
    uint64_t *order = memory_new(count * sizeof *order);
    uint32_t *numbers = memory_new(count * sizeof *numbers);
    struct causal_timeline *timelines = memory_new(count * sizeof *timelines);
    for (size_t i = 0; i < count; i++)
        order[i] = map_pair(causality->timelines[i].process, (uint32_t)i);
    if (count > 0)
        qsort(order, count, sizeof *order, by_number);
    for (size_t i = 0; i < count; i++) {
        timelines[i] = causality->timelines[(uint32_t)order[i]];
        numbers[(uint32_t)order[i]] = (uint32_t)i;
    }
    free(causality->timelines);
    causality->timelines = timelines;
    for (size_t i = 0; i < causality->message_count; i++) {
        struct causal_message *message = &causality->messages[i];
        message->sender = renumbered(numbers, message->sender);
        message->receiver = renumbered(numbers, message->receiver);
    }
    for (size_t i = 0; i < causality->member_count; i++)
        causality->members[i].timeline = numbers[causality->members[i].timeline];
    free(order);
    free(numbers);
}

/* The member with the lowest timeline of each group. */
static void find_hubs(struct causality *causality)
{
    for (uint32_t i = 0; i < causality->member_count; i++) {
        struct causal_group *group = &causality->groups[causality->members[i].group];
        if (group->hub == CAUSAL_NONE || causality->members[group->hub].timeline > causality->members[i].timeline)
            group->hub = i;
    }
}

struct causality *causality_builder_end(struct causality_builder *builder)
{
    struct causality *result = builder->result;
    judge_groups(builder);
    sort_timelines(result);
    find_hubs(result);
    for (size_t i = 0; i < builder->thread_count; i++)
        open_states_free(&builder->threads[i].open);
    free(builder->threads);
    free(builder->streams);
    free(builder->shapes);
    map_clear(&builder->timelines);
    map_clear(&builder->thread_index);
    map_clear(&builder->stream_index);
    map_clear(&builder->turns);
    map_clear(&builder->group_index);
    message_queues_clear(&builder->queues);
    free(builder);
    return result;
}

void causality_free(struct causality *causality)
{
    if (!causality)
        return;
    for (size_t i = 0; i < causality->timeline_count; i++)
        free(causality->timelines[i].events);
    free(causality->timelines);
    free(causality->messages);
    free(causality->members);
    free(causality->groups);
    free(causality);
}

bool causal_leave_depends(const struct causality *causality, uint32_t member)
{
    const struct causal_group *group = &causality->groups[causality->members[member].group];
    if (causality->members[member].gets_nothing)
        return false;
    return group->shape == CAUSAL_ALL_TO_ALL || (group->shape == CAUSAL_ONE_TO_ALL && group->root != member) ||
           (group->shape == CAUSAL_ALL_TO_ONE && group->root == member);
}

bool causal_enter_matters(const struct causality *causality, uint32_t member)
{
    const struct causal_group *group = &causality->groups[causality->members[member].group];
    if (causality->members[member].gives_nothing)
        return false;
    return group->shape == CAUSAL_ALL_TO_ALL || (group->shape == CAUSAL_ONE_TO_ALL && group->root == member) ||
           (group->shape == CAUSAL_ALL_TO_ONE && group->root != member);
}

static int64_t changed(const struct causal_change *change, uint32_t timeline, int64_t time_ns)
{
    return change ? change->time(change->context, timeline, time_ns) : time_ns;
}

void causality_change(struct causality *causality, const struct causal_change *change)
{
    for (size_t i = 0; i < causality->message_count; i++) {
        struct causal_message *message = &causality->messages[i];
        if (!causal_matched(message))
            continue;
        message->send_ns = changed(change, message->sender, message->send_ns);
        message->receive_ns = changed(change, message->receiver, message->receive_ns);
    }
    for (size_t i = 0; i < causality->member_count; i++) {
        struct causal_member *member = &causality->members[i];
        member->enter_ns = changed(change, member->timeline, member->enter_ns);
        if (member->leave_ns != INT64_MIN)
            member->leave_ns = changed(change, member->timeline, member->leave_ns);
    }
}

/* Collectives: the latest enter that matters against the earliest leave that depends on it. */
static void torn_groups(const struct causality *causality, const struct causal_change *change,
                        struct clock_errors *errors)
{
    struct span {
        int64_t latest_enter_ns, earliest_leave_ns;
    } *spans = memory_new(causality->group_count * sizeof *spans);
    for (size_t i = 0; i < causality->group_count; i++)
        spans[i] = (struct span){INT64_MIN, INT64_MAX};
    for (uint32_t i = 0; i < causality->member_count; i++) {
        const struct causal_member *member = &causality->members[i];
        struct span *span = &spans[member->group];
        int64_t enter_ns = changed(change, member->timeline, member->enter_ns);
        if (causal_enter_matters(causality, i) && enter_ns > span->latest_enter_ns)
            span->latest_enter_ns = enter_ns;
        if (!causal_leave_depends(causality, i) || member->leave_ns == INT64_MIN)
            continue;
        int64_t leave_ns = changed(change, member->timeline, member->leave_ns);
        if (leave_ns < span->earliest_leave_ns)
            span->earliest_leave_ns = leave_ns;
    }
    for (size_t i = 0; i < causality->group_count; i++) {
        int64_t early = time_since(spans[i].earliest_leave_ns, spans[i].latest_enter_ns);
        errors->groups += causality->groups[i].shape != CAUSAL_UNBOUND;
        errors->torn += early > 0;
        errors->sum_ns += (double)early;
        errors->worst_group_ns = early > errors->worst_group_ns ? early : errors->worst_group_ns;
    }
    free(spans);
}

struct clock_errors causality_errors(const struct causality *causality, const struct causal_change *change)
{
    struct clock_errors errors = {0};
    for (size_t i = 0; i < causality->message_count; i++) {
        const struct causal_message *message = &causality->messages[i];
        if (!causal_matched(message))
            continue;
        int64_t early = time_since(changed(change, message->receiver, message->receive_ns),
                                   changed(change, message->sender, message->send_ns));
        errors.messages++;
        errors.early += early > 0;
        errors.sum_ns += (double)early;
        errors.worst_ns = early > errors.worst_ns ? early : errors.worst_ns;
    }
    torn_groups(causality, change, &errors);
    return errors;
}
