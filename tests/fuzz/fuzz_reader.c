/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzing of the readers alone: any bytes must end in events that keep what core/event.h and core/defs.h promise, or in
   a message; and the same bytes must give the same events again.

   FUZZ_FORMAT in the environment keeps to one reader; without it, the content chooses. */
#include "convert/reader.h"
#include "core/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const int64_t TIME_MOST_NS = 9000000000000000000;

/* What reading to the end gave. */
struct reading {
    uint64_t events, hash;
    enum status status;
    bool complete;
};

static void check(bool right, const char *promise)
{
    if (!right) {
        fprintf(stderr, "not kept: %s\n", promise);
        abort();
    }
}

static bool is_index(int32_t number, size_t count)
{
    return number == EVENT_UNKNOWN || (number >= 0 && (size_t)number < count);
}

static size_t state_limit(const struct defs *defs, const struct event *event)
{
    switch (event->kind) {
    case EVENT_ENTER:
    case EVENT_LEAVE:
        return defs->state_count;
    case EVENT_MARK:
    case EVENT_COUNTER:
    case EVENT_NEIGHBOURS:
        return defs->mark_count;
    case EVENT_IO:
        return defs->handle_count;
    case EVENT_SAMPLE:
        return defs->path_count;
    default:
        return SIZE_MAX;
    }
}

static void check_event(const struct defs *defs, const struct batch *batch, const struct event *event)
{
    check(event->kind <= EVENT_NEIGHBOURS, "kind");
    check(event->time_ns >= -TIME_MOST_NS && event->time_ns <= TIME_MOST_NS, "time");
    check(event->process < PROCESS_LIMIT, "process");
    check(event->state < state_limit(defs, event), "state");
    check(is_index(event->comm, defs->comm_count) && is_index(event->partner_comm, defs->comm_count), "comm");
    check(event->site <= defs->site_count, "site");
    check(event->payload <= batch->arena_length && event->payload_length <= batch->arena_length - event->payload,
          "payload");
    if (event->kind == EVENT_SEND || event->kind == EVENT_RECEIVE)
        check(event->partner == PARTNER_NONE || is_index(event->partner, PROCESS_LIMIT), "partner");
}

/* Texts must be there and end; indices of definitions must be of definitions. */
static void check_defs(const struct defs *defs)
{
    for (size_t i = 0; i < defs->state_count; i++)
        check(strlen(defs->states[i].name) < SIZE_MAX && defs->states[i].first_of_name <= i, "definition of a state");
    for (size_t i = 0; i < defs->mark_count; i++)
        check(strlen(defs->marks[i].name) < SIZE_MAX, "definition of a mark");
    for (size_t i = 0; i < defs->site_count; i++)
        check(strlen(defs->sites[i].file) < SIZE_MAX, "definition of a place");
    for (size_t i = 0; i < defs->path_count; i++)
        check(defs->paths[i].parent <= i && defs->paths[i].site <= defs->site_count &&
                  (defs->paths[i].state == PATH_NO_STATE || defs->paths[i].state < defs->state_count),
              "definition of a path");
    for (size_t i = 0; i < defs->location_count; i++)
        check(defs->locations[i].process < PROCESS_LIMIT, "definition of a location");
}

static void add(struct reading *reading, uint64_t number)
{
    reading->hash = (reading->hash ^ number) * UINT64_C(0x9e3779b97f4a7c15);
    reading->hash ^= reading->hash >> 29;
}

static void add_event(struct reading *reading, const struct batch *batch, const struct event *event)
{
    reading->events++;
    add(reading, (uint64_t)event->time_ns);
    add(reading, (uint64_t)event->kind << 56 ^ (uint64_t)event->process << 32 ^ event->thread);
    add(reading, (uint64_t)event->state << 32 ^ (uint32_t)event->partner);
    add(reading, (uint64_t)event->bytes_sent ^ (uint64_t)event->bytes_received << 1 ^ (uint64_t)event->value << 2);
    for (uint32_t i = 0; i < event->payload_length; i++)
        add(reading, batch->arena[event->payload + i]);
}

static struct reading read_all(struct reader *reader, struct batch *batch)
{
    struct error err = {0};
    struct reading reading = {0};
    while ((reading.status = reader_next(reader, batch, &err)) == STATUS_OK)
        for (size_t i = 0; i < batch->count; i++) {
            check_event(reader->defs, batch, &batch->events[i]);
            add_event(&reading, batch, &batch->events[i]);
        }
    check_defs(reader->defs);
    reading.complete = reading.status == STATUS_END && reader->end.complete;
    check(!reading.complete || reader->end.damage.count == 0, "complete without damage");
    check((reading.status == STATUS_FAILED) == (*err.text != '\0'), "a line for each failure");
    return reading;
}

static void read_twice(struct reader *reader)
{
    static struct batch batch;
    struct error err = {0};
    struct reading first = read_all(reader, &batch);
    if (reader_restart(reader, &err) == STATUS_OK) {
        struct reading second = read_all(reader, &batch);
        check(first.events == second.events && first.hash == second.hash && first.status == second.status &&
                  first.complete == second.complete,
              "the same events again");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    const char *format = getenv("FUZZ_FORMAT");
    struct input *input = input_open_memory(data, size, "fuzz");
    if (input_need(input, PROBE_SIZE, &err) == STATUS_FAILED || input_keep(input, &err) != STATUS_OK) {
        input_close(input);
        return 0;
    }
    struct reader *reader = reader_open_input(input, &err);
    check(reader || *err.text, "a line for each failure");
    if (reader && (!format || strcmp(reader->format->name, format) == 0))
        read_twice(reader);
    reader_close(reader);
    return 0;
}
