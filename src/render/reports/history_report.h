/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_HISTORY_REPORT_H
#define SIGHT_RENDER_REPORTS_HISTORY_REPORT_H

#include "core/output.h"
#include "runs/history.h"

/* A program's runs over time as text, JSON (sight-history/1) and HTML. `title` is the directory's name; `skipped` files
   of it are no runs. `rows`: of runs in text, the last ones (SIZE_MAX: all). */
void history_write_text(struct output *output, const struct history *history, const char *title, size_t skipped,
                        size_t rows);
void history_write_json(struct output *output, const struct history *history, size_t skipped);
void history_write_html(struct output *output, const struct history *history, const char *title, size_t skipped);

#endif
