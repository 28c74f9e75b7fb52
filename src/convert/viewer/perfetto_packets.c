/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/viewer/perfetto_packets.h"

bool perfetto_packet_parse(struct perfetto_packet *packet, struct protobuf_message message)
{
    struct protobuf_field field;
    *packet = (struct perfetto_packet){0};
    while (protobuf_next(&message, &field)) {
        switch (field.number) {
        case PACKET_CLOCKS:
            packet->clocks = protobuf_within(&field);
            break;
        case PACKET_EVENT:
            packet->event = protobuf_within(&field);
            break;
        case PACKET_INTERNED:
            packet->interned = protobuf_within(&field);
            break;
        case PACKET_DEFAULTS:
            packet->defaults = protobuf_within(&field);
            break;
        case PACKET_TRACK:
            packet->track = protobuf_within(&field);
            break;
        case PACKET_TIMESTAMP:
            packet->timestamp = field.value;
            packet->timed = true;
            break;
        case PACKET_SEQUENCE:
            packet->sequence = field.value;
            break;
        case PACKET_FLAGS:
            packet->flags = field.value;
            break;
        case PACKET_CLOCK:
            packet->clock = (uint32_t)field.value;
            break;
        case PACKET_PID:
            packet->pid = (int64_t)field.value;
            break;
        default:
            break;
        }
    }
    return !message.damaged;
}

bool perfetto_is_packet(struct protobuf_message packet, bool whole)
{
    enum { FIELDS_MOST = 1000 }; /* other binary files soon leave that range */
    struct protobuf_field field;
    bool known = false;
    while (protobuf_next(&packet, &field)) {
        if (field.number > FIELDS_MOST)
            return false;
        known |= field.number == PACKET_SEQUENCE || field.number == PACKET_TIMESTAMP || field.number == PACKET_TRACK ||
                 field.number == PACKET_CLOCKS || field.number == PACKET_FLAGS;
    }
    return known && !(whole && packet.damaged);
}
