/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_FASTER_CALLS_H
#define SIGHT_REPLAY_FASTER_CALLS_H

#include "core/map.h"
#include "replay/slow_link.h"

/* The calls that would be left earlier if messages over a slow link took as long as usual, for a replay: (location,
   call) -> so many ns earlier. A call that receives several messages, or sends some, is left when the last of them
   would be there; sends that do not wait for their receivers are left as recorded. Free with map_clear. Memory: 16
   bytes and more for each such call, and 1 for each channel. */
struct map faster_calls(const struct transfer_meter *meter, const struct slow_link *slow);

#endif
