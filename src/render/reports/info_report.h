/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_INFO_REPORT_H
#define SIGHT_RENDER_REPORTS_INFO_REPORT_H

#include "core/output.h"
#include "engine/contents.h"

/* `sight info`: what a trace holds. */

/* Schema sight-info/1. */
void info_write_json(struct output *output, const struct contents *contents);

/* `verbose`: with the pairs of processes whose clocks err most, and all processes' corrections. */
void info_write_text(struct output *output, const struct contents *contents, const char *title, bool verbose);

#endif
