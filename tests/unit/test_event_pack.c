/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/event_pack.h"
#include "core/memory.h"
#include "unit/random.h"
#include "unit/tap.h"

#include <stdlib.h>

enum { ARENA_SIZE = 4096, ROUNDS = 500000 };

/* Numbers of all sizes, the extremes and the usual ones among them. */
static uint64_t random_value(uint64_t usual)
{
    switch (random_number() % 4) {
    case 0:
        return usual;
    case 1:
        return random_number() >> random_number() % 64;
    case 2:
        return ~(random_number() >> random_number() % 64);
    default:
        return random_number() % 2 ? UINT64_MAX : UINT64_C(1) << 63;
    }
}

static int32_t random_int(void)
{
    return (int32_t)(uint32_t)random_value((uint32_t)EVENT_UNKNOWN);
}

static struct event random_event(void)
{
    struct event event = EVENT_NOTHING;
    event.kind = (uint8_t)(random_number() % 4 ? random_number() % (EVENT_DEFINITION + 1) : random_number());
    event.flags = (uint8_t)random_value(0);
    event.state = (uint32_t)random_value(0);
    event.thread = (uint32_t)random_value(0);
    event.site = (uint32_t)random_value(0);
    event.comm = random_int();
    event.partner_comm = random_number() % 2 ? event.comm : random_int();
    event.partner = random_int();
    event.tag = random_int();
    event.bytes_sent = (int64_t)random_value((uint64_t)BYTES_UNKNOWN);
    event.bytes_received = (int64_t)random_value((uint64_t)BYTES_UNKNOWN);
    event.value = (int64_t)random_value(0);
    event.request = random_value(0);
    event.payload = (uint32_t)(random_number() % (ARENA_SIZE / 2));
    event.payload_length = random_number() % 3 ? 0 : (uint32_t)(random_number() % (ARENA_SIZE / 2));
    return event;
}

static bool events_equal(const struct event *a, const unsigned char *a_arena, const struct event *b,
                         const unsigned char *b_arena)
{
    return a->kind == b->kind && a->flags == b->flags && a->state == b->state && a->thread == b->thread &&
           a->site == b->site && a->comm == b->comm && a->partner_comm == b->partner_comm && a->partner == b->partner &&
           a->tag == b->tag && a->bytes_sent == b->bytes_sent && a->bytes_received == b->bytes_received &&
           a->value == b->value && a->request == b->request && a->payload_length == b->payload_length &&
           memcmp(a_arena + a->payload, b_arena + b->payload, a->payload_length) == 0;
}

/* Each in a block of just its size, so that a sanitizer sees a byte too much. */
static bool round_trip(const struct event *event, const unsigned char *arena, size_t *size)
{
    unsigned char room[EVENT_PACK_MAX + ARENA_SIZE];
    *size = event_pack(room, event, arena);
    unsigned char *packed = memory_new(*size);
    memcpy(packed, room, *size);
    struct event unpacked = {.time_ns = 42, .process = 43};
    event_unpack(&unpacked, packed);
    bool equal = events_equal(event, arena, &unpacked, packed) && unpacked.time_ns == 42 && unpacked.process == 43;
    free(packed);
    return equal;
}

int main(void)
{
    unsigned char arena[ARENA_SIZE];
    for (size_t i = 0; i < sizeof arena; i++)
        arena[i] = (unsigned char)random_number();
    size_t wrong = 0, too_long = 0, size;
    for (int i = 0; i < ROUNDS; i++) {
        struct event event = random_event();
        wrong += !round_trip(&event, arena, &size);
        too_long += size > EVENT_PACK_MAX + event.payload_length;
    }
    tap_equal_int((long long)wrong, 0, "random events come back as they were");
    tap_equal_int((long long)too_long, 0, "none needs more than EVENT_PACK_MAX and its payload");

    struct event nothing = EVENT_NOTHING;
    tap_ok(round_trip(&nothing, arena, &size), "an event of which nothing is known");
    tap_equal_int((long long)size, 3, "its size");

    struct event enter = EVENT_NOTHING;
    enter.kind = EVENT_ENTER;
    enter.state = 300;
    enter.comm = 0;
    tap_ok(round_trip(&enter, arena, &size), "an enter in the world communicator");
    tap_equal_int((long long)size, 5, "its size");

    struct event send = EVENT_NOTHING;
    send.kind = EVENT_SEND;
    send.comm = send.partner_comm = 0;
    send.partner = 17;
    send.tag = 99;
    send.bytes_sent = 65536;
    tap_ok(round_trip(&send, arena, &size), "a send");
    tap_ok(size <= 11, "its size: %zu", size);
    return tap_done();
}
