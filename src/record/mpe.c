/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/mpe.h"

#include "core/payload.h"
#include "record/clock.h"
#include "record/real.h"
#include "record/recorder.h"

#include <stdio.h>
#include <string.h>

enum { FIRST_STATE_EVENT = 600, FIRST_SOLO_EVENT = 5000 }; /* as MPE has them */

static int next_state_event = FIRST_STATE_EVENT, next_solo_event = FIRST_SOLO_EVENT;
static bool begun, finished;

/* The lane to write to, or NULL where nothing is recorded now. */
static struct lane *lane_now(void)
{
    if (!recorder.started || !recorder.on)
        return NULL;
    struct lane *lane = lane_mine ? lane_mine : recorder_attach();
    if (lane)
        lane->header->user_events = 1;
    return lane;
}

EXPORT int MPE_Init_log(void)
{
    begun = true;
    return MPE_LOG_OK;
}

EXPORT int MPE_Finish_log(const char *filename)
{
    (void)filename;
    finished = true;
    return MPE_LOG_OK;
}

EXPORT int MPE_Initialized_logging(void)
{
    return finished ? 2 : begun || recorder.started;
}

EXPORT int MPE_Start_log(void)
{
    recorder_switch(true);
    return MPE_LOG_OK;
}

EXPORT int MPE_Stop_log(void)
{
    recorder_switch(false);
    return MPE_LOG_OK;
}

EXPORT int MPE_Log_get_event_number(void)
{
    return __atomic_fetch_add(&next_state_event, 1, __ATOMIC_RELAXED);
}

EXPORT int MPE_Log_get_state_eventIDs(int *start, int *end)
{
    *start = __atomic_fetch_add(&next_state_event, 2, __ATOMIC_RELAXED);
    *end = *start + 1;
    return MPE_LOG_OK;
}

EXPORT int MPE_Log_get_solo_eventID(int *event)
{
    *event = __atomic_fetch_add(&next_solo_event, 1, __ATOMIC_RELAXED);
    return MPE_LOG_OK;
}

/* Also while recording is switched off: what comes later needs its name. */
static int describe(enum record_kind kind, int start, int end, const char *const texts[3])
{
    struct lane *lane = recorder.started ? lane_mine : NULL;
    if (!lane)
        return MPE_LOG_OK;
    struct record_definition record = {.base = {.ticks = clock_now()}, .start = start, .end = end};
    snprintf(record.name, sizeof record.name, "%s", texts[0] ? texts[0] : "");
    snprintf(record.colour, sizeof record.colour, "%s", texts[1] ? texts[1] : "");
    snprintf(record.format, sizeof record.format, "%s", texts[2] ? texts[2] : "");
    lane_define(lane, &record, sizeof record, kind, RECORD_WORLD);
    return MPE_LOG_OK;
}

EXPORT int MPE_Describe_info_state(int start, int end, const char *name, const char *color, const char *format)
{
    return describe(RECORD_DEFINE_STATE, start, end, (const char *const[3]){name, color, format});
}

EXPORT int MPE_Describe_state(int start, int end, const char *name, const char *color)
{
    return MPE_Describe_info_state(start, end, name, color, NULL);
}

EXPORT int MPE_Describe_info_event(int event, const char *name, const char *color, const char *format)
{
    return describe(RECORD_DEFINE_MARK, event, event, (const char *const[3]){name, color, format});
}

EXPORT int MPE_Describe_event(int event, const char *name, const char *color)
{
    return MPE_Describe_info_event(event, name, color, NULL);
}

EXPORT int MPE_Log_bare_event(int event)
{
    struct lane *lane = lane_now();
    if (lane)
        lane_put(lane, RECORD_USER_EVENT, clock_now(), 0, (uint32_t)event);
    return MPE_LOG_OK;
}

EXPORT int MPE_Log_info_event(int event, const char *bytes)
{
    struct lane *lane = lane_now();
    size_t size = sizeof(struct record_base) + MPE_LOG_BYTESIZE;
    struct record_base *base = lane ? lane_room(lane, size) : NULL;
    if (!base)
        return MPE_LOG_OK;
    base->ticks = clock_now();
    memcpy(base + 1, bytes, MPE_LOG_BYTESIZE);
    lane_commit(lane, size, RECORD_USER_EVENT, 0, (uint32_t)event);
    return MPE_LOG_OK;
}

EXPORT int MPE_Log_event(int event, int data, const char *bytes)
{
    (void)data;
    return bytes ? MPE_Log_info_event(event, bytes) : MPE_Log_bare_event(event);
}

/* Values stand in big-endian order, whatever the machine's. */
static void put_value(char *at, const char *value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        at[i] = value[__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? i : size - 1 - i];
}

EXPORT int MPE_Log_pack(MPE_LOG_BYTES bytes, int *position, char type, int count, const void *data)
{
    size_t size = payload_size(type), used = *position > 0 ? (size_t)*position : 0,
           values = count > 0 ? (size_t)count : 0;
    size_t length = type == 's' ? sizeof(uint16_t) : 0;
    if (size == 0 || values > MPE_LOG_BYTESIZE || used + length + values * size > MPE_LOG_BYTESIZE)
        return MPE_LOG_PACK_FAIL;
    if (length > 0) {
        uint16_t number = (uint16_t)values;
        put_value(bytes + used, (const char *)&number, sizeof number);
        used += sizeof number;
    }
    for (size_t i = 0; i < values; i++, used += size)
        put_value(bytes + used, (const char *)data + i * size, size);
    *position = (int)used;
    return MPE_LOG_OK;
}

static int log_message(enum record_kind kind, int other, int tag, int size)
{
    struct lane *lane = lane_now();
    struct record_message record = {
        .base.ticks = clock_now(), .partner = other, .tag = tag, .bytes = size > 0 ? (uint64_t)size : 0};
    if (lane && other >= 0)
        lane_put_message(lane, kind, 0, RECORD_WORLD, &record);
    return MPE_LOG_OK;
}

EXPORT int MPE_Log_send(int other, int tag, int size)
{
    return log_message(RECORD_SEND, other, tag, size);
}

EXPORT int MPE_Log_receive(int other, int tag, int size)
{
    return log_message(RECORD_RECEIVE, other, tag, size);
}

EXPORT int MPE_Log_sync_clocks(void)
{
    recorder_sync(MPI_COMM_WORLD);
    return MPE_LOG_OK;
}
