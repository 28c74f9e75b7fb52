/* SPDX-License-Identifier: BSD-3-Clause */
#include "clocks/causality.h"

#include "clocks/causal_calls.h"
#include "core/memory.h"
#include "graph/message_queues.h"

struct causality_builder {
    struct sink sink;
    struct causality *result;
    struct causal_calls *calls;
    struct map timelines; /* process -> timeline */
    struct message_queues queues;
    uint32_t recent_process, recent_timeline;
    bool recent;
};

static enum status builder_begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    struct causality_builder *builder = (struct causality_builder *)sink;
    builder->result->defs = defs;
    return causal_calls_begin(builder->calls, defs, err);
}

static uint32_t timeline_of(struct causality_builder *builder, const struct event *event)
{
    struct causality *result = builder->result;
    if (builder->recent && builder->recent_process == event->process)
        return builder->recent_timeline;
    uint64_t *at = map_put(&builder->timelines, event->process, result->timeline_count);
    if (*at == result->timeline_count)
        ARRAY_PUSH(result->timelines, result->timeline_count, result->timeline_capacity,
                   (struct causal_timeline){.process = event->process,
                                            .begin_ns = event->time_ns,
                                            .end_ns = event->time_ns,
                                            .latest_ns = event->time_ns});
    builder->recent = true;
    builder->recent_process = event->process;
    builder->recent_timeline = (uint32_t)*at;
    return builder->recent_timeline;
}

static void add_event(struct causality_builder *builder, uint32_t timeline, size_t index, enum causal_kind kind)
{
    struct causal_timeline *where = &builder->result->timelines[timeline];
    ARRAY_PUSH(where->events, where->count, where->capacity,
               (struct causal_event){(uint32_t)index << 2 | (uint32_t)kind, (uint32_t)where->seen});
}

/* Messages */

/* The message of an end: the first that waits for it, or a new one. While a message waits, the time of its missing end
   holds 1 + the next waiting one. */
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

static void take(struct causality_builder *builder, const struct event *event)
{
    uint32_t timeline = timeline_of(builder, event);
    struct causal_timeline *where = &builder->result->timelines[timeline];
    if (event->kind == EVENT_SEND || event->kind == EVENT_RECEIVE)
        take_message(builder, timeline, event);
    else
        causal_calls_take(builder->calls, event, timeline, (uint32_t)where->seen);
    where->goes_back |= event->time_ns < where->latest_ns;
    where->latest_ns = event->time_ns;
    where->begin_ns = event->time_ns < where->begin_ns ? event->time_ns : where->begin_ns;
    where->end_ns = event->time_ns > where->end_ns ? event->time_ns : where->end_ns;
    where->seen++;
    builder->result->too_large |= where->seen >= UINT32_MAX;
}

static enum status builder_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    struct causality_builder *builder = (struct causality_builder *)sink;
    for (size_t i = 0; i < batch->count; i++)
        if (event_counts(&batch->events[i]))
            take(builder, &batch->events[i]);
        else
            causal_calls_note(builder->calls, &batch->events[i]);
    return causal_calls_flush(builder->calls, batch, err);
}

struct causality_builder *causality_builder_new(void)
{
    struct causality_builder *builder = memory_new(sizeof *builder);
    builder->result = memory_new(sizeof *builder->result);
    builder->calls = causal_calls_new();
    builder->sink = (struct sink){.begin = builder_begin, .events = builder_events};
    return builder;
}

struct sink *causality_builder_sink(struct causality_builder *builder)
{
    return &builder->sink;
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

/* Timelines come in the order in which their processes occur: results must not depend on it. */
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
    for (size_t i = 0; i < causality->point_count; i++)
        causality->points[i].timeline = numbers[causality->points[i].timeline];
    free(order);
    free(numbers);
}

struct causality *causality_builder_end(struct causality_builder *builder)
{
    struct causality *result = builder->result;
    causal_calls_end(builder->calls, result);
    sort_timelines(result);
    map_clear(&builder->timelines);
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
    free(causality->points);
    free(causality->gates);
    free(causality->nexts);
    free(causality);
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
    for (size_t i = 0; i < causality->point_count; i++) {
        struct causal_point *point = &causality->points[i];
        point->time_ns = changed(change, point->timeline, point->time_ns);
    }
}

/* Latest enter and earliest leave of each gate. */
struct span {
    int64_t latest_enter_ns, earliest_leave_ns;
};

static struct span *spans_of(const struct causality *causality, const struct causal_change *change)
{
    struct span *spans = memory_new(causality->gate_count * sizeof *spans);
    for (size_t i = 0; i < causality->gate_count; i++)
        spans[i] = (struct span){INT64_MIN, INT64_MAX};
    for (size_t i = 0; i < causality->point_count; i++) {
        const struct causal_point *point = &causality->points[i];
        struct span *span = &spans[point->gate];
        int64_t time_ns = changed(change, point->timeline, point->time_ns);
        if (point->leaves)
            span->earliest_leave_ns = time_ns < span->earliest_leave_ns ? time_ns : span->earliest_leave_ns;
        else
            span->latest_enter_ns = time_ns > span->latest_enter_ns ? time_ns : span->latest_enter_ns;
    }
    for (size_t i = 0; i < causality->gate_count; i++)
        for (size_t k = causality->gates[i].next; k < causal_nexts_end(causality, i); k++) {
            int64_t *latest_ns = &spans[causality->nexts[k]].latest_enter_ns;
            *latest_ns = spans[i].latest_enter_ns > *latest_ns ? spans[i].latest_enter_ns : *latest_ns;
        }
    return spans;
}

/* Finds how much too early each collective is left. */
static void torn_calls(const struct causality *causality, const struct causal_change *change,
                       struct clock_errors *errors)
{
    struct span *spans = spans_of(causality, change);
    int64_t *early = memory_new(causality->call_count * sizeof *early);
    for (size_t i = 0; i < causality->gate_count; i++) {
        int64_t *most = &early[causality->gates[i].call];
        int64_t by_ns = time_since(spans[i].earliest_leave_ns, spans[i].latest_enter_ns);
        *most = by_ns > *most ? by_ns : *most;
    }
    for (size_t i = 0; i < causality->call_count; i++) {
        errors->torn += early[i] > 0;
        errors->sum_ns += (double)early[i];
        errors->worst_instance_ns = early[i] > errors->worst_instance_ns ? early[i] : errors->worst_instance_ns;
    }
    errors->instances = causality->call_count;
    free(spans);
    free(early);
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
    torn_calls(causality, change, &errors);
    return errors;
}
