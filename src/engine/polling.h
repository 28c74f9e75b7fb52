/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_ENGINE_POLLING_H
#define SIGHT_ENGINE_POLLING_H

#include "engine/engine.h"

/* The engine's answer for whoever shows how long processes compute. Where they look for messages again and again, the
   time between looks is waiting (metrics_polled_ns), but only an analysis finds out how long that is. Such a run is
   read a second time, with its analysis, so that its numbers are those of the diagnosis; any other is read once. NULL
   and a fault. */
struct engine_result *engine_run_polling(const struct engine_request *request, struct error *err);

/* True if processes look for messages, and it is not known how long they wait between looks: it counts as computing.
   That is so in a part of a run, a metrics file without an analysis, and what can be read only once. */
bool engine_polls_unknown(const struct engine_result *result);

#endif
