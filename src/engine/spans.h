/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_ENGINE_SPANS_H
#define SIGHT_ENGINE_SPANS_H

#include "convert/writer.h"
#include "engine/engine.h"

/* Diagnoses the trace of a request and gives a writer, whose format has a place for them, the waits and the findings as
   spans. The trace is read for that, and its calls are in memory meanwhile: before the writer gets its first event.
   `lack` gets why there are none; may be NULL. */
enum status engine_give_spans(const struct engine_request *request, struct writer *writer, enum engine_lack *lack,
                              struct error *err) MUST_CHECK;

#endif
