/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_OTF2_OTF2_PARTS_H
#define SIGHT_CONVERT_OTF2_OTF2_PARTS_H

#include <stdbool.h>
#include <stddef.h>

/* The files of an OTF2 archive in a directory, by their names in it: "traces.otf2" is the anchor, "traces.def" has the
   global definitions, and "traces/3.evt" and "traces/3.def" are the local files of location 3. A host may have some of
   them only, also without the anchor. */

/* Those that there are, ascending; none where there is no such directory. directory_names_free() them. */
char **otf2_part_names(const char *directory, size_t *count);

bool otf2_is_part(const char *name);
bool otf2_part_is_anchor(const char *name);
bool otf2_part_is_local(const char *name);

/* Whether a part belongs to the archive of an anchor, "traces.otf2". */
bool otf2_part_belongs(const char *name, const char *anchor);

/* The directory in which the archive of a directory has its local files, by its anchor's name; free() it. NULL: there
   is no anchor, or more than one. */
char *otf2_local_directory(const char *directory);

#endif
