/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_MARKUP_H
#define SIGHT_RENDER_REPORTS_MARKUP_H

#include "core/output.h"

/* UTF-8 text for HTML and SVG, in elements and in attributes: & < > and quotes as entities, control characters, which
   neither can hold, as U+FFFD. */
void markup_write(struct output *output, const char *text);

#endif
