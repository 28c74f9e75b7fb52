/* SPDX-License-Identifier: BSD-3-Clause */
/* Definitions by the numbers of an archive. */
#include "convert/otf2/otf2_defs.h"

#include "core/memory.h"

uint32_t otf2_index(const struct otf2_ids *ids, uint64_t id)
{
    const uint64_t *place = id == UINT64_MAX ? NULL : map_find(&ids->places, id);
    if (place)
        return (uint32_t)*place;
    return OTF2_NONE;
}

const char *otf2_string(const struct otf2_defs *otf2, OTF2_StringRef string)
{
    uint32_t index = otf2_index(&otf2->string_ids, string);
    if (index == OTF2_NONE)
        return NULL;
    return otf2->string[index];
}

uint32_t otf2_site(const struct otf2_defs *otf2, OTF2_SourceCodeLocationRef place)
{
    uint32_t index = otf2_index(&otf2->place_ids, place);
    /* Events need not have a place in the source. */
    if (index == OTF2_NONE)
        return 0;
    return otf2->sites[index];
}
