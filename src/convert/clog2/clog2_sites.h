/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_CLOG2_CLOG2_SITES_H
#define SIGHT_CONVERT_CLOG2_CLOG2_SITES_H

#include "convert/clog2/clog2_defs.h"

/* Records of source locations. MPE-2 never writes them: recordings use them for places in the source, for the functions
   and call paths that samples name, and for what is known of the whole run (properties). */

/* event.site of the id in a record's unused word; 0 if none. */
uint32_t clog2_site_find(const struct clog2_defs *defs, uint32_t id);
static inline uint32_t clog2_site(const struct clog2_defs *defs, uint32_t id)
{
    if (!defs->near_sites)
        return 0;
    return id < CLOG2_NEAR_COUNT ? defs->near_sites[id] : clog2_site_find(defs, id);
}

/* A record of a source location, whichever of these it is: its body. */
void clog2_site_record(struct clog2_defs *defs, struct clog2_part_defs *part, const unsigned char *body,
                       bool big_endian);

/* The property whose records were read last is complete. */
void clog2_property_end(struct clog2_defs *defs);

/* Moves the hosts of processes that the file has into their locations, where everybody looks for them. Altogether no
   more steps are made than processes can have one each. `world`: index of the communicator of all. */
void clog2_place_hosts(struct clog2_defs *defs, uint32_t world);

/* A fixed-size text field as a new UTF-8 string; NULL if it is empty. */
char *clog2_text_field(const unsigned char *at, size_t size);

#endif
