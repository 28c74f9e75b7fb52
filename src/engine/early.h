/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_ENGINE_EARLY_H
#define SIGHT_ENGINE_EARLY_H

#include "engine/engine.h"

/* For the engine: why a run hangs, found in a pass of its own, which takes a tenth of the time of all else: since when
   it hangs must be known before what is about the time before. */

/* True if that is wanted (enum engine_want), and the trace is of a recording that did not end and can be read twice. */
bool early_is_wanted(const struct engine_request *request, unsigned wants, const struct reader *reader);

/* Reads the trace from its begin to its end, and hands request->early what it finds if the run hangs. The verdict, with
   definitions of this reader. NULL and a fault. */
struct stuck *early_judge(const struct engine_request *request, struct reader *reader, struct error *err);

#endif
