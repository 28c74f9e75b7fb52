/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/viewer/perfetto_clocks.h"

#include "core/event.h"

#include <stdlib.h>

static struct perfetto_clock *clock_of(struct perfetto_clocks *clocks, uint64_t sequence, uint32_t clock)
{
    uint64_t index = *map_put(&clocks->own, map_pair((uint32_t)sequence, clock), clocks->count);
    if (index == clocks->count)
        ARRAY_PUSH(clocks->clock, clocks->count, clocks->capacity, (struct perfetto_clock){.unit_ns = 1});
    return &clocks->clock[index];
}

struct reading {
    uint32_t clock;
    int64_t time, unit_ns;
    bool adds;
};

static struct reading reading_of(struct protobuf_message message)
{
    struct reading reading = {.unit_ns = 1};
    struct protobuf_field field;
    while (protobuf_next(&message, &field))
        if (field.number == CLOCK_ID)
            reading.clock = (uint32_t)field.value;
        else if (field.number == CLOCK_TIMESTAMP)
            reading.time = (int64_t)field.value;
        else if (field.number == CLOCK_INCREMENTAL)
            reading.adds = field.value != 0;
        else if (field.number == CLOCK_UNIT_NS && field.value > 0 && field.value <= INT32_MAX)
            reading.unit_ns = (int64_t)field.value;
    return reading;
}

static int64_t times(int64_t value, int64_t unit_ns)
{
    int64_t product;
    return __builtin_mul_overflow(value, unit_ns, &product) ? 0 : product;
}

static int64_t sum(int64_t left, int64_t right)
{
    int64_t both;
    return __builtin_add_overflow(left, right, &both) ? 0 : both;
}

void perfetto_clocks_take(struct perfetto_clocks *clocks, uint64_t sequence, struct protobuf_message snapshot)
{
    struct protobuf_message first = snapshot;
    struct protobuf_field field;
    int64_t boot_ns = 0;
    bool has_boot = false;
    while (protobuf_next(&first, &field)) {
        struct reading reading = reading_of(protobuf_within(&field));
        if (field.number == CLOCKS_CLOCK && reading.clock == CLOCK_BOOTTIME) {
            boot_ns = reading.time;
            has_boot = true;
        }
    }
    while (protobuf_next(&snapshot, &field)) {
        if (field.number != CLOCKS_CLOCK)
            continue;
        struct reading reading = reading_of(protobuf_within(&field));
        int64_t time_ns = times(reading.time, reading.unit_ns), offset_ns = has_boot ? time_since(time_ns, boot_ns) : 0;
        if (reading.clock >= CLOCK_FIRST_OF_SEQUENCE)
            *clock_of(clocks, sequence, reading.clock) =
                (struct perfetto_clock){reading.adds, reading.unit_ns, time_ns, offset_ns};
        else if (has_boot)
            clocks->offsets_ns[reading.clock] = offset_ns;
    }
}

int64_t perfetto_clocks_time(struct perfetto_clocks *clocks, uint64_t sequence, uint32_t clock, uint64_t timestamp)
{
    if (clock < CLOCK_FIRST_OF_SEQUENCE)
        return sum((int64_t)timestamp, clocks->offsets_ns[clock]);
    struct perfetto_clock *own = clock_of(clocks, sequence, clock);
    int64_t time_ns = times((int64_t)timestamp, own->unit_ns);
    own->last_ns = own->adds ? sum(own->last_ns, time_ns) : time_ns;
    return sum(own->last_ns, own->offset_ns);
}

void perfetto_clocks_clear(struct perfetto_clocks *clocks)
{
    free(clocks->clock);
    map_clear(&clocks->own);
}
