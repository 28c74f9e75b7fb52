/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/payload.h"

#include "core/bytes.h"
#include "core/event.h"

void payload_get_moved(const unsigned char payload[PAYLOAD_MOVED_SIZE], struct event *event)
{
    int32_t root = bytes_i32(payload, true);
    int64_t sent = (int64_t)bytes_u64(payload + 4, true), received = (int64_t)bytes_u64(payload + 12, true);
    event->tag = root < 0 ? EVENT_UNKNOWN : root;
    event->bytes_sent = sent < 0 ? BYTES_UNKNOWN : sent;
    event->bytes_received = received < 0 ? BYTES_UNKNOWN : received;
}

void payload_put_moved(unsigned char payload[PAYLOAD_MOVED_SIZE], const struct event *event)
{
    bytes_put_i32(payload, true, event->tag < 0 ? -1 : event->tag);
    bytes_put_u64(payload + 4, true, event->bytes_sent < 0 ? UINT64_MAX : (uint64_t)event->bytes_sent);
    bytes_put_u64(payload + 12, true, event->bytes_received < 0 ? UINT64_MAX : (uint64_t)event->bytes_received);
}
