/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/otf2/otf2_events.h"
#include "core/bytes.h"
#include "core/numbers.h"
#include "core/text.h"

#include <stdlib.h>
#include <string.h>

/* Counters and parameters */

static double as_double(OTF2_Type type, OTF2_MetricValue value)
{
    if (type == OTF2_TYPE_DOUBLE)
        return value.floating_point;
    if (type == OTF2_TYPE_INT64)
        return (double)value.signed_int;
    return (double)value.unsigned_int;
}

/* A double outside int64, or no number, has no conversion that C defines. */
static int64_t whole(double number)
{
    if (number > -9.2e18 && number < 9.2e18)
        return (int64_t)number;
    return 0;
}

static OTF2_CallbackCode on_metric(EVENT_ARGUMENTS, OTF2_MetricRef metric, uint8_t count, const OTF2_Type *types,
                                   const OTF2_MetricValue *values)
{
    BEGIN;
    uint32_t index = otf2_index(&location->otf2->metric_ids, metric);
    const struct otf2_metric *known = index == OTF2_NONE ? NULL : &location->otf2->metric[index];
    location->undefined += !known || known->mark == OTF2_NONE;
    for (uint8_t i = 0; known && known->mark != OTF2_NONE && i < count && i < known->count; i++) {
        /* The event states the types of its values again, and they may contradict the definition. */
        bool is_double = types[i] == OTF2_TYPE_DOUBLE;
        bool want_double = location->otf2->defs->marks[known->mark + i].counter.type == COUNTER_DOUBLE;
        struct event *event = otf2_push(location, time, EVENT_COUNTER, known->mark + i);
        if (want_double)
            event_set_double(event, as_double(types[i], values[i]));
        else
            event->value = is_double ? whole(values[i].floating_point) : values[i].signed_int;
    }
    return OTF2_CALLBACK_SUCCESS;
}

/* Offsets into the location's arena: it grows and moves; the batch gets a copy (take). It is emptied when no event
   waits. */
static void set_payload(struct otf2_location *location, struct event *event, const void *bytes, size_t length)
{
    ARRAY_RESERVE(location->arena, location->arena_capacity, location->arena_length + length + 1);
    memcpy(location->arena + location->arena_length, bytes, length);
    event->payload = (uint32_t)location->arena_length;
    event->payload_length = (uint32_t)length;
    location->arena_length += length;
}

/* A parameter names a moment; a document in one is cut. */
static void set_text(struct otf2_location *location, struct event *event, const char *utf8)
{
    enum { TEXT_MOST = 1000 };
    event->flags = EVENT_PAYLOAD_TEXT;
    if (text_fits_latin1(utf8, strlen(utf8))) {
        char *latin1 = text_to_latin1(utf8);
        set_payload(location, event, latin1, smaller(strlen(latin1), TEXT_MOST));
        free(latin1);
        return;
    }
    event->flags |= EVENT_PAYLOAD_UTF8;
    set_payload(location, event, utf8, (size_t)text_beginning(utf8, TEXT_MOST));
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
        set_text(location, event, text);
        return;
    }
    /* As CLOG-2's cargo, which the mark's format describes: big-endian. */
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
    /* The record stands at the flush's begin and knows its end. No event of the location lies between. */
    otf2_push(location, stop, EVENT_LEAVE, location->otf2->flush_state);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_measurement(EVENT_ARGUMENTS, OTF2_MeasurementMode mode)
{
    BEGIN;
    bool off = mode == OTF2_MEASUREMENT_OFF;
    /* Score-P may switch off twice. What it does not record looks like computing: a state of its own says that it is
       not. */
    if (off != location->off)
        otf2_push(location, time, off ? EVENT_ENTER : EVENT_LEAVE, location->otf2->off_state);
    location->off = off;
    return OTF2_CALLBACK_SUCCESS;
}

/* A mark is what keeps a thread without calls of its own, as EZTrace has them, from vanishing. */
static OTF2_CallbackCode on_thread_begin(EVENT_ARGUMENTS, OTF2_CommRef team, uint64_t sequence)
{
    BEGIN;
    (void)team;
    (void)sequence;
    otf2_push(location, time, EVENT_MARK, location->otf2->begin_mark);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_thread_end(EVENT_ARGUMENTS, OTF2_CommRef team, uint64_t sequence)
{
    BEGIN;
    (void)team;
    (void)sequence;
    otf2_push(location, time, EVENT_MARK, location->otf2->end_mark);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_program_begin(EVENT_ARGUMENTS, OTF2_StringRef name, uint32_t count,
                                          const OTF2_StringRef *arguments)
{
    (void)name;
    (void)count;
    (void)arguments;
    return on_thread_begin(id, time, position, user, attributes, 0, 0);
}

static OTF2_CallbackCode on_program_end(EVENT_ARGUMENTS, int64_t exit_status)
{
    (void)exit_status;
    return on_thread_end(id, time, position, user, attributes, 0, 0);
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
