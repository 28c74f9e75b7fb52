/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_PATH_TEXT_H
#define SIGHT_RENDER_PATH_TEXT_H

#include "metrics/metrics.h"
#include "render/field.h"

/* The critical path in words and numbers: its contents, the largest saving from evening it out, and how it divides all
   processes' time. The metrics have an analysis. */
void path_write_text(struct output *output, const struct metrics *metrics);

/* The same as a member "critical_path" of the open object. */
void path_write_json(struct json *json, const struct metrics *metrics);

/* "Of all processes' time 40 % is work on the critical path, …": a sentence. */
enum { PATH_SENTENCE_SIZE = 400 };
char *path_sentence(char buffer[PATH_SENTENCE_SIZE], const struct metrics *metrics);

#endif
