/* SPDX-License-Identifier: BSD-3-Clause */
/* The order in which events leave the XML reader: records about the trace go back to their original places. */
#include "convert/xml/read_xml.h"

static void queue_push(struct xml_queue *queue, const struct event *event, const unsigned char *payload)
{
    ARRAY_PUSH(queue->events, queue->count, queue->capacity, *event);
    if (event->payload_length == 0)
        return;
    ARRAY_RESERVE(queue->arena, queue->arena_capacity, queue->arena_length + event->payload_length);
    memcpy(queue->arena + queue->arena_length, payload, event->payload_length);
    queue->events[queue->count - 1].payload = (uint32_t)queue->arena_length;
    queue->arena_length += event->payload_length;
}

/* Straight into the batch where that keeps the order. */
static void push(struct xml_reader *xml, const struct event *event, const unsigned char *payload)
{
    struct batch *batch = xml->batch;
    /* While the reader is opened there is no batch. What came after a queued event must not overtake it. */
    if (!batch || batch->count == BATCH_EVENTS || xml->queue.count) {
        queue_push(&xml->queue, event, payload);
        return;
    }
    struct event *at = &batch->events[batch->count++];
    *at = *event;
    if (event->payload_length)
        batch_set_payload(batch, at, payload, event->payload_length);
}

/* Records stand before all events in the document, and go back among those of their process: `after` of them at the
   same time came first. */
static int pending_order(const void *left, const void *right)
{
    const struct xml_pending *a = left, *b = right;
    if (a->event.process != b->event.process)
        return a->event.process < b->event.process ? -1 : 1;
    if (a->event.time_ns != b->event.time_ns)
        return a->event.time_ns < b->event.time_ns ? -1 : 1;
    if (a->sequence < b->sequence)
        return -1;
    return 1;
}

/* When the first event comes: no more records can then come before it. */
static void sort_pending(struct xml_reader *xml)
{
    qsort(xml->pending, xml->pending_count, sizeof *xml->pending, pending_order);
    for (size_t i = 0; i < xml->pending_count; i++) {
        uint64_t *place = map_put(&xml->processes, xml->pending[i].event.process, xml->process_count);
        if (*place == xml->process_count)
            ARRAY_PUSH(xml->process, xml->process_count, xml->process_capacity, (struct xml_process){.next = i});
        xml->process[*place].end = i + 1;
    }
    xml->pending_sorted = true;
}

/* Emits the records of the process before `time_ns`, or at it and after at most `count` events. */
static void release(struct xml_reader *xml, struct xml_process *process, int64_t time_ns, uint64_t count)
{
    for (; process->next < process->end; process->next++, xml->pending_left--) {
        const struct xml_pending *pending = &xml->pending[process->next];
        if (pending->event.time_ns > time_ns || (pending->event.time_ns == time_ns && pending->after > count))
            return;
        push(xml, &pending->event, xml->records + pending->event.payload);
    }
}

/* Every event of the program passes here, with the records that belong before it. */
void xml_emit(struct xml_reader *xml, const struct event *event, const unsigned char *payload)
{
    /* Nearly always: records at the begin of a process are few. */
    if (!xml->pending_left) {
        push(xml, event, payload);
        return;
    }
    if (!xml->pending_sorted)
        sort_pending(xml);
    const uint64_t *place = map_find(&xml->processes, event->process);
    if (!place) {
        push(xml, event, payload);
        return;
    }
    struct xml_process *process = &xml->process[*place];
    release(xml, process, event->time_ns, 0);
    push(xml, event, payload);
    if (process->time_ns != event->time_ns)
        process->count = 0;
    process->count++;
    process->time_ns = event->time_ns;
    release(xml, process, event->time_ns, process->count);
}

void xml_emit_record(struct xml_reader *xml, const struct event *event, const unsigned char *payload)
{
    uint64_t after = (uint64_t)xml_number(xml, XML_after, 0, INT64_MAX, 0);
    /* Before all events of its time, it may as well come right away. */
    if (after == 0 || xml->events_met) {
        push(xml, event, payload);
        return;
    }
    struct xml_pending pending = {*event, after, xml->pending_count};
    /* Payloads of records wait in a buffer of their own, as the queue's is emptied meanwhile. */
    pending.event.payload = (uint32_t)xml->records_length;
    ARRAY_RESERVE(xml->records, xml->records_capacity, xml->records_length + event->payload_length + 1);
    if (event->payload_length > 0)
        memcpy(xml->records + xml->records_length, payload, event->payload_length);
    xml->records_length += event->payload_length;
    ARRAY_PUSH(xml->pending, xml->pending_count, xml->pending_capacity, pending);
    xml->pending_left++;
}

void xml_emit_all_pending(struct xml_reader *xml)
{
    if (xml->pending_left && !xml->pending_sorted)
        sort_pending(xml);
    for (size_t i = 0; i < xml->process_count; i++)
        release(xml, &xml->process[i], INT64_MAX, UINT64_MAX);
}

void xml_flush_held(struct xml_reader *xml)
{
    struct xml_queue *held = &xml->held;
    for (size_t i = 0; i < held->count; i++)
        xml_emit(xml, &held->events[i], held->arena + held->events[i].payload);
    held->count = held->arena_length = 0;
}

void xml_flush_held_with(struct xml_reader *xml, const struct event *merged)
{
    struct xml_queue *held = &xml->held;
    /* Messages of another process are not of this leave. */
    if (held->count && held->events[0].process != merged->process)
        xml_flush_held(xml);
    size_t i = 0;
    /* The message on the line of a leave is the call's first one, though it is read last. */
    for (; i < held->count && held->events[i].time_ns < merged->time_ns; i++)
        xml_emit(xml, &held->events[i], held->arena + held->events[i].payload);
    xml_emit(xml, merged, NULL);
    for (; i < held->count; i++)
        xml_emit(xml, &held->events[i], held->arena + held->events[i].payload);
    held->count = held->arena_length = 0;
}

void xml_hold(struct xml_reader *xml, const struct event *message, const unsigned char *payload)
{
    /* The writer has the same limits (XML_HELD_MAX): a run beyond them has no message on its leave. */
    enum { HELD_BYTES_MAX = 2 << 20 };
    if (xml->held.count >= XML_HELD_MAX || xml->held.arena_length > HELD_BYTES_MAX)
        xml_flush_held(xml);
    queue_push(&xml->held, message, payload);
}
