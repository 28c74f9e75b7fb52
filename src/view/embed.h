/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_VIEW_EMBED_H
#define SIGHT_VIEW_EMBED_H

#include "render/reports/report.h"
#include "view/view.h"

/* The timeline inside a report: the same page, with its data beside it. A small trace is there as a whole; of a larger
   one there are tiles, the coarse ones first, as many as the size permits. */

enum {
    EMBED_STATES = 20000, /* at most so many states, messages and marks are there one by one */
    EMBED_LINES = 256,    /* lines of the finest fold, where there are only tiles */
    EMBED_SIZE = 2500000, /* bytes of all tiles: with pictures, charts and tables the page stays below 5 MB */
};

struct view_embed {
    struct view *view;
    struct view_judgement judgement;
};

/* How a report draws it; the embed must last as long as the report. */
struct report_timeline view_embed_timeline(const struct view_embed *embed);

#endif
