/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_FINDINGS_JSON_H
#define SIGHT_RENDER_REPORTS_FINDINGS_JSON_H

#include "heuristics/finding.h"
#include "render/field.h"

/* The JSON of findings is the same in every schema. */

/* A finding as one object of the open array; and only its members, into the open object. */
void finding_write_json(struct json *json, const struct finding *finding);
void finding_write_members(struct json *json, const struct finding *finding);

/* Whether waits and findings can be trusted, as the member "clocks"; some of its members are there only for corrected
   clocks. */
void clocks_write_json(struct json *json, const struct analysis *analysis);

#endif
