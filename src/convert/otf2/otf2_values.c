/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/otf2/otf2_events.h"
#include "core/bytes.h"

#include <string.h>

/* Counters and parameters */

static OTF2_CallbackCode on_metric(EVENT_ARGUMENTS, OTF2_MetricRef metric, uint8_t count, const OTF2_Type *types,
                                   const OTF2_MetricValue *values)
{
    BEGIN;
    uint32_t index = otf2_index(&location->otf2->metric_ids, metric);
    const struct otf2_metric *known = index == OTF2_NONE ? NULL : &location->otf2->metric[index];
    location->undefined += !known || known->mark == OTF2_NONE;
    for (uint8_t i = 0; known && known->mark != OTF2_NONE && i < count && i < known->count; i++) {
        bool is_double = types[i] == OTF2_TYPE_DOUBLE;
        bool want_double = location->otf2->defs->marks[known->mark + i].counter.type == COUNTER_DOUBLE;
        struct event *event = otf2_push(location, time, EVENT_COUNTER, known->mark + i);
        if (want_double)
            event_set_double(event, is_double                     ? values[i].floating_point
                                    : types[i] == OTF2_TYPE_INT64 ? (double)values[i].signed_int
                                                                  : (double)values[i].unsigned_int);
        else
            event->value = is_double ? (int64_t)values[i].floating_point : values[i].signed_int;
    }
    return OTF2_CALLBACK_SUCCESS;
}

static void set_payload(struct otf2_location *location, struct event *event, const void *bytes, size_t length)
{
    ARRAY_RESERVE(location->arena, location->arena_capacity, location->arena_length + length + 1);
    memcpy(location->arena + location->arena_length, bytes, length);
    event->payload = (uint32_t)location->arena_length;
    event->payload_length = (uint32_t)length;
    location->arena_length += length;
}

static void parameter(struct otf2_location *location, OTF2_TimeStamp time, OTF2_ParameterRef id, const char *text,
                      uint64_t value)
{
    uint32_t index = otf2_index(&location->otf2->parameter_ids, id);
    unsigned char bytes[8];
    location->undefined += index == OTF2_NONE;
    if (index == OTF2_NONE)
        return;
    struct event *event = otf2_push(location, time, EVENT_MARK, location->otf2->parameter[index].mark);
    if (text) {
        set_payload(location, event, text, strlen(text) < 1000 ? strlen(text) : 1000);
        event->flags = EVENT_PAYLOAD_TEXT;
        return;
    }
    bytes_put_u64(bytes, true, value);
    set_payload(location, event, bytes, sizeof bytes);
}

static OTF2_CallbackCode on_text(EVENT_ARGUMENTS, OTF2_ParameterRef parameter_id, OTF2_StringRef string)
{
    BEGIN;
    const char *text = otf2_string(location->otf2, string);
    parameter(location, time, parameter_id, text ? text : "", 0);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_integer(EVENT_ARGUMENTS, OTF2_ParameterRef parameter_id, int64_t value)
{
    BEGIN;
    parameter(location, time, parameter_id, NULL, (uint64_t)value);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_unsigned(EVENT_ARGUMENTS, OTF2_ParameterRef parameter_id, uint64_t value)
{
    BEGIN;
    parameter(location, time, parameter_id, NULL, value);
    return OTF2_CALLBACK_SUCCESS;
}

/* The recorder itself */

static OTF2_CallbackCode on_flush(EVENT_ARGUMENTS, OTF2_TimeStamp stop)
{
    BEGIN;
    otf2_push(location, time, EVENT_ENTER, location->otf2->flush_state);
    otf2_push(location, stop, EVENT_LEAVE, location->otf2->flush_state);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_measurement(EVENT_ARGUMENTS, OTF2_MeasurementMode mode)
{
    BEGIN;
    bool off = mode == OTF2_MEASUREMENT_OFF;
    if (off != location->off)
        otf2_push(location, time, off ? EVENT_ENTER : EVENT_LEAVE, location->otf2->off_state);
    location->off = off;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_thread_begin(EVENT_ARGUMENTS, OTF2_CommRef team, uint64_t sequence)
{
    BEGIN;
    (void)team;
    (void)sequence;
    otf2_push(location, time, EVENT_MARK, location->otf2->thread_mark);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_thread_end(EVENT_ARGUMENTS, OTF2_CommRef team, uint64_t sequence)
{
    return on_thread_begin(id, time, position, user, attributes, team, sequence);
}

static OTF2_CallbackCode on_program_begin(EVENT_ARGUMENTS, OTF2_StringRef name, uint32_t count,
                                          const OTF2_StringRef *arguments)
{
    BEGIN;
    (void)name;
    (void)count;
    (void)arguments;
    otf2_push(location, time, EVENT_MARK, location->otf2->thread_mark);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_program_end(EVENT_ARGUMENTS, int64_t exit_status)
{
    (void)exit_status;
    return on_program_begin(id, time, position, user, attributes, 0, 0, NULL);
}

void otf2_set_values(OTF2_EvtReaderCallbacks *callbacks)
{
    SET(Metric, on_metric);
    SET(ParameterString, on_text);
    SET(ParameterInt, on_integer);
    SET(ParameterUnsignedInt, on_unsigned);
    SET(BufferFlush, on_flush);
    SET(MeasurementOnOff, on_measurement);
    SET(ThreadBegin, on_thread_begin);
    SET(ThreadEnd, on_thread_end);
    SET(ProgramBegin, on_program_begin);
    SET(ProgramEnd, on_program_end);
}
