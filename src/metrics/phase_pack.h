/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_METRICS_PHASE_PACK_H
#define SIGHT_METRICS_PHASE_PACK_H

#include "metrics/packing.h"
#include "metrics/phase_metrics.h"

/* Phases as bytes, and back: for another process of the same sight. NULL: the bytes are cut. Free with
   phase_metrics_free. */
void phase_metrics_pack(const struct phase_metrics *phases, struct packing *packing);
struct phase_metrics *phase_metrics_unpack(struct unpacking *unpacking);

#endif
