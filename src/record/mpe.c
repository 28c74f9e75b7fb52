/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/mpe.h"

#include "core/payload.h"
#include "record/clock.h"
#include "record/comms.h"
#include "record/real.h"
#include "record/recorder.h"

#include <stdio.h>
#include <string.h>

enum { FIRST_STATE_EVENT = 600, FIRST_SOLO_EVENT = RECORD_SOLO_FIRST }; /* as MPE has them */

static int next_state_event = FIRST_STATE_EVENT, next_solo_event = FIRST_SOLO_EVENT;
static bool begun, finished;
static char log_name[256];

static __thread bool busy_before;

/* The location to write to, which takes no samples until `done`, or NULL where nothing is recorded now. */
static struct location *location_now(void)
{
    if (!recorder_started() || !recorder.on)
        return NULL;
    /* A thread that never called MPI gets its location here. */
    struct location *location = location_mine;
    if (!location)
        location = recorder_attach();
    if (location) {
        location->header->user_events = 1;
        busy_before = location_busy(location);
    }
    return location;
}

/* After location_now. */
static void done(struct location *location)
{
    if (location)
        location_done(location, busy_before);
}

EXPORT int MPE_Init_log(void)
{
    begun = true;
    return MPE_LOG_OK;
}

EXPORT int MPE_Finish_log(const char *filename)
{
    snprintf(log_name, sizeof log_name, "%s", filename ? filename : "");
    finished = true;
    return MPE_LOG_OK;
}

EXPORT int MPE_Initialized_logging(void)
{
    /* MPE: 0 not initialised, 1 initialised, 2 finished. */
    return finished ? 2 : begun || recorder_started();
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
    /* Relaxed: only the numbers must differ; nothing else depends on them. */
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

/* Also while recording is switched off: later events need its name. */
static int describe(enum record_kind kind, int start, int end, const char *const texts[3])
{
    /* A thread that has recorded nothing does not begin with a definition. */
    struct location *location = recorder_started() ? location_mine : NULL;
    if (!location)
        return MPE_LOG_OK;
    struct record_definition record = {.base = {.ticks = clock_now()}, .start = start, .end = end};
    snprintf(record.name, sizeof record.name, "%s", texts[0] ? texts[0] : "");
    snprintf(record.colour, sizeof record.colour, "%s", texts[1] ? texts[1] : "");
    snprintf(record.format, sizeof record.format, "%s", texts[2] ? texts[2] : "");
    bool before = location_busy(location);
    location_define(location, &record, sizeof record, kind, RECORD_WORLD);
    location_done(location, before);
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

EXPORT int MPE_Describe_comm_state(MPI_Comm comm, int start, int end, const char *name, const char *color,
                                   const char *format)
{
    (void)comm;
    return MPE_Describe_info_state(start, end, name, color, format);
}

EXPORT int MPE_Describe_comm_event(MPI_Comm comm, int event, const char *name, const char *color, const char *format)
{
    (void)comm;
    return MPE_Describe_info_event(event, name, color, format);
}

EXPORT int MPE_Log_bare_event(int event)
{
    struct location *location = location_now();
    if (location)
        location_put(location, RECORD_USER_EVENT, clock_now(), 0, (uint32_t)event);
    done(location);
    return MPE_LOG_OK;
}

EXPORT int MPE_Log_info_event(int event, const char *bytes)
{
    struct location *location = location_now();
    size_t size = sizeof(struct record_base) + MPE_LOG_BYTESIZE;
    struct record_base *base = NULL;
    if (location)
        base = location_room(location, size);
    if (base) {
        base->ticks = clock_now();
        memcpy(base + 1, bytes, MPE_LOG_BYTESIZE);
        location_commit(location, size, RECORD_USER_EVENT, 0, (uint32_t)event);
    }
    done(location);
    return MPE_LOG_OK;
}

EXPORT int MPE_Log_event(int event, int data, const char *bytes)
{
    (void)data;
    return bytes ? MPE_Log_info_event(event, bytes) : MPE_Log_bare_event(event);
}

EXPORT int MPE_Log_comm_event(MPI_Comm comm, int event, const char *bytes)
{
    (void)comm;
    return MPE_Log_event(event, 0, bytes);
}

/* Values are in big-endian order on any machine. */
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

static int log_message(enum record_kind kind, MPI_Comm comm, int other, int tag, int size)
{
    struct location *location = other < 0 || comm == MPI_COMM_NULL ? NULL : location_now();
    struct record_message record = {
        .base.ticks = clock_now(), .partner = other, .tag = tag, .bytes = size > 0 ? (uint64_t)size : 0};
    if (!location)
        return MPE_LOG_OK;
    bool new = false;
    uint32_t number = comm_number(location, comm, &new);
    if (new)
        comm_look(location, number, comm);
    location_put_message(location, kind, 0, number, &record);
    done(location);
    return MPE_LOG_OK;
}

EXPORT int MPE_Log_send(int other, int tag, int size)
{
    return log_message(RECORD_SEND, MPI_COMM_WORLD, other, tag, size);
}

EXPORT int MPE_Log_receive(int other, int tag, int size)
{
    return log_message(RECORD_RECEIVE, MPI_COMM_WORLD, other, tag, size);
}

EXPORT int MPE_Log_comm_send(MPI_Comm comm, int other, int tag, int size)
{
    return log_message(RECORD_SEND, comm, other, tag, size);
}

EXPORT int MPE_Log_comm_receive(MPI_Comm comm, int other, int tag, int size)
{
    return log_message(RECORD_RECEIVE, comm, other, tag, size);
}

EXPORT void MPE_Log_thread_sync(int threads_that_log)
{
    (void)threads_that_log;
}

EXPORT const char *MPE_Log_merged_logfilename(void)
{
    return log_name;
}

EXPORT int MPE_Log_sync_clocks(void)
{
    recorder_sync(MPI_COMM_WORLD);
    return MPE_LOG_OK;
}
