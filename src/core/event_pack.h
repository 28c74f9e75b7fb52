/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_EVENT_PACK_H
#define SIGHT_CORE_EVENT_PACK_H

#include "core/event.h"

/* Events as few bytes, for the sorter: typically 8 to 20. The process and the time are in the sort key, not here. */
enum { EVENT_PACK_MAX = 128 }; /* without the payload */

/* Packs all fields but time_ns, process and payload's bytes, then the payload. Returns the bytes used; `at` must have
   room for EVENT_PACK_MAX + event->payload_length. `arena` is the arena that event->payload counts in. */
size_t event_pack(unsigned char *at, const struct event *event, const unsigned char *arena);

/* The reverse: fills all but time_ns and process; event->payload is an offset into `packed`, so that `packed` is its
   arena. Returns the bytes that event_pack used. */
size_t event_unpack(struct event *event, const unsigned char *packed);

#endif
