/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_OTF2_OTF2_PROPERTIES_H
#define SIGHT_CONVERT_OTF2_OTF2_PROPERTIES_H

#include "core/defs.h"

#include <otf2/otf2.h>

/* How facts about a run (core/property.h) are called in an archive: ours begin with this, in upper case; other tools'
   names stay as they are. */
#define OTF2_PROPERTY_PREFIX "SIGHT::"
#define OTF2_CREATOR "SIGHT"

/* Every process needs a node of the system tree: one whose class is a machine, and whose name is this, says nothing. */
#define OTF2_UNKNOWN_HOST "unknown host"

/* Reads the facts of the anchor file. */
void otf2_read_properties(struct defs *defs, OTF2_Reader *library);

/* Our name of one in the archive, in a new string. */
char *otf2_property_read_name(const char *in_archive);

/* The date that a clock's real time stands for, unless the archive has a better one. */
void otf2_read_realtime(struct defs *defs, uint64_t realtime_ns);

#endif
