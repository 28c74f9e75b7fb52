/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_TILE_CELLS_H
#define SIGHT_TIMELINE_TILE_CELLS_H

#include "timeline/scan.h"
#include "timeline/tile.h"

/* Internal: tiles from the pyramid. */

/* Groups of rows that make up a row of cells. */
struct cover {
    struct cover_group {
        uint32_t row;   /* of cells */
        uint32_t fold;  /* index of pyramid sizes: 0 is single rows */
        uint32_t group; /* as the pyramid numbers them */
    } * groups;
    size_t count, capacity;
    unsigned finest; /* bins of 2^finest ns and wider are available for all of them */
};

/* Covers the rows of the view, `fold` to a row of cells, with groups as large as possible. False if the index has no
   pyramid. Free with cover_clear. */
bool cover_rows(struct cover *cover, const struct timeline *timeline, const struct timeline_view *view, uint32_t fold);
void cover_clear(struct cover *cover);

/* Fills the tile, whose bins are 2^level ns, at least cover->finest. False if the pyramid is not readable. */
bool tile_from_cells(const struct timeline *timeline, const struct cover *cover, unsigned level,
                     struct timeline_tile *tile);

#endif
