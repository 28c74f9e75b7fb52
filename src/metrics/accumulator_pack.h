/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_METRICS_ACCUMULATOR_PACK_H
#define SIGHT_METRICS_ACCUMULATOR_PACK_H

#include "metrics/accumulator.h"

/* An accumulator as bytes, to be merged by another process: of the same sight on the same kind of machine. */

/* Appends the bytes to `data`. False, nothing appended: it holds sums that went to a file (more different tags than
   memory is meant for). */
bool accumulator_pack(const struct accumulator *accumulator, char **data, size_t *size, size_t *capacity);

/* From bytes of accumulator_pack; `options` as the packed one was made with. The definitions are to be given by its
   sink's begin. NULL: the bytes are of another sight, or cut. */
struct accumulator *accumulator_unpack(const char *data, size_t size, struct accumulator_options options);

#endif
