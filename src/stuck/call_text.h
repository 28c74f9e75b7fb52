/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_STUCK_CALL_TEXT_H
#define SIGHT_STUCK_CALL_TEXT_H

#include "core/defs.h"

/* Appends a call and its place to a text of `size` bytes: "MPI_Send (x.c:21)"; without a line only the function.
   `state` is an index, `site` 1 + an index, 0: not known. */
void call_text_append(char *text, size_t size, const struct defs *defs, uint32_t state, uint32_t site);

#endif
