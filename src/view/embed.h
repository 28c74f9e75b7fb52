/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_VIEW_EMBED_H
#define SIGHT_VIEW_EMBED_H

#include "render/reports/report.h"
#include "view/view.h"

/* The timeline inside a report: the same page, with embedded data. A small trace is embedded as a whole, a larger one
   as tiles, the coarse ones first, as many as the size permits. */

enum {
    EMBED_STATES = 20000, /* maximum of states, messages and marks embedded one by one */
    EMBED_LINES = 256,    /* lines of the finest fold, if there are only tiles */
    EMBED_SIZE = 2500000, /* bytes of all tiles: with pictures, charts and tables the page stays below 5 MB */
};

struct view_embed {
    struct view *view;
    struct view_judgement judgement;
};

/* How a report draws it; the embed must live as long as the report. */
struct report_timeline view_embed_timeline(const struct view_embed *embed);

#endif
