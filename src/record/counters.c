/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/counters.h"

#include "record/perf.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const struct perf_counter *chosen[RECORD_COUNTERS_MOST];
static uint32_t chosen_count;

void counters_choose(const char *names)
{
    chosen_count = 0;
    while (names && *names) {
        size_t length = strcspn(names, ","), index = perf_find(names, length);
        /* `sight record` has refused names that it does not know. */
        if (index != SIZE_MAX && chosen_count < RECORD_COUNTERS_MOST)
            chosen[chosen_count++] = perf_at(index);
        names += length + (names[length] == ',');
    }
}

static void begin(struct location *location)
{
    struct location_counters *counters = &location->counters;
    counters->begun = true;
    for (uint32_t i = 0; i < chosen_count; i++) {
        int descriptor = perf_open(chosen[i], &counters->number[i]);
        counters->descriptor[i] = descriptor < 0 ? -1 : own_file_move_away(descriptor);
        if (descriptor < 0)
            continue;
        struct record_counter_name record = {.base.ticks = clock_now()};
        strncpy(record.name, chosen[i]->name, sizeof record.name - 1);
        location_define(location, &record, sizeof record, RECORD_DEFINE_COUNTER, i);
    }
}

static void put(struct location *location, uint32_t counter)
{
    struct location_counters *counters = &location->counters;
    struct record_counter *record;
    int64_t value;
    if (counters->descriptor[counter] < 0)
        return;
    if (!perf_read(counters->descriptor[counter], counters->number[counter], &value)) {
        counters->descriptor[counter] = -1;
        return;
    }
    record = location_room(location, sizeof *record);
    if (!record)
        return;
    memset(record, 0, sizeof *record);
    record->base.ticks = clock_now();
    record->value = value;
    location_commit(location, sizeof *record, RECORD_COUNTER, (uint16_t)counter, RECORD_WORLD);
}

void counters_put(struct location *location)
{
    int before = errno;
    if (chosen_count == 0 || !location->block)
        return;
    if (!location->counters.begun)
        begin(location);
    for (uint32_t i = 0; i < chosen_count; i++)
        put(location, i);
    errno = before;
}

void counters_end(struct location *location)
{
    struct location_counters *counters = &location->counters;
    int before = errno;
    for (uint32_t i = 0; counters->begun && i < chosen_count; i++) {
        if (perf_is(counters->descriptor[i], counters->number[i]))
            close(counters->descriptor[i]);
        counters->descriptor[i] = -1;
    }
    errno = before;
}
