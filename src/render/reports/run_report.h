/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_RUN_REPORT_H
#define SIGHT_RENDER_REPORTS_RUN_REPORT_H

#include "core/defs.h"
#include "render/field.h"

/* What is known about a run besides its events (core/property.h): its command, date, hosts, MPI. Nothing is written
   where nothing is known. */

/* Lines with a heading. */
void run_write_text(struct output *output, const struct defs *defs);

/* "properties": an array of objects; "processes" is null in those about the whole run. */
void run_write_json(struct json *json, const struct defs *defs);

/* A heading and a table. */
void run_write_html(struct output *output, const struct defs *defs);

/* <property/>, as in metrics files. */
void run_write_xml(struct output *output, const struct defs *defs);

/* A fact as a sentence, "program of processes 0-3: ./app", in a new string (free()). */
char *run_sentence(const struct property *property);

#endif
