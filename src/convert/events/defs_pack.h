/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_EVENTS_DEFS_PACK_H
#define SIGHT_CONVERT_EVENTS_DEFS_PACK_H

#include "core/defs.h"
#include "core/output.h"

/* All definitions of a trace as bytes: part of an event file. */

void defs_pack(struct output *output, const struct defs *defs);

/* Into empty definitions; everything keeps its index. The bytes must come from defs_pack: the caller has verified a
   checksum. */
void defs_unpack(const unsigned char *packed, struct defs *defs);

#endif
