/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_ENGINE_STUCK_PASS_H
#define SIGHT_ENGINE_STUCK_PASS_H

#include "engine/engine.h"

/* For the engine: a pass of its own for why a run hung, of traces whose end shows that it did not finish
   (stuck/open_calls.h). */

/* True if the inputs can be read again. */
bool stuck_pass_can(const struct engine_request *request);

/* Reads them. The definitions are equal to those of the inputs, and live as long as the result, which is for
   stuck_free. NULL and a fault. */
struct stuck *stuck_pass_read(const struct engine_request *request, const struct defs *defs, struct error *err);

#endif
